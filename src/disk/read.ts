import fs from 'node:fs'
import { KIND_NAMES } from '../kernel/file-messages.ts'
import {
  closeQuietly,
  errorCode,
  type FileIdentity,
  identityOfStats,
  isAbsent,
  kindOfStats,
  READING,
} from './file-facts.ts'

/**
 * Reads small files in folders that a cloned repository may have filled: never through a link, never a pipe or a device,
 * never more than the limit.
 */

/** A read without a result: no file, or the reason in words. */
export type NotRead = { readonly kind: 'absent' } | { readonly kind: 'unreadable'; readonly detail: string }

/** The beginning of a file, or the reason for its absence. */
export type BytesRead =
  | {
      readonly kind: 'bytes'
      readonly bytes: Buffer
      /** False when the file is longer than the limit. */
      readonly whole: boolean
      readonly identity: FileIdentity
      /** Last change of the content, in ms since the epoch. */
      readonly modifiedMs: number
      /** Last change of the file or of its status (ctime), in ms since the epoch. */
      readonly changedMs: number
    }
  | NotRead

/** The beginning of a file as text, or the reason for its absence. */
export type FileRead =
  | (Omit<Extract<BytesRead, { kind: 'bytes' }>, 'kind' | 'bytes'> & { readonly kind: 'text'; readonly text: string })
  | NotRead

/** Reads at most `limit` bytes of a regular file as UTF-8. Never throws, never waits for a pipe, never follows a link. */
export function readSmallFile(path: string, limit: number, likely = false): FileRead {
  const read = readSmallBytes(path, limit, likely)
  if (read.kind !== 'bytes') return read
  const { bytes, ...about } = read
  return { ...about, kind: 'text', text: bytes.toString('utf8') }
}

/** The same as bytes. `likely`: the caller has just seen that something lies there. */
export function readSmallBytes(path: string, limit: number, likely = false): BytesRead {
  let descriptor: number | undefined
  try {
    // Checked first, because an exception is the slowest way to find that a file is missing.
    if (!likely && fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) return { kind: 'absent' }
    descriptor = fs.openSync(path, READING)
    const stats = fs.fstatSync(descriptor, { bigint: true })
    if (!stats.isFile()) return { kind: 'unreadable', detail: KIND_NAMES[kindOfStats(stats)] }
    // One byte more than the limit shows whether the file is longer.
    const buffer = Buffer.allocUnsafe(Math.min(limit, Number(stats.size)) + 1)
    let length = 0
    // Up to the size at opening: another read to find the end would double the number of calls.
    do {
      const count = readPart(descriptor, buffer, length)
      if (count === 0) break
      length += count
    } while (length < Math.min(limit, Number(stats.size)))
    return {
      kind: 'bytes',
      bytes: buffer.subarray(0, Math.min(length, limit)),
      whole: length <= limit && Number(stats.size) <= limit,
      identity: identityOfStats(stats),
      modifiedMs: Number(stats.mtimeMs),
      changedMs: Number(stats.ctimeMs),
    }
  } catch (error) {
    if (isAbsent(error)) return { kind: 'absent' }
    return { kind: 'unreadable', detail: openingFault(error) }
  } finally {
    if (descriptor !== undefined) closeQuietly(descriptor)
  }
}

/** Why a file could not be opened or read; in words if it is a link. */
export function openingFault(error: unknown): string {
  const code = errorCode(error)
  return code === 'ELOOP' ? KIND_NAMES.link : code
}

/** After this number of interruptions a read fails. */
const MAX_INTERRUPTIONS = 100

/** Repeats a read that a signal interrupted: Node passes EINTR on for reads only. */
function readPart(descriptor: number, buffer: Buffer, offset: number): number {
  for (let interruptions = 0; ; interruptions++) {
    try {
      return fs.readSync(descriptor, buffer, offset, buffer.length - offset, null)
    } catch (error) {
      if (errorCode(error) !== 'EINTR' || interruptions >= MAX_INTERRUPTIONS) throw error
    }
  }
}

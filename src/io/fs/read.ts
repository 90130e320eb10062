import fs from 'node:fs'
import { closeQuietly, READING } from './descriptors.ts'
import { errorCode, isAbsent } from './errors.ts'
import { type FileIdentity, identityOfStats } from './file-identity.ts'
import { kindName } from './path-kind.ts'

/**
 * Reading small files in folders that somebody else may have filled: never through a link, never a pipe or a device,
 * never more than asked for.
 */

/** Why nothing could be read. */
export type NotRead = { readonly kind: 'absent' } | { readonly kind: 'unreadable'; readonly detail: string }

/** A file's beginning, or why there is none. */
export type BytesRead =
  | {
      readonly kind: 'bytes'
      readonly bytes: Buffer
      /** False when the file is longer than what was read. */
      readonly whole: boolean
      readonly identity: FileIdentity
      /** Last change of the content, in ms since the epoch. */
      readonly modifiedMs: number
      /** Last change of the file or of what is said about it (ctime), in ms since the epoch. */
      readonly changedMs: number
    }
  | NotRead

/** The same as text. */
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

/** The same as bytes. `likely`: the caller has just seen that something is there. */
export function readSmallBytes(path: string, limit: number, likely = false): BytesRead {
  let descriptor: number | undefined
  try {
    // Asked first, because an error is the slowest way to learn that a file is not there.
    if (!likely && fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) return { kind: 'absent' }
    descriptor = fs.openSync(path, READING)
    const stats = fs.fstatSync(descriptor, { bigint: true })
    if (!stats.isFile()) return { kind: 'unreadable', detail: kindName(stats) }
    // One byte more than asked for, to see whether there is more.
    const buffer = Buffer.allocUnsafe(Math.min(limit, Number(stats.size)) + 1)
    let length = 0
    // Until the size that it had when it was opened: asking again for the end would double the calls.
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
    const code = errorCode(error)
    return { kind: 'unreadable', detail: code === 'ELOOP' ? 'a link' : code }
  } finally {
    if (descriptor !== undefined) closeQuietly(descriptor)
  }
}

/** A read that is interrupted more often than this (times) is no accident. */
const MAX_INTERRUPTIONS = 100

/** A signal may interrupt a read, and Node hands that on; of no other call. */
function readPart(descriptor: number, buffer: Buffer, offset: number): number {
  for (let interruptions = 0; ; interruptions++) {
    try {
      return fs.readSync(descriptor, buffer, offset, buffer.length - offset, null)
    } catch (error) {
      if (errorCode(error) !== 'EINTR' || interruptions >= MAX_INTERRUPTIONS) throw error
    }
  }
}

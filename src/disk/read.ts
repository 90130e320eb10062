import fs from 'node:fs'
import { KIND_NAMES, SIZE_DETAILS } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { closeQuietly, errorCode, identityOfStats, isAbsent, kindOfStats, READING } from './file-facts.ts'

/** A cloned repository may have filled the folder, so this reads no links, pipes or devices. */

export type FileRead = ReturnType<typeof readSmallFile>

/** In bytes. A larger settings file, manifest or definition is not one. */
const SMALL = 1_048_576
const END = 65_536

/** Never throws. */
export function readSmallFile(path: string, limit = SMALL, likely = false) {
  const read = readSmallBytes(path, limit, likely)
  return read.kind === 'bytes' ? { ...read, kind: 'text' as const, text: read.bytes.toString('utf8') } : read
}

/** Empty if unreadable. Never throws. */
export function readEnd(path: string): string {
  const read = readSmallBytes(path, END, true, (size) => Math.max(0, size - END))
  return read.kind === 'bytes' ? read.bytes.toString('utf8') : ''
}

/** Undefined if it is missing, unreadable or too large. Never throws. */
export function textIn(path: string, limit?: number): string | undefined {
  const read = readSmallFile(path, limit)
  return read.kind === 'text' && read.whole ? read.text : undefined
}

export function requireText(path: string, shown: string, limit?: number): string {
  const read = readSmallFile(path, limit)
  if (read.kind === 'text' && read.whole) return read.text
  const detail = read.kind === 'absent' ? 'ENOENT' : read.kind === 'text' ? SIZE_DETAILS.tooLarge : read.detail
  throw new PostflightError('file-unreadable', { path: shown, detail })
}

/** `likely`: something was just seen there. `startAt`: the first byte to read, by the file's size. */
export function readSmallBytes(path: string, limit: number, likely = false, startAt?: (size: number) => number) {
  let descriptor: number | undefined
  try {
    // An exception is the slowest way to find that a file is missing.
    if (!likely && fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) return { kind: 'absent' } as const
    descriptor = fs.openSync(path, READING)
    const stats = fs.fstatSync(descriptor, { bigint: true })
    if (!stats.isFile()) return { kind: 'unreadable', detail: KIND_NAMES[kindOfStats(stats)] } as const
    const size = Number(stats.size)
    const from = startAt?.(size) ?? 0
    const wanted = Math.max(0, Math.min(limit, size - from))
    const buffer = Buffer.allocUnsafe(wanted + 1)
    let length = 0
    // Another read to find the end would double the calls.
    do {
      const count = readPart(descriptor, buffer, length, from)
      if (count === 0) break
      length += count
    } while (length < wanted)
    return {
      kind: 'bytes' as const,
      bytes: buffer.subarray(0, Math.min(length, limit)),
      size,
      whole: length <= limit && size <= limit,
      identity: identityOfStats(stats),
      modifiedMs: Number(stats.mtimeMs),
      changedMs: Number(stats.ctimeMs),
    }
  } catch (error) {
    if (isAbsent(error)) return { kind: 'absent' } as const
    const code = errorCode(error)
    return { kind: 'unreadable', detail: NOT_OPENED[code] ?? code } as const
  } finally {
    if (descriptor !== undefined) closeQuietly(descriptor)
  }
}

const NOT_OPENED: Partial<Record<string, string>> = { ELOOP: KIND_NAMES.link, ENXIO: KIND_NAMES.other }

const MAX_INTERRUPTIONS = 100

/** Node reports EINTR only for reads. */
function readPart(descriptor: number, buffer: Buffer, offset: number, from: number): number {
  for (let interruptions = 0; ; interruptions++) {
    try {
      return fs.readSync(descriptor, buffer, offset, buffer.length - offset, from + offset)
    } catch (error) {
      if (errorCode(error) !== 'EINTR' || interruptions >= MAX_INTERRUPTIONS) throw error
    }
  }
}

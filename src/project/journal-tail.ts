import fs from 'node:fs'
import { closeQuietly, READING } from '../disk/descriptors.ts'
import { isAbsent } from '../disk/file-errors.ts'
import { kindOfStats } from '../disk/path-kind.ts'
import { openingFault } from '../disk/read.ts'
import { KIND_NAMES } from '../kernel/file-messages.ts'

/** Reads a part of a journal of any length: its end, or the lines since the last read. Never through a link, never a pipe. */

/**
 * The maximum number of bytes that are read at once. The journal is rotated at 1 MiB, so other programs wrote to a
 * longer one.
 */
export const JOURNAL_PART_BYTES = 16_777_216

/** Whole lines of a journal file. */
export type JournalPart =
  | {
      readonly kind: 'lines'
      readonly lines: readonly string[]
      /** The offset at which the next line will begin, in bytes. */
      readonly end: number
      /** True when the part begins later than asked for, because the journal is too long. */
      readonly cut: boolean
    }
  | { readonly kind: 'unreadable'; readonly detail: string }

/** Reads whole lines from `start` (bytes) on: the last ones, if there are more than `limit` bytes; none where the file does not exist. */
export function readJournalPart(file: string, start: number, limit = JOURNAL_PART_BYTES): JournalPart {
  let descriptor: number | undefined
  try {
    descriptor = fs.openSync(file, READING)
    const stats = fs.fstatSync(descriptor)
    if (!stats.isFile()) return { kind: 'unreadable', detail: KIND_NAMES[kindOfStats(stats)] }
    const from = Math.max(start, stats.size - limit)
    const bytes = readFrom(descriptor, from, stats.size)
    const cut = from > start
    // The cut falls inside a line.
    const first = cut ? bytes.indexOf(0x0a) + 1 : 0
    const last = bytes.lastIndexOf(0x0a) + 1
    const lines = bytes.subarray(first, last).toString('utf8').split('\n').slice(0, -1)
    return { kind: 'lines', lines, end: from + last, cut }
  } catch (error) {
    if (isAbsent(error)) return { kind: 'lines', lines: [], end: 0, cut: false }
    return { kind: 'unreadable', detail: openingFault(error) }
  } finally {
    if (descriptor !== undefined) closeQuietly(descriptor)
  }
}

function readFrom(descriptor: number, from: number, to: number): Buffer {
  const buffer = Buffer.alloc(Math.max(0, to - from))
  let length = 0
  while (length < buffer.length) {
    const count = fs.readSync(descriptor, buffer, length, buffer.length - length, from + length)
    if (count === 0) break
    length += count
  }
  return buffer.subarray(0, length)
}

import fs from 'node:fs'
import { closeQuietly, READING } from './fs/descriptors.ts'
import { errorCode, isAbsent } from './fs/errors.ts'

/** Reading a journal of any length: its end, or what came since. Never through a link, never a pipe, never all of it. */

/** No more than this (bytes) is read at once. The journal is rotated at 1 MiB, so a longer one is none of ours alone. */
export const JOURNAL_PART_BYTES = 16_777_216

/** Whole lines of a journal file. */
export type JournalPart =
  | {
      readonly kind: 'lines'
      readonly lines: readonly string[]
      /** Where the next line will begin, in bytes. */
      readonly end: number
      /** True when it did not begin where it was asked to, because that would have been too long ago. */
      readonly cut: boolean
    }
  | { readonly kind: 'unreadable'; readonly detail: string }

/** The whole lines from `start` on (bytes); nothing where there is no such file. Of very many, the last ones. */
export function readJournalPart(file: string, start: number): JournalPart {
  let descriptor: number | undefined
  try {
    descriptor = fs.openSync(file, READING)
    const stats = fs.fstatSync(descriptor)
    if (!stats.isFile()) return { kind: 'unreadable', detail: 'no regular file' }
    const from = Math.max(start, stats.size - JOURNAL_PART_BYTES)
    const bytes = readFrom(descriptor, from, stats.size)
    const cut = from > start
    // A cut falls into a line.
    const first = cut ? bytes.indexOf(0x0a) + 1 : 0
    const last = bytes.lastIndexOf(0x0a) + 1
    const lines = bytes.subarray(first, last).toString('utf8').split('\n').slice(0, -1)
    return { kind: 'lines', lines, end: from + last, cut }
  } catch (error) {
    if (isAbsent(error)) return { kind: 'lines', lines: [], end: 0, cut: false }
    const code = errorCode(error)
    return { kind: 'unreadable', detail: code === 'ELOOP' ? 'a link' : code }
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

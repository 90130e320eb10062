import fs from 'node:fs'
import path from 'node:path'
import { APPENDING, closeQuietly, errorText, kindAt, kindOfStats, pathIn, writeWhole } from '../disk/file-facts.ts'
import { hideFromGit, makeOwnFolder } from '../disk/folders.ts'
import { withLock } from '../disk/lock.ts'
import { KIND_NAMES, unwritable } from '../kernel/error-messages.ts'
import { JOURNAL_FILE, JOURNAL_FOLDER, OLD_JOURNAL_FILE, SPECS_FOLDER } from '../kernel/files.ts'
import { formatJournalEntry, type JournalEntry, type Recorded } from './journal-entry.ts'

/** docs/design.md, "Journal". */

const ROTATE_BYTES = 1_048_576

export function journalFolder(root: string): string {
  return path.join(root, SPECS_FOLDER, JOURNAL_FOLDER)
}

export function journalFiles(root: string): { old: string; current: string } {
  const folder = journalFolder(root)
  return { old: pathIn(folder, OLD_JOURNAL_FILE), current: pathIn(folder, JOURNAL_FILE) }
}

export function makeJournalFolder(root: string): string {
  const folder = journalFolder(root)
  if (makeOwnFolder(folder)) hideFromGit(folder)
  return folder
}

/** Never throws. */
export function appendJournal(root: string, entries: readonly JournalEntry[], nowMs: number) {
  if (entries.length === 0) return undefined
  const { current } = journalFiles(root)
  let descriptor: number | undefined
  try {
    makeJournalFolder(root)
    descriptor = fs.openSync(current, fs.constants.O_RDWR | APPENDING, 0o644)
    const stats = fs.fstatSync(descriptor)
    if (!stats.isFile()) return notRecorded(current, KIND_NAMES[kindOfStats(stats)])
    const lines = entries.map((entry) => formatJournalEntry(entry, nowMs)).join('')
    writeWhole(descriptor, endsWithinLine(descriptor, stats.size) ? `\n${lines}` : lines)
    return stats.size >= ROTATE_BYTES ? rotate(root) : undefined
  } catch (error) {
    return notRecorded(current, errorText(error))
  } finally {
    if (descriptor !== undefined) closeQuietly(descriptor)
  }
}

function notRecorded(file: string, detail: string): string {
  return `not recorded in the journal: ${unwritable(file, detail)}`
}

export function appendRecorded(recorded: readonly Recorded[], nowMs: number): string[] {
  return [...new Set(recorded.map((one) => one.root))].flatMap((root) => {
    const entries = recorded.filter((one) => one.root === root).map((one) => one.entry)
    return appendJournal(root, entries, nowMs) ?? []
  })
}

/** Text after an incomplete line (full disk, kill) would be lost. */
function endsWithinLine(descriptor: number, size: number): boolean {
  const last = Buffer.alloc(1)
  return size > 0 && fs.readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a
}

/** Two processes must not discard a full file. */
function rotate(root: string): string | undefined {
  const { old, current } = journalFiles(root)
  try {
    withLock(journalFolder(root), 0, () => {
      if (fs.lstatSync(current).size >= ROTATE_BYTES) fs.renameSync(current, old)
    })
    return undefined
  } catch {
    // Another process will rotate it, unless a folder has the old file's name.
    if (kindAt(old) !== 'folder') return undefined
    return `the journal is too long and cannot be rotated: ${unwritable(old, KIND_NAMES.folder)}`
  }
}

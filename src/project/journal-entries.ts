import { requireKind } from '../disk/file-facts.ts'
import { readSmallBytes } from '../disk/read.ts'
import { FILE_DETAILS, journalCut, KIND_NAMES } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import type { CommandContext } from './command-context.ts'
import { journalFiles, journalFolder } from './journal.ts'
import { HOOK_EVENTS, parseJournalLine } from './journal-entry.ts'

export function allEntries(context: CommandContext, root: string) {
  const all = readBoth(root)
  if (all.cut) context.note(`postflight: ${journalCut(JOURNAL_PART_BYTES)}`)
  return all
}

export function lastMarkerEntries(root: string, limit: number) {
  return readBoth(root, limit, mayConcernMarker)
}

/** The journal is rotated at 1 MiB, and one entry takes at most 15 KB. */
const OWN_BYTES = 2_097_152

/** Refuses a journal that is longer than ours can be: added lines may hide its beginning. */
export function wholeMarkerEntries(root: string) {
  const { entries, cut } = lastMarkerEntries(root, OWN_BYTES)
  return cut ? refuse(journalFiles(root).current, FILE_DETAILS.largerThan(OWN_BYTES)) : entries
}

/** `cut`: whether there is more. */
function readBoth(root: string, ...part: Part) {
  const { old, current } = readableJournal(root)
  const before = readJournal(old, 0, ...part)
  const now = readJournal(current, 0, ...part)
  return { entries: [...before.entries, ...now.entries], end: now.end, cut: before.cut || now.cut }
}

export function entriesAfter(root: string, position: number) {
  const { old, current } = readableJournal(root)
  const after = readJournal(current, position)
  if (after.size >= position) return after
  // It was rotated.
  const { entries, end } = readJournal(current, 0)
  return { entries: [...readJournal(old, position).entries, ...entries], end }
}

/** A link may lead out of the project. */
function readableJournal(root: string): ReturnType<typeof journalFiles> {
  const folder = journalFolder(root)
  const kind = requireKind(folder)
  if (kind !== undefined && kind !== 'folder') refuse(folder, KIND_NAMES[kind])
  return journalFiles(root)
}

/** Bytes from the end. Lines are filtered before they are parsed, because parsing takes most of the time. */
type Part = [limit?: number, isWanted?: (line: string) => boolean]

function refuse(file: string, detail: string): never {
  throw new PostflightError('file-unreadable', { path: file, detail })
}

/** Lines about markers without an id have one of these events. */
const ABOUT_MARKER = new RegExp(`"pf_|"(?:clear|adopt|${HOOK_EVENTS.join('|')})"`)

export function mayConcernMarker(line: string): boolean {
  return ABOUT_MARKER.test(line)
}

/** In bytes. Only other programs write a longer journal. */
const JOURNAL_PART_BYTES = 16_777_216

/** `end`: in bytes. */
function readJournal(file: string, start: number, ...[limit = JOURNAL_PART_BYTES, isWanted = () => true]: Part) {
  const startAt = (size: number): number => Math.max(start, size - limit)
  const read = readSmallBytes(file, limit, false, startAt)
  if (read.kind === 'absent') return { entries: [], end: 0, cut: false, size: 0 }
  if (read.kind === 'unreadable') return refuse(file, read.detail)
  const { bytes, size } = read
  const from = startAt(size)
  const cut = from > start
  // The cut may be inside a line.
  const first = cut ? bytes.indexOf(0x0a) + 1 : 0
  const last = bytes.lastIndexOf(0x0a) + 1
  const lines = bytes.subarray(first, last).toString('utf8').split('\n').slice(0, -1)
  const entries = lines.filter(isWanted).flatMap((line) => parseJournalLine(line) ?? [])
  return { entries, end: from + last, cut, size }
}

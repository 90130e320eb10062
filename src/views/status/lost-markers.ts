import path from 'node:path'
import { sleepSync } from '../../disk/age.ts'
import { kindIfSeen } from '../../disk/file-facts.ts'
import { readReceipts, ruleKey } from '../../done/done-state.ts'
import { readTrusted } from '../../done/trust-store.ts'
import { LOCK_FILE, SPECS_FOLDER } from '../../kernel/files.ts'
import { givenUpNotes } from '../../marker/given-up.ts'
import { type MarkerRecord, markerRecords, removedByHand, unprovenChecks } from '../../marker/marker-record.ts'
import { viewMarkers } from '../../marker/marker-view.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { wholeMarkerEntries } from '../../project/journal-entries.ts'
import { isMarkerId, SPECS_ITSELF } from '../../project/task-folder.ts'
import { isSessionFolderName, sessionFolderPath } from '../../project/task-folders.ts'

/** Finds markers whose file is gone although nothing cleared them. */

export interface LostMarker {
  /**
   * `removed`: while it was pending. `abandoned`, `unchecked`: it was given up, or ended without its checks, and its
   * abandoned file was removed.
   */
  readonly kind: 'removed' | 'abandoned' | 'unchecked'
  readonly task: string
  /** The folder may be gone. */
  readonly relative: string
  readonly record: MarkerRecord | undefined
  readonly unproven: readonly string[]
}

/** `going`: the files that a dry run takes for removed. */
export function lostMarkers(
  context: CommandContext,
  root: string,
  records: readonly MarkerRecord[],
  { markers: found, problems }: Pick<ReturnType<typeof viewMarkers>, 'markers' | 'problems'>,
  going: readonly string[] = [],
): LostMarker[] {
  const withMarker = new Set(found.map(({ relative_path }) => path.posix.dirname(relative_path)))
  const proofs = records.some(({ task }) => isSessionFolderName(task)) ? proofsOfDone(context, root) : []
  const unprovenOf = (record: MarkerRecord): string[] => {
    const later = records.filter(({ task, lastLine }) => task === record.task && lastLine >= record.lastLine)
    const proven = isSessionFolderName(record.task) ? proofs.filter(({ atMs }) => atMs >= record.lastMs) : []
    return unprovenChecks([record], later).filter((run) => !proven.some(({ checks }) => checks.includes(run)))
  }
  const notes = givenUpNotes(root).filter(({ relative }) => !withMarker.has(relative))
  const staying = found.filter(({ id, path: file }) => isMarkerId(id) || !going.includes(file))
  const recorded = removedByHand(records, staying).map((record): LostMarker => {
    const { task, kept } = record
    const relative = notes.find(({ key }) => key === record.id)?.relative ?? usualFolder(task)
    const kind = kept === undefined ? 'removed' : kept === 'capped' ? 'abandoned' : 'unchecked'
    return { kind, task, relative, record, unproven: unprovenOf(record) }
  })
  // The journal may have been removed, or may have dropped their lines.
  const noted = notes
    .filter(({ key }) => recorded.every(({ record }) => record?.id !== key))
    .map(({ relative, task, key }): LostMarker => {
      const record = records.find(({ id }) => id === key)
      return { kind: 'abandoned', task, relative, record, unproven: record === undefined ? [] : unprovenOf(record) }
    })
  // In a folder that cannot be searched, nothing counts as lost.
  const isSearched = ({ relative }: LostMarker): boolean =>
    problems.every(
      ({ path: problem }) => !`${path.join(root, relative)}${path.sep}`.startsWith(`${problem}${path.sep}`),
    )
  return [...noted, ...recorded].filter(isSearched)
}

function usualFolder(task: string): string {
  if (task === SPECS_ITSELF) return SPECS_FOLDER
  return isSessionFolderName(task) ? sessionFolderPath(task) : `${SPECS_FOLDER}/${task}`
}

export function findLostMarkers(
  context: CommandContext,
  root: string,
  isWanted: (lost: LostMarker) => boolean,
  going: readonly string[],
) {
  return checkTwice(root, () => {
    const records = markerRecords(wholeMarkerEntries(root))
    if (removedByHand(records, []).length + givenUpNotes(root).length === 0) return { lost: [] }
    return { lost: lostMarkers(context, root, records, viewMarkers(root, context.nowMs), going).filter(isWanted) }
  }).lost
}

const BETWEEN_MS = 100

/** If a lock was left behind. */
const MAX_READS = 20

/** Another process may just have changed a marker or its line in the journal, so only a second check counts. */
export function checkTwice<Found extends { readonly lost: readonly LostMarker[] }>(root: string, inspect: () => Found) {
  const first = inspect()
  if (first.lost.length === 0) return first
  const locks = first.lost.map(({ relative }) => path.join(root, relative, LOCK_FILE))
  for (let reads = 0, isHeld = true; isHeld && reads < MAX_READS; reads++) {
    // `clear` holds it until the folder is synced, and writes to the journal after that.
    isHeld = locks.some((lock) => kindIfSeen(lock) !== undefined)
    sleepSync(BETWEEN_MS)
  }
  const again = inspect()
  const keyOf = ({ relative, record }: LostMarker): string => record?.id ?? relative
  const keys = new Set(first.lost.map(keyOf))
  return { ...again, lost: again.lost.filter((one) => keys.has(keyOf(one))) }
}

/** `postflight done` may have run the checks when no marker was left. */
function proofsOfDone(context: CommandContext, root: string) {
  const trusted = readTrusted(root, context)
  const receipts = trusted === undefined ? {} : readReceipts(root, trusted, context.nowMs)
  return (trusted?.rules ?? []).map((rule) => ({ checks: rule.checks, atMs: receipts[ruleKey(rule)]?.atMs ?? 0 }))
}

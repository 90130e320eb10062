import { MAX_CHECKS } from '../kernel/limits.ts'
import { fromIso, HOUR_MS } from '../kernel/time.ts'
import { type JournalLine, VALUE_LIMIT } from '../project/journal-entry.ts'
import { isMarkerId } from '../project/task-folder.ts'

/**
 * What the journal says about markers, for the verdict of `status`. Any program may have written its lines, so a field
 * that is not as we write it does not count. Pure.
 */

/** Without a session, the verdict looks at markers that the journal names within this time (ms). */
const VERDICT_MS = 24 * HOUR_MS

/** At most this many markers that were removed by hand are named: a journal may be full of them. */
const MAX_REMOVED = 100

/** `replaced`: another marker took its place. `settled`: it was removed by hand, and `clear` accepted that. */
const ENDS = ['cleared', 'unchecked', 'capped', 'bypassed', 'expired', 'replaced', 'settled'] as const

export type RecordedEnd = (typeof ENDS)[number]

/** Why a marker is kept as abandoned. */
export type KeptAs = 'capped' | 'unchecked'

/** One marker in the journal. */
export interface MarkerRecord {
  readonly id: string
  /** The name of its task folder. */
  readonly task: string
  /** True if `create` wrote it, or if `adopt` gave a new id to one that `create` wrote. */
  readonly isMade: boolean
  /** Every host session that it belonged to. */
  readonly sessions: ReadonlySet<string>
  /** The commands of all checks that `create` gave it. */
  readonly checks: ReadonlySet<string>
  /** The commands that passed when it was cleared. */
  readonly passed: readonly string[]
  readonly end: RecordedEnd | undefined
  /** Set while an abandoned marker must lie in its folder. */
  readonly kept: KeptAs | undefined
  /** The time of its last line (ms since the epoch). */
  readonly lastMs: number
}

interface Draft extends MarkerRecord {
  isMade: boolean
  readonly sessions: Set<string>
  readonly checks: Set<string>
  passed: readonly string[]
  end: RecordedEnd | undefined
  kept: KeptAs | undefined
  lastMs: number
}

/** The markers that the lines name, in the order of their first lines. */
export function markerRecords(lines: readonly JournalLine[]): MarkerRecord[] {
  const drafts = new Map<string, Draft>()
  // Those that may be kept: few of the thousands that a journal names.
  const kept = new Set<Draft>()
  for (const line of lines) read(drafts, kept, line)
  return [...drafts.values()]
}

function read(drafts: Map<string, Draft>, kept: Set<Draft>, line: JournalLine): void {
  const { event, marker_id: id, task, time } = line
  const timeMs = typeof time === 'string' ? fromIso(time) : undefined
  if (!isText(task) || timeMs === undefined) return
  if (event === 'clear' || event === 'adopt') settle(kept, line)
  if (!isMarkerId(id)) return
  const draft = drafts.get(id) ?? newDraft(id, task)
  drafts.set(id, draft)
  draft.lastMs = Math.max(draft.lastMs, timeMs)
  const replaced = typeof line.replaces === 'string' ? drafts.get(line.replaces) : undefined
  if (replaced !== undefined && replaced !== draft) replaced.end = 'replaced'
  const keeps = typeof line.keeps === 'string' ? drafts.get(line.keeps) : undefined
  if (keeps !== undefined) {
    keeps.kept = 'unchecked'
    kept.add(keeps)
  }
  switch (event) {
    case 'create':
    case 'adopt':
      draft.end = undefined
      if (event === 'create' || replaced?.isMade === true) draft.isMade = true
      for (const run of textsOf(line.checks)) draft.checks.add(run)
      addSession(draft, line)
      return
    case 'claim':
      addSession(draft, line)
      return
    case 'clear':
    case 'cap':
    case 'bypass':
    case 'expire':
      draft.end = ENDS.find((end) => end === line.outcome) ?? 'settled'
      draft.passed = textsOf(line.checks)
      if (draft.end === 'capped' || draft.end === 'unchecked') {
        draft.kept = draft.end
        kept.add(draft)
      }
      // git may bring a marker that was given up back, and its checks may pass then.
      else if (draft.end === 'settled' || isProven(draft)) draft.kept = undefined
  }
}

function isProven({ end, checks, passed }: Draft): boolean {
  return end === 'cleared' && [...checks].every((run) => passed.includes(run))
}

/** Settles the abandoned markers that the line names as removed. */
function settle(kept: Set<Draft>, { settles }: JournalLine): void {
  const named = new Set<unknown>(Array.isArray(settles) ? settles : [])
  for (const draft of kept) {
    if (draft.kept === undefined) kept.delete(draft)
    if (draft.kept === undefined || !named.has(draft.id)) continue
    draft.kept = undefined
    if (draft.end === 'capped' || draft.end === 'unchecked') draft.end = 'settled'
  }
}

function newDraft(id: string, task: string): Draft {
  return {
    ...{ id, task, isMade: false, sessions: new Set(), checks: new Set() },
    ...{ passed: [], end: undefined, kept: undefined, lastMs: Number.NEGATIVE_INFINITY },
  }
}

function addSession({ sessions }: Draft, { host_session: session }: JournalLine): void {
  if (isText(session)) sessions.add(session)
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, MAX_CHECKS).filter(isText) : []
}

/** True for a text as the journal holds it. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= VALUE_LIMIT
}

/** True for a marker that the verdict looks at: of the session, or, without one, of the last 24 hours. */
export function isInVerdict({ sessions, lastMs }: MarkerRecord, session: string | undefined, nowMs: number): boolean {
  return session === undefined ? Math.abs(nowMs - lastMs) <= VERDICT_MS : sessions.has(session)
}

/** A marker file that was found. */
interface FoundMarker {
  readonly task: string
  readonly id: string | null
}

/**
 * The markers that were removed by hand: no file has their id, in any folder, although `create` wrote them and neither a
 * command nor the hook ended them, or although they were kept as abandoned and nothing settled them. A file without an id in
 * their folder may be theirs, written anew.
 */
export function removedByHand(records: readonly MarkerRecord[], found: readonly FoundMarker[]): MarkerRecord[] {
  const ids = new Set(found.map(({ id }) => id))
  const tasksWithoutId = new Set(found.filter(({ id }) => !isMarkerId(id)).map(({ task }) => task))
  return records
    .filter((record) => needsFile(record) && !ids.has(record.id) && !tasksWithoutId.has(record.task))
    .slice(-MAX_REMOVED)
}

/** True if a pending or an abandoned marker must lie in some folder. */
export function needsFile({ isMade, end, kept }: MarkerRecord): boolean {
  return kept !== undefined || (isMade && end === undefined)
}

/** Why the verdict does not accept a task: no marker was made, or none was cleared, or not after all of its checks. */
export type ExpectedFault =
  | { readonly kind: 'not-made' }
  | { readonly kind: 'not-cleared' }
  | { readonly kind: 'not-checked'; readonly checks: readonly string[] }

/** What is missing for "made and cleared", from the records of one task; undefined if nothing is. */
export function expectedFault(records: readonly MarkerRecord[]): ExpectedFault | undefined {
  if (records.length === 0) return { kind: 'not-made' }
  const isAllOver = records.every(({ end }) => end === 'cleared' || end === 'replaced' || end === 'settled')
  if (!isAllOver || records.every(({ end }) => end !== 'cleared')) return { kind: 'not-cleared' }
  const checks = unprovenChecks(records, records)
  return checks.length === 0 ? undefined : { kind: 'not-checked', checks }
}

/** The checks of `some` records that did not pass when one of `cleared` was cleared. */
export function unprovenChecks(some: readonly MarkerRecord[], cleared: readonly MarkerRecord[]): string[] {
  const passed = new Set(cleared.filter(({ end }) => end === 'cleared').flatMap((record) => record.passed))
  return [...new Set(some.flatMap(({ checks }) => [...checks]))].filter((run) => !passed.has(run))
}

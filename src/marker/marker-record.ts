import { fromIso, HOUR_MS } from '../kernel/time.ts'
import { MAX_CHECKS } from '../kernel/values.ts'
import { type JournalLine, VALUE_LIMIT } from '../project/journal-entry.ts'
import { isMarkerId } from '../project/task-folder.ts'

/** Reads markers from the journal. Any program may write its lines, so invalid fields do not count. */

/** In ms, if there is no session. */
const VERDICT_MS = 24 * HOUR_MS
/** A journal may contain very many lines. */
const MAX_REMOVED = 100

/** `settled`: removed by hand, which `clear` accepted. */
const ENDS = ['cleared', 'unchecked', 'capped', 'bypassed', 'expired', 'replaced', 'settled'] as const
export type RecordedEnd = (typeof ENDS)[number]

function newDraft(id: string, task: string) {
  return {
    id,
    task,
    /** Whether `create` wrote it or its predecessor. */
    isMade: false,
    sessions: new Set<string>(),
    checks: new Set<string>(),
    passed: [] as readonly string[],
    end: undefined as RecordedEnd | undefined,
    /** Set while its abandoned marker must exist. */
    kept: undefined as 'capped' | 'unchecked' | undefined,
    lastMs: Number.NEGATIVE_INFINITY,
    /** Gives the order: clocks may be set back. */
    lastLine: 0,
  }
}

type Draft = ReturnType<typeof newDraft>
export type MarkerRecord = Readonly<Draft>

export function markerRecords(lines: readonly JournalLine[]): MarkerRecord[] {
  const drafts = new Map<string, Draft>()
  const kept = new Set<Draft>()
  let lastLine = 0
  for (const line of lines) {
    const { event, marker_id: id, task, time, host_session: session } = line
    const timeMs = typeof time === 'string' ? fromIso(time) : undefined
    if (!isText(task) || timeMs === undefined) continue
    if (event === 'clear' || event === 'adopt') settle(kept, line)
    if (!isMarkerId(id)) continue
    const draft = drafts.get(id) ?? newDraft(id, task)
    drafts.set(id, draft)
    draft.lastMs = Math.max(draft.lastMs, timeMs)
    lastLine += 1
    draft.lastLine = lastLine
    const replaced = typeof line.replaces === 'string' ? drafts.get(line.replaces) : undefined
    if (replaced !== undefined && replaced !== draft) replaced.end = 'replaced'
    const keeps = typeof line.keeps === 'string' ? drafts.get(line.keeps) : undefined
    if (keeps !== undefined) {
      keeps.kept = 'unchecked'
      kept.add(keeps)
    }
    const isMade = event === 'create' || event === 'adopt'
    if ((isMade || event === 'claim') && isText(session)) draft.sessions.add(session)
    if (isMade) {
      draft.end = undefined
      if (event === 'create' || replaced?.isMade === true) draft.isMade = true
      for (const run of textsOf(line.checks)) draft.checks.add(run)
    } else if (event === 'clear' || event === 'cap' || event === 'bypass' || event === 'expire') {
      draft.end = ENDS.find((end) => end === line.outcome) ?? 'settled'
      draft.passed = textsOf(line.checks)
      if (draft.end === 'capped' || draft.end === 'unchecked') {
        draft.kept = draft.end
        kept.add(draft)
      }
      // git may restore a marker that was given up, and its checks may pass then.
      else if (draft.end === 'settled' || (draft.end === 'cleared' && hasPassed(draft))) draft.kept = undefined
    }
  }
  return [...drafts.values()]
}

function hasPassed({ checks, passed }: Draft): boolean {
  return [...checks].every((run) => passed.includes(run))
}

function settle(kept: Set<Draft>, { event, settles, checks }: JournalLine): void {
  const named = new Set<unknown>(Array.isArray(settles) ? settles : [])
  for (const draft of kept) {
    if (draft.kept === undefined) kept.delete(draft)
    else if (named.has(draft.id)) {
      draft.kept = undefined
      // Those of `adopt` have not run.
      draft.passed = event === 'clear' ? textsOf(checks) : []
      if (draft.checks.size > 0 && hasPassed(draft)) draft.end = 'cleared'
      else if (draft.end === 'capped' || draft.end === 'unchecked') draft.end = 'settled'
    }
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, MAX_CHECKS).filter(isText) : []
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= VALUE_LIMIT
}

export function isInVerdict({ sessions, lastMs }: MarkerRecord, session: string | undefined, nowMs: number): boolean {
  return session === undefined ? Math.abs(nowMs - lastMs) <= VERDICT_MS : sessions.has(session)
}

/** Finds markers that need a file and have none. A file without an id in their folder may be theirs. */
export function removedByHand(
  records: readonly MarkerRecord[],
  found: readonly { readonly task: string; readonly id: string | null }[],
): MarkerRecord[] {
  const ids = new Set(found.map(({ id }) => id))
  const tasksWithoutId = new Set(found.filter(({ id }) => !isMarkerId(id)).map(({ task }) => task))
  const removed = records.filter((one) => needsFile(one) && !ids.has(one.id) && !tasksWithoutId.has(one.task))
  return removed.slice(-MAX_REMOVED)
}

function needsFile({ isMade, end, kept }: MarkerRecord): boolean {
  return kept !== undefined || (isMade && end === undefined)
}

export function expectedFault(records: readonly MarkerRecord[]) {
  if (records.length === 0) return { kind: 'not-made' } as const
  const isAllOver = records.every(({ end }) => end === 'cleared' || end === 'replaced' || end === 'settled')
  if (!isAllOver || records.every(({ end }) => end !== 'cleared')) return { kind: 'not-cleared' } as const
  const checks = unprovenChecks(records, records)
  return checks.length === 0 ? undefined : ({ kind: 'not-checked', checks } as const)
}

export function unprovenChecks(some: readonly MarkerRecord[], cleared: readonly MarkerRecord[]): readonly string[] {
  const passed = new Set(cleared.filter(({ end }) => end === 'cleared').flatMap((record) => record.passed))
  return [...new Set(some.flatMap(({ checks }) => [...checks]))].filter((run) => !passed.has(run))
}

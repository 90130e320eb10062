import type { Moment, Payload } from '../hosts/payload.ts'
import { CONTINUATION_LIMIT, isSpent } from '../marker/loop-guard.ts'
import { type Marker, mayHaveChecks } from '../marker/marker.ts'
import type { StoredMarker, UnreadableMarker } from '../marker/stored-marker.ts'
import type { JournalEntry, Recorded } from '../project/journal-entry.ts'
import { isMarkerId, type TaskFolder } from '../project/task-folder.ts'
import { judgeOwnership, type Ownership, type Rule, waitVerdict } from './rules.ts'

/** Predicts a rule for each marker; the count on disk decides (docs/design.md, "Plan and commit"). */

/** `spent`: 0 if the rule does not need it. A marker whose count cannot be read counts as unreadable. */
export type SeenMarker = (StoredMarker & { readonly spent: number }) | UnreadableMarker

export interface JudgedMarker {
  readonly kind: 'judged'
  readonly stored: StoredMarker
  readonly rule: Rule
  readonly spent: number
  readonly endsWait: boolean
}

export type PlannedMarker = JudgedMarker | Extract<StopOutcome, { kind: 'failed' }>

export function planMarker(seen: SeenMarker, moment: Moment): PlannedMarker {
  if (seen.kind === 'unreadable') return { ...seen, kind: 'failed' }
  const { spent } = seen
  const ownership = judgeOwnership(seen, moment)
  const wait = waitVerdict(seen.marker, moment)
  const endsWait = wait?.kind === 'ends'
  // A reason offers another wait only if one is left.
  const stored = endsWait ? { ...seen, marker: { ...seen.marker, waits: wait.waits } } : seen
  if (ownership !== 'owed') return { kind: 'judged', stored, rule: ownership, spent: 0, endsWait }
  return { kind: 'judged', stored, rule: isSpent(spent) ? 'capped' : 'block', spent, endsWait }
}

/** Whether to stamp the wait before allowing this stop, which may also be allowed because of background work. */
export function stampsWait(rule: Ownership | Rule, marker: Marker, moment: Moment): boolean {
  return (rule === 'waiting' || rule === 'background') && waitVerdict(marker, moment)?.kind === 'begins'
}

export type StopOutcome =
  | { readonly kind: 'let-go'; readonly folder: TaskFolder; readonly waitsFor?: string | undefined }
  /** `count` includes this continuation. */
  | { readonly kind: 'blocked'; readonly stored: StoredMarker; readonly count: number }
  /** `expired`: for the first time. */
  | { readonly kind: 'capped' | 'bypassed' | 'expired'; readonly stored: StoredMarker }
  | { readonly kind: 'failed'; readonly folder: TaskFolder; readonly detail: string }

export function predictOutcome(planned: PlannedMarker): StopOutcome {
  if (planned.kind === 'failed') return planned
  const { rule, spent, stored } = planned
  switch (rule) {
    case 'block':
      return { kind: 'blocked', stored, count: spent + 1 }
    case 'capped':
    case 'bypassed':
    case 'expired':
      return { kind: rule, stored }
    default:
      return letGo(planned)
  }
}

export function letGo({ rule, stored: { folder, marker } }: JudgedMarker): StopOutcome {
  return { kind: 'let-go', folder, waitsFor: rule === 'waiting' ? marker.wait?.for : undefined }
}

export function recordsOf(outcomes: readonly StopOutcome[], payload: Payload): Recorded[] {
  return outcomes.flatMap((outcome) =>
    outcome.kind === 'let-go' ? [] : { root: folderOf(outcome).root, entry: entryOf(outcome, payload) },
  )
}

export function folderOf(outcome: StopOutcome): TaskFolder {
  return 'stored' in outcome ? outcome.stored.folder : outcome.folder
}

const EVENTS = { capped: 'cap', bypassed: 'bypass', expired: 'expire' } as const

function entryOf(outcome: Exclude<StopOutcome, { kind: 'let-go' }>, payload: Payload): JournalEntry {
  if (outcome.kind === 'failed') {
    const { session: hostSession, agent } = payload
    return { event: 'error', task: outcome.folder.task, hostSession, agent, detail: outcome.detail }
  }
  const { kind, stored } = outcome
  const about = aboutMarker(stored.folder, stored.marker, payload)
  if (kind === 'blocked') return { event: 'block', count: outcome.count, ...about }
  const count = kind === 'capped' ? CONTINUATION_LIMIT : undefined
  const keeps = kind === 'bypassed' && mayHaveChecks(stored.marker) ? about.markerId : undefined
  return { event: EVENTS[kind], outcome: kind, count, keeps, ...about }
}

export function waitEndRecord(folder: TaskFolder, marker: Marker, payload: Payload, purpose: string): Recorded {
  const entry: JournalEntry = { event: 'wait-end', detail: purpose, ...aboutMarker(folder, marker, payload) }
  return { root: folder.root, entry }
}

export function aboutMarker(folder: TaskFolder, marker: Marker, payload: Payload): Omit<JournalEntry, 'event'> {
  return {
    markerId: isMarkerId(marker.id) ? marker.id : undefined,
    task: folder.task,
    hostSession: payload.session,
    agent: payload.agent,
  }
}

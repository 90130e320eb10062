import type { JournalEntry, Recorded } from '../journal-entry.ts'
import { CONTINUATION_LIMIT } from '../loop-guard.ts'
import { isMarkerId, type Marker } from '../marker.ts'
import type { Payload } from '../payload.ts'
import type { TaskFolder } from '../task-folder.ts'
import type { PlannedMarker, StopPlan } from './plan.ts'

/** What became of each marker at a stop. */

/** What became of one marker. */
export type StopOutcome =
  /** Let go, with nothing to say. */
  | { readonly kind: 'let-go'; readonly folder: TaskFolder }
  /** Blocked; this continuation is counted in `count`. */
  | { readonly kind: 'blocked'; readonly folder: TaskFolder; readonly marker: Marker; readonly count: number }
  /** Its continuations are spent: it is kept as abandoned. */
  | { readonly kind: 'capped'; readonly folder: TaskFolder; readonly marker: Marker }
  /** Removed, as it asked for. */
  | { readonly kind: 'bypassed'; readonly folder: TaskFolder; readonly marker: Marker }
  /** Unowned and too old, for the first time. */
  | { readonly kind: 'expired'; readonly folder: TaskFolder; readonly marker: Marker }
  /** It could not be judged or counted. */
  | { readonly kind: 'failed'; readonly folder: TaskFolder; readonly detail: string }

/** What will become of the markers if nothing changes meanwhile. */
export function predictOutcomes({ markers }: StopPlan): StopOutcome[] {
  return markers.map(predictOutcome)
}

function predictOutcome(planned: PlannedMarker): StopOutcome {
  if (planned.kind === 'unjudged') return { kind: 'failed', folder: planned.folder, detail: planned.detail }
  const { rule, spent, stored } = planned
  const { folder, marker } = stored
  switch (rule) {
    case 'block':
      return { kind: 'blocked', folder, marker, count: spent + 1 }
    case 'capped':
    case 'bypassed':
    case 'expired':
      return { kind: rule, folder, marker }
    default:
      return { kind: 'let-go', folder }
  }
}

/** What the journal is told of the outcomes. */
export function recordsOf(outcomes: readonly StopOutcome[], payload: Payload): Recorded[] {
  return outcomes.flatMap((outcome) => {
    const entry = entryOf(outcome, payload)
    return entry === undefined ? [] : [{ root: outcome.folder.root, entry }]
  })
}

function entryOf(outcome: StopOutcome, payload: Payload): JournalEntry | undefined {
  const { folder } = outcome
  switch (outcome.kind) {
    case 'let-go':
      return undefined
    case 'failed':
      return { event: 'error', task: folder.task, detail: outcome.detail }
    case 'blocked':
      return { event: 'block', count: outcome.count, ...aboutMarker(folder, outcome.marker, payload) }
    case 'capped':
      return {
        event: 'cap',
        outcome: 'capped',
        count: CONTINUATION_LIMIT,
        ...aboutMarker(folder, outcome.marker, payload),
      }
    case 'bypassed':
      return { event: 'bypass', outcome: 'bypassed', ...aboutMarker(folder, outcome.marker, payload) }
    case 'expired':
      return { event: 'expire', outcome: 'expired', ...aboutMarker(folder, outcome.marker, payload) }
  }
}

/** The part of a journal entry that says whose marker it is. */
export function aboutMarker(folder: TaskFolder, marker: Marker, payload: Payload): Omit<JournalEntry, 'event'> {
  return {
    markerId: isMarkerId(marker.id) ? marker.id : undefined,
    task: folder.task,
    hostSession: payload.session,
    agent: payload.agent,
  }
}

import type { Payload } from '../hosts/host.ts'
import { CONTINUATION_LIMIT } from '../marker/loop-guard.ts'
import { type Marker, mayHaveChecks } from '../marker/marker.ts'
import type { JournalEntry, Recorded } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { isMarkerId } from '../project/task-folder.ts'
import type { PlannedMarker, StopPlan } from './plan.ts'

/** The outcome of a stop for each marker. */

/** The outcome of a stop for one marker. */
export type StopOutcome =
  /** The marker does not block, and nothing is reported. `waitsFor`: its agent stops to wait for that. */
  | { readonly kind: 'let-go'; readonly folder: TaskFolder; readonly waitsFor?: string | undefined }
  /** The marker blocks. `count` includes this continuation. */
  | Blocked
  /** Its continuations are spent, so it is kept as abandoned. */
  | { readonly kind: 'capped'; readonly folder: TaskFolder; readonly marker: Marker }
  /** It was bypassed, so it is removed. */
  | { readonly kind: 'bypassed'; readonly folder: TaskFolder; readonly marker: Marker }
  /** It is unowned and too old, for the first time. */
  | { readonly kind: 'expired'; readonly folder: TaskFolder; readonly marker: Marker }
  /** It could not be judged or counted. */
  | { readonly kind: 'failed'; readonly folder: TaskFolder; readonly detail: string }

interface Blocked {
  readonly kind: 'blocked'
  readonly folder: TaskFolder
  readonly marker: Marker
  readonly count: number
  /** Since when its checks are running (ms since the epoch), if they are. */
  readonly checkingSinceMs?: number | undefined
}

/** The outcomes that a plan leads to if nothing changes in the meantime. */
export function predictOutcomes({ markers }: StopPlan): StopOutcome[] {
  return markers.map(predictOutcome)
}

function predictOutcome(planned: PlannedMarker): StopOutcome {
  if (planned.kind === 'unjudged') return { kind: 'failed', folder: planned.folder, detail: planned.detail }
  const { rule, spent, stored, checkingSinceMs } = planned
  const { folder, marker } = stored
  switch (rule) {
    case 'block':
      return { kind: 'blocked', folder, marker, count: spent + 1, checkingSinceMs }
    case 'capped':
    case 'bypassed':
    case 'expired':
      return { kind: rule, folder, marker }
    default:
      return { kind: 'let-go', folder }
  }
}

/** The journal entries for the outcomes. */
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
    case 'bypassed': {
      const about = aboutMarker(folder, outcome.marker, payload)
      const keeps = mayHaveChecks(outcome.marker) ? about.markerId : undefined
      return { event: 'bypass', outcome: 'bypassed', keeps, ...about }
    }
    case 'expired':
      return { event: 'expire', outcome: 'expired', ...aboutMarker(folder, outcome.marker, payload) }
  }
}

/** The journal's record of a wait that ended; `purpose`: what the agent waited for. */
export function waitEndRecord(folder: TaskFolder, marker: Marker, payload: Payload, purpose: string): Recorded {
  const entry: JournalEntry = { event: 'wait-end', detail: purpose, ...aboutMarker(folder, marker, payload) }
  return { root: folder.root, entry }
}

/** The part of a journal entry that identifies the marker and its agent. */
export function aboutMarker(folder: TaskFolder, marker: Marker, payload: Payload): Omit<JournalEntry, 'event'> {
  return {
    markerId: isMarkerId(marker.id) ? marker.id : undefined,
    task: folder.task,
    hostSession: payload.session,
    agent: payload.agent,
  }
}

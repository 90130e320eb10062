import type { Payload } from '../hosts/host.ts'
import { CONTINUATION_LIMIT } from '../marker/loop-guard.ts'
import { type Marker, mayHaveChecks } from '../marker/marker.ts'
import type { StoredMarker } from '../marker/stored-marker.ts'
import type { JournalEntry, Recorded } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { isMarkerId } from '../project/task-folder.ts'
import type { PlannedMarker } from './plan.ts'

/** The outcome of a stop for each marker. */

export type StopOutcome =
  /** The marker does not block, and nothing is reported. `waitsFor`: its agent stops to wait for that. */
  | { readonly kind: 'let-go'; readonly folder: TaskFolder; readonly waitsFor?: string | undefined }
  /** The marker blocks. `count` includes this continuation. */
  | { readonly kind: 'blocked'; readonly stored: StoredMarker; readonly count: number }
  /**
   * `capped`: its continuations are spent, so it is kept as abandoned. `bypassed`: it is removed. `expired`: it is unowned
   * and too old, for the first time.
   */
  | { readonly kind: 'capped' | 'bypassed' | 'expired'; readonly stored: StoredMarker }
  /** It could not be judged or counted. */
  | { readonly kind: 'failed'; readonly folder: TaskFolder; readonly detail: string }

/** The outcomes that a plan leads to if nothing changes in the meantime. */
export function predictOutcomes(plan: readonly PlannedMarker[]): StopOutcome[] {
  return plan.map(predictOutcome)
}

function predictOutcome(planned: PlannedMarker): StopOutcome {
  if (planned.kind === 'unjudged') return { kind: 'failed', folder: planned.folder, detail: planned.detail }
  const { rule, spent, stored } = planned
  switch (rule) {
    case 'block':
      return { kind: 'blocked', stored, count: spent + 1 }
    case 'capped':
    case 'bypassed':
    case 'expired':
      return { kind: rule, stored }
    default:
      return { kind: 'let-go', folder: stored.folder }
  }
}

/** The journal entries for the outcomes. */
export function recordsOf(outcomes: readonly StopOutcome[], payload: Payload): Recorded[] {
  return outcomes.flatMap((outcome) => {
    const entry = entryOf(outcome, payload)
    return entry === undefined ? [] : [{ root: folderOf(outcome).root, entry }]
  })
}

export function folderOf(outcome: StopOutcome): TaskFolder {
  return 'stored' in outcome ? outcome.stored.folder : outcome.folder
}

function entryOf(outcome: StopOutcome, payload: Payload): JournalEntry | undefined {
  if (outcome.kind === 'let-go') return undefined
  if (outcome.kind === 'failed') return { event: 'error', task: outcome.folder.task, detail: outcome.detail }
  const { folder, marker } = outcome.stored
  const about = aboutMarker(folder, marker, payload)
  switch (outcome.kind) {
    case 'blocked':
      return { event: 'block', count: outcome.count, ...about }
    case 'capped':
      return { event: 'cap', outcome: 'capped', count: CONTINUATION_LIMIT, ...about }
    case 'bypassed': {
      const keeps = mayHaveChecks(marker) ? about.markerId : undefined
      return { event: 'bypass', outcome: 'bypassed', keeps, ...about }
    }
    case 'expired':
      return { event: 'expire', outcome: 'expired', ...about }
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

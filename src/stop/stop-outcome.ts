import type { Payload } from '../hosts/host.ts'
import { CONTINUATION_LIMIT } from '../marker/loop-guard.ts'
import { type Marker, mayHaveChecks } from '../marker/marker.ts'
import type { StoredMarker } from '../marker/stored-marker.ts'
import type { JournalEntry, Recorded } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { isMarkerId } from '../project/task-folder.ts'
import type { PlannedMarker } from './plan.ts'

export type StopOutcome =
  | { readonly kind: 'let-go'; readonly folder: TaskFolder; readonly waitsFor?: string | undefined }
  /** `count` includes this continuation. */
  | { readonly kind: 'blocked'; readonly stored: StoredMarker; readonly count: number }
  /** `expired`: for the first time. */
  | { readonly kind: 'capped' | 'bypassed' | 'expired'; readonly stored: StoredMarker }
  | { readonly kind: 'failed'; readonly folder: TaskFolder; readonly detail: string }

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

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

export interface JudgedMarker extends StoredMarker {
  readonly rule: Rule
  readonly spent: number
  readonly endsWait: boolean
}

export type PlannedMarker = JudgedMarker | UnreadableMarker

/** Its rule was applied (`expired`: for the first time), it could not be used, or nothing was done. */
export type StopOutcome = PlannedMarker | Readonly<{ kind: 'let-go'; folder: TaskFolder }>

export function blocks(outcome: StopOutcome): outcome is JudgedMarker {
  return outcome.kind === 'marker' && outcome.rule === 'block'
}

export function planMarker(seen: SeenMarker, moment: Moment): PlannedMarker {
  if (seen.kind === 'unreadable') return seen
  const ownership = judgeOwnership(seen, moment)
  const wait = waitVerdict(seen.marker, moment)
  const endsWait = wait?.kind === 'ends'
  // A reason offers another wait only if one is left.
  const marker = endsWait ? { ...seen.marker, waits: wait.waits } : seen.marker
  if (ownership !== 'owed') return { ...seen, marker, rule: ownership, spent: 0, endsWait }
  return { ...seen, marker, rule: isSpent(seen.spent) ? 'capped' : 'block', endsWait }
}

/** Whether to stamp the wait before allowing this stop, which may also be allowed because of background work. */
export function stampsWait(rule: Ownership | Rule, marker: Marker, moment: Moment): boolean {
  return (rule === 'waiting' || rule === 'background') && waitVerdict(marker, moment)?.kind === 'begins'
}

export function recordsOf(outcomes: readonly StopOutcome[], payload: Payload): Recorded[] {
  return outcomes.flatMap((outcome) => {
    const entry = entryOf(outcome, payload)
    return entry === undefined ? [] : { root: outcome.folder.root, entry }
  })
}

function entryOf(outcome: StopOutcome, payload: Payload): JournalEntry | undefined {
  if (outcome.kind === 'let-go') return undefined
  if (outcome.kind === 'unreadable') {
    const { session: hostSession, agent } = payload
    return { event: 'error', task: outcome.folder.task, hostSession, agent, detail: outcome.detail }
  }
  const { rule, folder, marker, spent } = outcome
  const about = aboutMarker(folder, marker, payload)
  switch (rule) {
    case 'block':
      return { event: 'block', count: spent + 1, ...about }
    case 'capped':
      return { event: 'cap', outcome: rule, count: CONTINUATION_LIMIT, ...about }
    case 'bypassed':
      return { event: 'bypass', outcome: rule, keeps: mayHaveChecks(marker) ? about.markerId : undefined, ...about }
    case 'expired':
      return { event: 'expire', outcome: rule, ...about }
    default:
      return undefined
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

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
export type JudgedMarker = StoredMarker & Readonly<{ rule: Rule; spent: number; endsWait: boolean }>
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
    const entry = entryOf(outcome)
    return entry === undefined ? [] : recordOf(outcome, payload, entry)
  })
}

function entryOf(outcome: StopOutcome): JournalEntry | undefined {
  if (outcome.kind === 'let-go') return undefined
  if (outcome.kind === 'unreadable') return { event: 'error', detail: outcome.detail }
  const { rule, marker, spent } = outcome
  switch (rule) {
    case 'block':
      return { event: 'block', count: spent + 1 }
    case 'capped':
      return { event: 'cap', outcome: rule, count: CONTINUATION_LIMIT }
    case 'bypassed':
      return { event: 'bypass', outcome: rule, keeps: mayHaveChecks(marker) ? ownId(marker) : undefined }
    case 'expired':
      return { event: 'expire', outcome: rule }
    default:
      return undefined
  }
}

type Recordable = Readonly<{ folder: TaskFolder; marker?: Marker }>

export function recordOf({ folder, marker }: Recordable, payload: Payload, entry: JournalEntry): Recorded {
  const { session: hostSession, agent } = payload
  return { root: folder.root, entry: { ...entry, markerId: ownId(marker), task: folder.task, hostSession, agent } }
}

function ownId(marker: Marker | undefined): string | undefined {
  return isMarkerId(marker?.id) ? marker.id : undefined
}

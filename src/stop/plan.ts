import type { Payload } from '../hosts/host.ts'
import { isSpent } from '../marker/loop-guard.ts'
import type { StoredMarker, UnreadableMarker } from '../marker/stored-marker.ts'
import type { SearchProblem, TaskFolder } from '../project/task-folder.ts'
import { judgeOwnership, type Ownership, type Rule, type Stop, waitState } from './rules.ts'

/**
 * The plan for a stop: the rule for each marker, from the observation of it. It is a prediction: `stop/commit.ts` acts
 * on it marker by marker, and the count on disk decides (docs/design.md, "Plan and commit").
 */

/** The observation of a stop. */
export interface ObservedStop {
  /** The markers, in the order of the roots and of their paths. */
  readonly markers: readonly SeenMarker[]
  /** The folders that could not be searched. */
  readonly problems: readonly SearchProblem[]
  /** The number of markers that there was no time to read. */
  readonly unchecked: number
  /** The beginning of the payload's session in ms since the epoch; undefined if it is unknown or does not matter. */
  readonly sessionBornMs: number | undefined
  /** The start of the hook in ms since the epoch; undefined if it does not matter. */
  readonly startMs: number | undefined
}

/** The observation of a marker. */
export type SeenMarker = SeenWithCount | UnreadableMarker

interface SeenWithCount extends StoredMarker {
  /** The continuations spent, or why they are unknown; 0 if the rule does not need them. */
  readonly spent: number | { readonly unknown: string }
  /** Since when the marker's checks are running (ms since the epoch), if they are. */
  readonly checkingSinceMs?: number | undefined
}

/** A marker and its rule. */
export interface JudgedMarker {
  readonly kind: 'judged'
  readonly stored: StoredMarker
  readonly rule: Rule
  /** The continuations spent. */
  readonly spent: number
  /** True if the marker's wait is over and must be removed. */
  readonly endsWait: boolean
  /** Since when the marker's checks are running (ms since the epoch), if they are. */
  readonly checkingSinceMs?: number | undefined
}

/** A marker that could not be judged. The stop is allowed, and the user is told. */
export interface UnjudgedMarker {
  readonly kind: 'unjudged'
  readonly folder: TaskFolder
  readonly detail: string
}

export type PlannedMarker = JudgedMarker | UnjudgedMarker

/** The plan for a stop. */
export interface StopPlan {
  readonly stop: Stop
  readonly markers: readonly PlannedMarker[]
}

/** The plan for all observed markers, in their order. */
export function planStop(observed: ObservedStop, payload: Payload, nowMs: number): StopPlan {
  const { markers, sessionBornMs, startMs } = observed
  const stop = { payload, nowMs, sessionBornMs, startMs }
  return { stop, markers: markers.map((marker) => planMarker(marker, stop)) }
}

/** The plan for one marker. */
export function planMarker(seen: SeenMarker, stop: Stop): PlannedMarker {
  if (seen.kind === 'unreadable') return { kind: 'unjudged', folder: seen.folder, detail: seen.detail }
  const { folder, spent, checkingSinceMs } = seen
  if (typeof spent !== 'number') return { kind: 'unjudged', folder, detail: spent.unknown }
  const ownership = ownershipOf(seen, stop)
  const endsWait = waitState(seen.marker, stop) === 'over'
  if (ownership !== 'owed')
    return { kind: 'judged', stored: seen, rule: ownership, spent: 0, endsWait, checkingSinceMs }
  const rule = isSpent(spent) ? 'capped' : 'block'
  return { kind: 'judged', stored: seen, rule, spent, endsWait, checkingSinceMs }
}

/** The result of rows 0 to 6a for a stored marker. */
export function ownershipOf({ marker, times }: StoredMarker, stop: Stop): Ownership {
  return judgeOwnership(marker, times, stop)
}

/** True if this stop is the first one of the marker's wait, which must be stamped before the stop is allowed. */
export function stampsWait(stored: StoredMarker, stop: Stop): boolean {
  const ownership = ownershipOf(stored, stop)
  // A stop that background work allows is a stop of the wait's prompt too.
  return (ownership === 'waiting' || ownership === 'background') && waitState(stored.marker, stop) === 'begins'
}

import { isSpent } from '../loop-guard.ts'
import type { Payload } from '../payload.ts'
import type { StoredMarker, UnreadableMarker } from '../stored-marker.ts'
import type { SearchProblem, TaskFolder } from '../task-folder.ts'
import { judgeOwnership, type Ownership, type Rule, type Stop } from './rules.ts'

/**
 * The plan for a stop: the rule that fits each marker, from what was seen of it. It is a prediction: `io/stop/commit.ts`
 * acts on it marker by marker, and the count on disk decides (docs/design.md, "Plan and commit").
 */

/** What was seen when an agent was about to stop. */
export interface ObservedStop {
  /** In the roots' order and path order. */
  readonly markers: readonly SeenMarker[]
  /** What could not be searched. */
  readonly problems: readonly SearchProblem[]
  /** Markers that there was no time to look at. */
  readonly unchecked: number
  /** When the payload's session began (ms since the epoch); undefined where that is not known or does not matter. */
  readonly sessionBornMs: number | undefined
}

/** A marker as it was seen. */
export type SeenMarker = SeenWithCount | UnreadableMarker

interface SeenWithCount extends StoredMarker {
  /** Continuations spent, or why that cannot be told; 0 where the rule does not ask for them. */
  readonly spent: number | { readonly unknown: string }
}

/** A marker and the rule that fits it. */
export interface JudgedMarker {
  readonly kind: 'judged'
  readonly stored: StoredMarker
  readonly rule: Rule
  /** Continuations spent. */
  readonly spent: number
}

/** A marker that could not be judged: the stop is allowed, and the user is told. */
export interface UnjudgedMarker {
  readonly kind: 'unjudged'
  readonly folder: TaskFolder
  readonly detail: string
}

export type PlannedMarker = JudgedMarker | UnjudgedMarker

/** What is to be done at a stop. */
export interface StopPlan {
  readonly stop: Stop
  readonly markers: readonly PlannedMarker[]
}

/** The plan for every marker that was seen, in their order. */
export function planStop({ markers, sessionBornMs }: ObservedStop, payload: Payload, nowMs: number): StopPlan {
  const stop = { payload, nowMs, sessionBornMs }
  return { stop, markers: markers.map((marker) => planMarker(marker, stop)) }
}

/** The plan for one marker. */
export function planMarker(seen: SeenMarker, stop: Stop): PlannedMarker {
  if (seen.kind === 'unreadable') return { kind: 'unjudged', folder: seen.folder, detail: seen.detail }
  const { folder, spent } = seen
  if (typeof spent !== 'number') return { kind: 'unjudged', folder, detail: spent.unknown }
  const ownership = ownershipOf(seen, stop)
  if (ownership !== 'owed') return { kind: 'judged', stored: seen, rule: ownership, spent: 0 }
  return { kind: 'judged', stored: seen, rule: isSpent(spent) ? 'capped' : 'block', spent }
}

/** Rows 0 to 6 for a marker as it lies on disk. */
export function ownershipOf({ marker, times }: StoredMarker, stop: Stop): Ownership {
  return judgeOwnership(marker, times, stop)
}

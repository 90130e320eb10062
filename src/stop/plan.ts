import type { Moment } from '../hosts/occasion.ts'
import { isSpent } from '../marker/loop-guard.ts'
import type { StoredMarker, UnreadableMarker } from '../marker/stored-marker.ts'
import type { SearchProblem, TaskFolder } from '../project/task-folder.ts'
import { judgeOwnership, type Rule, waitVerdict } from './rules.ts'

/**
 * The plan for a stop: the rule for each marker, from the observation of it. It is a prediction: `stop/commit.ts` acts
 * on it marker by marker, and the count on disk decides (docs/design.md, "Plan and commit").
 */

export interface ObservedStop {
  /** The markers, in the order of the roots and of their paths. */
  readonly markers: readonly SeenMarker[]
  /** The folders that could not be searched. */
  readonly problems: readonly SearchProblem[]
  /** The number of markers that there was no time to read. */
  readonly unchecked: number
}

export type SeenMarker = SeenWithCount | UnreadableMarker

interface SeenWithCount extends StoredMarker {
  /** The continuations spent, or why they are unknown; 0 if the rule does not need them. */
  readonly spent: number | { readonly unknown: string }
}

/** A marker and its rule. */
export interface JudgedMarker {
  readonly kind: 'judged'
  readonly stored: StoredMarker
  readonly rule: Rule
  readonly spent: number
  /** True if the marker's wait is over and must be removed. */
  readonly endsWait: boolean
}

/** A marker that could not be judged. The stop is allowed, and the user is told. */
export interface UnjudgedMarker {
  readonly kind: 'unjudged'
  readonly folder: TaskFolder
  readonly detail: string
}

export type PlannedMarker = JudgedMarker | UnjudgedMarker

export function planStop({ markers }: Pick<ObservedStop, 'markers'>, moment: Moment): readonly PlannedMarker[] {
  return markers.map((marker) => planMarker(marker, moment))
}

export function planMarker(seen: SeenMarker, moment: Moment): PlannedMarker {
  if (seen.kind === 'unreadable') return { kind: 'unjudged', folder: seen.folder, detail: seen.detail }
  const { folder, spent } = seen
  if (typeof spent !== 'number') return { kind: 'unjudged', folder, detail: spent.unknown }
  const ownership = judgeOwnership(seen, moment)
  const endsWait = waitVerdict(seen.marker, moment)?.kind === 'ends'
  if (ownership !== 'owed') return { kind: 'judged', stored: seen, rule: ownership, spent: 0, endsWait }
  return { kind: 'judged', stored: seen, rule: isSpent(spent) ? 'capped' : 'block', spent, endsWait }
}

/** True if this stop is the first one of the marker's wait, which must be stamped before the stop is allowed. */
export function stampsWait(stored: StoredMarker, moment: Moment): boolean {
  const ownership = judgeOwnership(stored, moment)
  // A stop that background work allows is a stop of the wait's prompt too.
  return (
    (ownership === 'waiting' || ownership === 'background') && waitVerdict(stored.marker, moment)?.kind === 'begins'
  )
}

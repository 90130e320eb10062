import type { Moment } from '../hosts/occasion.ts'
import { isSpent } from '../marker/loop-guard.ts'
import type { StoredMarker, UnreadableMarker } from '../marker/stored-marker.ts'
import type { SearchProblem, TaskFolder } from '../project/task-folder.ts'
import { judgeOwnership, type Rule, waitVerdict } from './rules.ts'

/** Predicts a rule for each marker; the count on disk decides (docs/design.md, "Plan and commit"). */

export interface ObservedStop {
  readonly markers: readonly SeenMarker[]
  readonly problems: readonly SearchProblem[]
  readonly unchecked: number
}

export type SeenMarker = SeenWithCount | UnreadableMarker

interface SeenWithCount extends StoredMarker {
  /** 0 if the rule does not need it. */
  readonly spent: number | { readonly unknown: string }
}

export interface JudgedMarker {
  readonly kind: 'judged'
  readonly stored: StoredMarker
  readonly rule: Rule
  readonly spent: number
  readonly endsWait: boolean
}

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

/** Whether to stamp the marker's wait before allowing this stop. */
export function stampsWait(stored: StoredMarker, moment: Moment): boolean {
  const ownership = judgeOwnership(stored, moment)
  // A stop that background work allows belongs to the wait's prompt too.
  return (
    (ownership === 'waiting' || ownership === 'background') && waitVerdict(stored.marker, moment)?.kind === 'begins'
  )
}

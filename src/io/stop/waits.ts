import type { Recorded } from '../../core/journal-entry.ts'
import type { Marker } from '../../core/marker.ts'
import type { Payload } from '../../core/payload.ts'
import { aboutMarker } from '../../core/stop/outcome.ts'
import { type Stop, waitState } from '../../core/stop/rules.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { endedWait, stampedWait } from '../../core/wait.ts'
import { changeMarker } from '../marker-store.ts'

/** Stamps and ends waits on disk (docs/design.md, "Waiting"). */

/** The event at which a wait is stamped or ends. */
export type WaitOccasion = Pick<Stop, 'payload' | 'startMs'>

/**
 * Stamps the marker's wait with the event's prompt, unless another process did.
 * @throws the errors of `changeMarker`.
 */
export function stampWait(folder: TaskFolder, occasion: WaitOccasion): void {
  changeMarker(
    folder,
    (marker) =>
      marker.wait !== undefined && waitState(marker, occasion) === 'begins'
        ? { fields: stampedWait(marker.wait, occasion.payload.prompt, Date.now()) }
        : undefined,
    { patience: 'hook' },
  )
}

/**
 * Removes the marker's wait if `isOver` is true for the marker under the lock.
 * @returns the journal's record of it; none where there was nothing to remove.
 * @throws the errors of `changeMarker`.
 */
export function endWait(
  folder: TaskFolder,
  payload: Payload,
  isOver: (marker: Marker) => boolean,
): readonly Recorded[] {
  const { plan, marker } = changeMarker(
    folder,
    (present) =>
      present.wait !== undefined && isOver(present)
        ? { fields: endedWait(present.wait), purpose: present.wait.for }
        : undefined,
    { patience: 'hook' },
  )
  if (plan === undefined) return []
  const entry = { event: 'wait-end' as const, detail: plan.purpose, ...aboutMarker(folder, marker, payload) }
  return [{ root: folder.root, entry }]
}

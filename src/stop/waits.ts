import type { Payload } from '../hosts/payload.ts'
import type { Marker } from '../marker/marker.ts'
import { changeMarker } from '../marker/marker-store.ts'
import { endedWait, stampedWait } from '../marker/wait.ts'
import type { Recorded } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { type Stop, waitState } from './rules.ts'
import { waitEndRecord } from './stop-outcome.ts'

/** Stamps and ends waits on disk (docs/design.md, "Waiting"). */

/**
 * Stamps the marker's wait with the stop's prompt, unless another process did.
 * @throws the errors of `changeMarker`.
 */
export function stampWait(folder: TaskFolder, stop: Stop): void {
  changeMarker(
    folder,
    (marker) =>
      marker.wait !== undefined && waitState(marker, stop) === 'begins'
        ? { fields: stampedWait(marker.wait, stop.payload.prompt, Date.now()) }
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
  return plan === undefined ? [] : [waitEndRecord(folder, marker, payload, plan.purpose)]
}

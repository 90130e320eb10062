import type { Recorded } from '../../core/journal-entry.ts'
import type { Marker } from '../../core/marker.ts'
import type { Payload } from '../../core/payload.ts'
import { waitEndRecord } from '../../core/stop/outcome.ts'
import { type Stop, waitState } from '../../core/stop/rules.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { endedWait, stampedWait } from '../../core/wait.ts'
import { changeMarker } from '../markers/marker-store.ts'

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

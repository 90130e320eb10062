import path from 'node:path'
import { kindAt } from '../../disk/path-kind.ts'
import { MARKER_FILE } from '../../kernel/files.ts'
import { endMarker } from '../../marker/marker-store.ts'
import type { TaskFolder } from '../../project/task-folder.ts'

/**
 * Removes the marker by which earlier versions found a run. It is not a promise, so a promise stays.
 * @throws {PostflightError} `marker-unreadable`, `locked`.
 */
export function removeOldMarker(folder: TaskFolder): void {
  if (kindAt(path.join(folder.path, MARKER_FILE)) === 'file') endMarker(folder, ({ marker }) => marker.workflow)
}

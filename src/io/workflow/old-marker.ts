import path from 'node:path'
import { MARKER_FILE } from '../../core/files.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { kindAt } from '../fs/path-kind.ts'
import { endMarker } from '../markers/marker-store.ts'

/**
 * Removes the marker by which earlier versions found a run. It is not a promise, so a promise stays.
 * @throws {PostflightError} `marker-unreadable`, `locked`.
 */
export function removeOldMarker(folder: TaskFolder): void {
  if (kindAt(path.join(folder.path, MARKER_FILE)) === 'file') endMarker(folder, ({ marker }) => marker.workflow)
}

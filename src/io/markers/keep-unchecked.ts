import fs from 'node:fs'
import path from 'node:path'
import { ABANDONED_FILE, MARKER_FILE } from '../../core/files.ts'
import { UNCHECKED } from '../../core/marker.ts'
import { formatMarker, withFields } from '../../core/marker-text.ts'
import type { StoredMarker } from '../../core/stored-marker.ts'
import { isFull } from '../fs/errors.ts'
import { createWhole, removeFile } from '../fs/write.ts'
import { keepEarlierAbandoned } from './quarantine.ts'

/** Keeps markers that end without their checks: they are evidence, like those whose continuations are spent. */

/** True for a marker that must not vanish without its checks. */
export function mustBeKept(stored: StoredMarker | undefined): stored is StoredMarker {
  return stored !== undefined && stored.marker.checks.length > 0
}

/** Copies a marker to `.postflight-abandoned`, with its outcome. The caller holds the folder's lock. */
export function copyUnchecked({ folder, marker }: StoredMarker): void {
  keepEarlierAbandoned(folder)
  createWhole(
    path.join(folder.path, ABANDONED_FILE),
    formatMarker(withFields(marker.fields ?? {}, { outcome: UNCHECKED })),
  )
}

/** Makes a marker abandoned, with its outcome. The caller holds the folder's lock and ends the marker's continuations. */
export function abandonUnchecked(stored: StoredMarker): void {
  const source = path.join(stored.folder.path, MARKER_FILE)
  try {
    copyUnchecked(stored)
    removeFile(source)
  } catch (error) {
    // A full disk has no room for a new text, but it has room for a new name. The outcome is then the usual one.
    if (!isFull(error)) throw error
    fs.renameSync(source, path.join(stored.folder.path, ABANDONED_FILE))
  }
}

import fs from 'node:fs'
import path from 'node:path'
import { isFull } from '../disk/file-errors.ts'
import { createWhole, removeFile, sync } from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../kernel/files.ts'
import { mayHaveChecks, UNCHECKED } from './marker.ts'
import { formatMarker, withFields } from './marker-text.ts'
import { keepEarlierAbandoned } from './quarantine.ts'
import type { StoredMarker } from './stored-marker.ts'

/** Keeps markers that end without their checks: they are evidence, like those whose continuations are spent. */

/** True for a marker that must not vanish without its checks. */
export function mustBeKept(stored: StoredMarker | undefined): stored is StoredMarker {
  return stored !== undefined && mayHaveChecks(stored.marker)
}

/** Copies a marker to `.postflight-abandoned`, with its outcome. The caller holds the folder's lock. */
export function copyUnchecked(stored: StoredMarker): void {
  keepEarlierAbandoned(stored.folder)
  createWhole(path.join(stored.folder.path, ABANDONED_FILE), uncheckedText(stored))
  sync(stored.folder.path)
}

/** The marker's text with its outcome, or as it is if there is no room for that. */
export function uncheckedText({ marker, text }: StoredMarker): string {
  try {
    return formatMarker(withFields(marker.fields ?? {}, { outcome: UNCHECKED }))
  } catch (error) {
    if (error instanceof PostflightError && error.code === 'marker-too-large') return text
    throw error
  }
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

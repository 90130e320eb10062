import fs from 'node:fs'
import path from 'node:path'
import { isAbsent, isFull, kindAt } from '../disk/file-facts.ts'
import { createWhole, removeFile, sync, temporaryBeside, tryRemoveFile } from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE, UNPARSED_FILE } from '../kernel/files.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { mayHaveChecks, UNCHECKED } from './marker.ts'
import { formatMarker, withFields } from './marker-text.ts'
import type { StoredMarker } from './stored-marker.ts'

/**
 * Keeps copies before a marker is overwritten or removed: of a text that could not be parsed (docs/design.md, "Markers"),
 * and of an earlier abandoned marker. Each copy gets a free name. A copy that fails throws the file-system error, so that
 * the caller removes nothing.
 */

/** Copies the file `fileName` if its marker did not parse. An empty file needs no copy. */
export function keepUnparsed(read: StoredMarker | undefined, fileName: string): void {
  if (read !== undefined && read.marker.fields === undefined && read.text !== '') keepText(read, fileName)
}

/**
 * Removes the file `fileName` that a marker was read from. A text that did not parse gets the name of a copy instead, which
 * needs no room on the disk.
 */
export function removeOrKeep(read: StoredMarker, fileName: string): void {
  const { folder, marker, text } = read
  const source = path.join(folder.path, fileName)
  if (marker.fields !== undefined || text === '') {
    removeFile(source)
    return
  }
  try {
    fs.renameSync(source, freeName(path.join(folder.path, UNPARSED_FILE)))
  } catch (error) {
    // Plain `rm` has just removed it.
    if (!isAbsent(error)) throw error
  }
}

/** Copies the file `fileName` that a marker was read from. */
export function keepText(read: StoredMarker, fileName: string): void {
  const source = path.join(read.folder.path, fileName)
  const temporary = temporaryBeside(path.join(read.folder.path, MARKER_FILE))
  try {
    fs.copyFileSync(source, temporary, fs.constants.COPYFILE_EXCL)
    sync(temporary)
    fs.renameSync(temporary, freeName(path.join(read.folder.path, UNPARSED_FILE)))
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
  // Before the original is replaced.
  sync(read.folder.path)
}

/** Renames an earlier abandoned marker to a free name with a number: it is evidence too. */
export function keepEarlierAbandoned(folder: TaskFolder): void {
  const target = path.join(folder.path, ABANDONED_FILE)
  if (kindAt(target) === undefined) return
  fs.renameSync(target, freeName(`${target}.1`))
  // Before another file gets its name.
  sync(folder.path)
}

/** The path itself, or the first `path.N` that is free. */
function freeName(target: string): string {
  const base = target.replace(/\.\d+$/, '')
  let name = target
  for (let number = 1; kindAt(name) !== undefined; number++) name = `${base}.${number}`
  return name
}

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

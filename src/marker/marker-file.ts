import fs from 'node:fs'
import path from 'node:path'
import { isFull, kindAt, pathIn, unlessAbsent } from '../disk/file-facts.ts'
import { readSmallFile } from '../disk/read.ts'
import { createWhole, removeFile, sync, temporaryBeside, tryRemoveFile } from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE, UNPARSED_FILE } from '../kernel/files.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { formatIfRoom, MARKER_BYTES, mayHaveChecks, parseMarker, UNCHECKED, unparsed, withFields } from './marker.ts'
import { checkingSince } from './run-checks.ts'
import { type MarkerRead, markerDisplayPath, type StoredMarker, type UnreadableMarker } from './stored-marker.ts'

/** Readers need no lock. */

/** Never throws. `likely`: the caller has just seen the file. */
export function readMarker(folder: TaskFolder, fileName = MARKER_FILE, likely = false): MarkerRead | undefined {
  const read = readSmallFile(pathIn(folder.path, fileName), MARKER_BYTES, likely)
  if (read.kind === 'absent') return undefined
  if (read.kind === 'unreadable') return { kind: 'unreadable', folder, fileName, detail: read.detail }
  const marker = read.whole ? parseMarker(read.text) : unparsed({ code: 'too-large' })
  return {
    kind: 'marker',
    folder,
    fileName,
    marker,
    text: read.text,
    identity: { id: marker.id, file: read.identity },
    times: { modifiedMs: read.modifiedMs, changedMs: read.changedMs },
    ...(marker.checks.length > 0 && { checkingSinceMs: checkingSince(folder.path) }),
  }
}

export function requireReadable<T extends StoredMarker | undefined>(read: T | UnreadableMarker): T {
  if (read?.kind !== 'unreadable') return read as T
  const { folder, fileName, detail } = read
  throw new PostflightError('marker-unreadable', { path: markerDisplayPath(folder, fileName), detail })
}

function pathOf({ folder, fileName }: StoredMarker): string {
  return path.join(folder.path, fileName)
}

/** Keeps unparsed and abandoned texts. If that fails, it throws, so that the caller removes nothing. */

export function keepUnparsed(read: StoredMarker | undefined): void {
  if (read !== undefined && read.marker.fields === undefined && read.text !== '') keepText(read)
}

/** Renames a text that did not parse: this needs no disk space. */
export function removeOrKeep(read: StoredMarker): void {
  const { folder, marker, text } = read
  if (marker.fields !== undefined || text === '') removeFile(pathOf(read))
  // Plain `rm` may just have removed it.
  else unlessAbsent(() => fs.renameSync(pathOf(read), freeName(path.join(folder.path, UNPARSED_FILE))))
}

export function keepText(read: StoredMarker): void {
  const temporary = temporaryBeside(path.join(read.folder.path, MARKER_FILE))
  try {
    fs.copyFileSync(pathOf(read), temporary, fs.constants.COPYFILE_EXCL)
    sync(temporary)
    fs.renameSync(temporary, freeName(path.join(read.folder.path, UNPARSED_FILE)))
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
  // Durable before the original is replaced.
  sync(read.folder.path)
}

export function keepEarlierAbandoned(folder: TaskFolder): void {
  const target = path.join(folder.path, ABANDONED_FILE)
  if (kindAt(target) === undefined) return
  fs.renameSync(target, freeName(`${target}.1`))
  // Durable before another file takes its name.
  sync(folder.path)
}

function freeName(target: string): string {
  const base = target.replace(/\.\d+$/, '')
  let name = target
  for (let number = 1; kindAt(name) !== undefined; number++) name = `${base}.${number}`
  return name
}

export function mustBeKept(read: MarkerRead | undefined): read is StoredMarker {
  return read?.kind === 'marker' && mayHaveChecks(read.marker)
}

export function copyUnchecked(stored: StoredMarker): void {
  keepEarlierAbandoned(stored.folder)
  createWhole(path.join(stored.folder.path, ABANDONED_FILE), uncheckedText(stored))
  sync(stored.folder.path)
}

export function uncheckedText({ marker, text }: StoredMarker): string {
  return formatIfRoom(withFields(marker.fields ?? {}, { outcome: UNCHECKED })) ?? text
}

/** The caller holds the folder's lock and ends the count. */
export function abandonUnchecked(stored: StoredMarker): void {
  try {
    copyUnchecked(stored)
    removeFile(pathOf(stored))
  } catch (error) {
    // A full disk still allows a rename.
    if (!isFull(error)) throw error
    fs.renameSync(pathOf(stored), path.join(stored.folder.path, ABANDONED_FILE))
  }
}

import fs from 'node:fs'
import path from 'node:path'
import { ABANDONED_FILE, UNPARSED_FILE } from '../core/files.ts'
import type { StoredMarker } from '../core/stored-marker.ts'
import type { TaskFolder } from '../core/task-folder.ts'
import { kindAt } from './fs/path-kind.ts'

/**
 * What is kept before a marker is written over or removed: a text that could not be understood (DESIGN section 3), and
 * an earlier postflight that was never done. Each gets a name that is free. Where it cannot be kept, the file system's
 * error is thrown, and nothing may be removed.
 */

/** Copies a marker that did not parse, under the name it was read from; an empty one holds nothing to keep. */
export function keepUnparsed(read: StoredMarker | undefined, fileName: string): void {
  if (read !== undefined && read.marker.fields === undefined && read.text !== '') keepText(read, fileName)
}

/** Copies the file that a marker was read from, whatever it holds. */
export function keepText(read: StoredMarker, fileName: string): void {
  const source = path.join(read.folder.path, fileName)
  fs.copyFileSync(source, freeName(path.join(read.folder.path, UNPARSED_FILE)), fs.constants.COPYFILE_EXCL)
}

/** An earlier abandoned marker is evidence too: it gets a number. */
export function keepEarlierAbandoned(folder: TaskFolder): void {
  const target = path.join(folder.path, ABANDONED_FILE)
  if (kindAt(target) !== undefined) fs.renameSync(target, freeName(`${target}.1`))
}

/** `path`, or the next `path.N` that is free. */
function freeName(target: string): string {
  const base = target.replace(/\.\d+$/, '')
  let name = target
  for (let number = 1; kindAt(name) !== undefined; number++) name = `${base}.${number}`
  return name
}

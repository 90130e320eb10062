import fs from 'node:fs'
import nodePath from 'node:path'
import { closeQuietly, errorCode, isAbsent, named, writeWhole } from './file-facts.ts'

/**
 * Creates, replaces and removes our own files: a reader sees the old file or the new one, never half of it, also after a
 * power cut (docs/design.md, "Power cuts").
 */

/** Folders cannot be synced: on Windows, on some network file systems, and without the right to read them. */
const UNSYNCABLE = ['EACCES', 'EPERM', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']

/**
 * Waits until the disk has the content of a file, or the names in a folder: those of files that were created, renamed or
 * removed there. False where that is impossible, or nothing lies at the path.
 */
export function sync(path: string): boolean {
  let descriptor: number | undefined
  try {
    descriptor = fs.openSync(path, 'r')
    fs.fsyncSync(descriptor)
    return true
  } catch (error) {
    if (!isAbsent(error) && !UNSYNCABLE.includes(errorCode(error))) throw named(error, path)
    return false
  } finally {
    if (descriptor !== undefined) closeQuietly(descriptor)
  }
}

/**
 * Creates `path` with `text`; fails where the file exists. The text is on disk when this returns, unless `durable` is
 * false: a file that only repeats what other files hold need not wait for the disk. Its name is on disk after a `sync` of the
 * folder.
 */
export function createFile(path: string, text: string, durable = true, mode = 0o644): void {
  const descriptor = fs.openSync(path, 'wx', mode)
  try {
    writeWhole(descriptor, text)
    if (durable) fs.fsyncSync(descriptor)
  } catch (error) {
    closeQuietly(descriptor)
    tryRemoveFile(path)
    throw named(error, path)
  }
  closeQuietly(descriptor)
}

/**
 * Creates `path` with its whole text; fails where the file exists. A reader sees no file or all of it, also after a
 * kill. Its name is on disk after a `sync` of the folder.
 */
export function createWhole(path: string, text: string, mode = 0o644): void {
  const temporary = temporaryBeside(path)
  createFile(temporary, text, true, mode)
  try {
    placeNew(temporary, path, text, mode)
  } finally {
    tryRemoveFile(temporary)
  }
}

/** Links the file `temporary`, which holds `text`, to `path`; fails with EEXIST where that name exists. */
export function placeNew(temporary: string, path: string, text: string, mode: number): void {
  try {
    fs.linkSync(temporary, path)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EOPNOTSUPP') throw error
    // A file system without hard links (exFAT, some network folders): still exclusive, but not in one step.
    createFile(path, text, true, mode)
  }
}

let temporaryCount = 0

/** A path beside `path` that no other process uses. */
export function temporaryBeside(path: string): string {
  temporaryCount += 1
  return `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}-${temporaryCount}.tmp`
}

/** Replaces `path` (or creates it) by a rename, which is on disk when this returns. `temporary` lies on the same file system. */
export function replaceFile(path: string, text: string, temporary = temporaryBeside(path), durable = true): void {
  createFile(temporary, text, durable)
  try {
    fs.renameSync(temporary, path)
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
  if (durable) sync(nodePath.dirname(path))
}

/** Removes a file, never a folder; false when there was none. */
export function removeFile(path: string): boolean {
  try {
    fs.unlinkSync(path)
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

/** Removes a file without throwing: for leftovers, never for a marker. */
export function tryRemoveFile(path: string): void {
  try {
    fs.unlinkSync(path)
  } catch {}
}

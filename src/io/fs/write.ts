import fs from 'node:fs'
import { closeQuietly, named, writeWhole } from './descriptors.ts'
import { errorCode, isAbsent } from './errors.ts'

/** Making, replacing and removing files of ours: a reader sees the old or the new one, never half. */

/**
 * Creates `path` with `text`; the file must not be there yet. The text is on disk when this returns, unless the caller
 * says that it need not be: what is only a view of other files is not worth waiting for a disk.
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
 * Creates `path` with its whole text, exclusively: a reader sees no file or all of it, and so does whoever comes after a
 * kill.
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

/** Links the file `temporary`, which holds `text`, to `path`; fails with EEXIST where that name is taken. */
export function placeNew(temporary: string, path: string, text: string, mode: number): void {
  try {
    fs.linkSync(temporary, path)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EOPNOTSUPP') throw error
    // A file system without hard links (exFAT, some network folders): exclusive, if not in one go.
    createFile(path, text, true, mode)
  }
}

let temporaryCount = 0

/** A name beside `path` that no other process uses. */
export function temporaryBeside(path: string): string {
  temporaryCount += 1
  return `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}-${temporaryCount}.tmp`
}

/** Replaces `path` (or creates it) by a rename. `temporary` lies on the same file system. */
export function replaceFile(path: string, text: string, temporary = temporaryBeside(path), durable = true): void {
  createFile(temporary, text, durable)
  try {
    fs.renameSync(temporary, path)
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
}

/** Removes a file; true when it was there. Never a folder. */
export function removeFile(path: string): boolean {
  try {
    fs.unlinkSync(path)
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

/** Removes a file where it can: for what is litter, not a promise. */
export function tryRemoveFile(path: string): void {
  try {
    fs.unlinkSync(path)
  } catch {
    // Litter that stays harms nobody.
  }
}

import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../kernel/errors.ts'
import { errorCode, kindAt } from './file-facts.ts'
import { createFile, sync } from './write.ts'

/** Creates folders, mostly postflight-guard's own. */

/** The owner's rights to read, to write and to enter a folder. */
const OWNERS_RIGHTS = 0o700

/**
 * Creates a folder of our own; false when it existed already.
 * @throws {PostflightError} `not-a-folder` when something else has its name: a link would redirect our writes.
 */
export function makeOwnFolder(folder: string): boolean {
  const kind = kindAt(folder)
  if (kind === 'folder') return false
  if (kind !== undefined) throw new PostflightError('not-a-folder', { path: folder, kind })
  try {
    makeFolder(folder)
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    return makeOwnFolder(folder)
  }
}

/** The same for a folder whose files must survive a power cut: its name is on disk when this returns. */
export function makeLastingFolder(folder: string): boolean {
  const isNew = makeOwnFolder(folder)
  if (isNew) sync(path.dirname(folder))
  return isNew
}

/** Creates a folder in which we can work, whatever the umask: 0177 would take the right to enter it. */
export function makeFolder(folder: string): void {
  fs.mkdirSync(folder)
  const { mode } = fs.lstatSync(folder)
  if ((mode & OWNERS_RIGHTS) !== OWNERS_RIGHTS) fs.chmodSync(folder, (mode & 0o777) | OWNERS_RIGHTS)
}

/** Creates a folder and the missing ones above it, as `makeFolder` does, durably; links to folders are followed. */
export function makeFolders(folder: string): void {
  try {
    makeFolder(folder)
    sync(path.dirname(folder))
  } catch (error) {
    const code = errorCode(error)
    const above = path.dirname(folder)
    if (code === 'ENOENT' && above !== folder) {
      makeFolders(above)
      makeFolders(folder)
    } else if (code !== 'EEXIST' || !fs.statSync(folder).isDirectory()) throw error
  }
}

/** Makes git ignore a folder of our own, so that a skill's `git add -A` does not commit it. Never throws. */
export function hideFromGit(folder: string): void {
  try {
    createFile(`${folder}/.gitignore`, '*\n', false)
  } catch {
    // It exists already, or cannot be created. Nothing depends on it.
  }
}

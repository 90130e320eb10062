import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../kernel/errors.ts'
import { errorCode, kindAt } from './file-facts.ts'
import { createFile, sync } from './write.ts'

const OWNERS_RIGHTS = 0o700

/** Refuses a link, which would redirect our writes. */
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

export function makeLastingFolder(folder: string): boolean {
  const isNew = makeOwnFolder(folder)
  if (isNew) sync(path.dirname(folder))
  return isNew
}

/** A umask of 0177 would take the right to enter. */
export function makeFolder(folder: string): void {
  fs.mkdirSync(folder)
  const { mode } = fs.lstatSync(folder)
  if ((mode & OWNERS_RIGHTS) !== OWNERS_RIGHTS) fs.chmodSync(folder, (mode & 0o777) | OWNERS_RIGHTS)
}

export function makeFolders(folder: string): void {
  const above = path.dirname(folder)
  try {
    // In /proc, ENOENT also means that nothing can be made in a folder that is there.
    if (above !== folder && !fs.existsSync(above)) makeFolders(above)
    makeFolder(folder)
    sync(above)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !fs.statSync(folder).isDirectory()) throw error
  }
}

/** A skill's `git add -A` must not commit it. Never throws. */
export function hideFromGit(folder: string): void {
  try {
    createFile(`${folder}/.gitignore`, '*\n', false)
  } catch {
    // Nothing depends on it.
  }
}

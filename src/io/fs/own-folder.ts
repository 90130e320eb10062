import fs from 'node:fs'
import { PostflightError } from '../../core/errors.ts'
import { errorCode } from './errors.ts'
import { kindAt } from './path-kind.ts'
import { createFile } from './write.ts'

/** Creates postflight-guard's own folders. */

/**
 * Creates a folder of our own; false when it existed already.
 * @throws {PostflightError} `not-a-folder` when something else has its name: a link would redirect our writes.
 */
export function makeOwnFolder(folder: string): boolean {
  const kind = kindAt(folder)
  if (kind === 'folder') return false
  if (kind !== undefined) throw new PostflightError('not-a-folder', { path: folder, kind })
  try {
    fs.mkdirSync(folder)
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    return makeOwnFolder(folder)
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

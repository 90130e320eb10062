import fs from 'node:fs'
import { PostflightError } from '../../core/errors.ts'
import { errorCode } from './errors.ts'
import { kindAt } from './path-kind.ts'
import { createFile } from './write.ts'

/** Folders of ours, beside what somebody else may have put there. */

/**
 * Makes a folder of ours where there is none; true when it was made now.
 * @throws {PostflightError} `not-a-folder` when something else has its name: a link would lead our writes elsewhere.
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

/** Keeps git from seeing a folder of ours, so that a skill's `git add -A` does not commit it. A convenience only. */
export function hideFromGit(folder: string): void {
  try {
    createFile(`${folder}/.gitignore`, '*\n', false)
  } catch {
    // It is there, or cannot be: nothing depends on it.
  }
}

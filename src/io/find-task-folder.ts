import path from 'node:path'
import { PostflightError } from '../core/errors.ts'
import { ABANDONED_FILE, MARKER_FILE, SPECS_FOLDER } from '../core/files.ts'
import {
  parseTaskReference,
  type SearchProblem,
  SPECS_ITSELF,
  type TaskFolder,
  type TaskReference,
  taskNumberOf,
} from '../core/task-folder.ts'
import { stripControl } from '../core/text.ts'
import { hasContinuations } from './continuations/count.ts'
import { kindAt } from './fs/path-kind.ts'
import { listTaskFolders } from './task-folders.ts'

/** From what a person calls a task to its folder. */

/** A task folder directly below `specs/`, whether it is there or not. */
export function taskFolderAt(root: string, name: string): TaskFolder {
  return { root, path: path.join(root, SPECS_FOLDER, name), task: name, relative: `${SPECS_FOLDER}/${name}` }
}

/**
 * Every folder that `reference` may mean, in path order.
 * @throws {PostflightError} `cannot-write` when `specs/` cannot be listed: what is there would be made a second time.
 */
export function matchingFolders(root: string, reference: TaskReference): TaskFolder[] {
  const { folders, problems } = listTaskFolders(root)
  const specs = problems.find((problem) => problem.path === path.join(root, SPECS_FOLDER))
  if (specs !== undefined) throw new PostflightError('cannot-write', { ...specs })
  return folders.filter((folder) => isMeant(folder, reference))
}

function isMeant(folder: TaskFolder, reference: TaskReference): boolean {
  if (reference.kind === 'specs') return folder.task === SPECS_ITSELF
  return reference.kind === 'name' ? folder.task === reference.name : taskNumberOf(folder.task) === reference.number
}

/**
 * The one folder that a person means by `task`; undefined where there is none. Of several, the one that has something
 * of ours. A folder that is there may be named as it is, or as it was printed, also where nobody could give a new one
 * such a name: its marker must be clearable.
 * @throws {PostflightError} `task-invalid`, `task-ambiguous`, `file-unreadable`.
 */
export function findTaskFolder(root: string, task: string): TaskFolder | undefined {
  const { folders, problems } = listTaskFolders(root)
  const named = folders.filter((folder) => isNamed(folder, task))
  const reference = readReference(task, named.length > 0)
  const matching = folders.filter(
    (folder) => named.includes(folder) || (reference !== undefined && isMeant(folder, reference)),
  )
  for (const candidates of [named, matching]) {
    const [inUse, another] = candidates.filter(holdsOurs)
    if (inUse !== undefined && another === undefined) return inUse
  }
  // That it is not there would be a guess.
  if (matching.length === 0)
    refuseUnsearched(problems.filter((problem) => problem.path === path.join(root, SPECS_FOLDER)))
  if (matching.length <= 1) return matching[0]
  throw new PostflightError('task-ambiguous', { task, folders: matching.map((folder) => folder.relative).join(', ') })
}

/** @throws {PostflightError} `file-unreadable` for the first folder that could not be looked into. */
export function refuseUnsearched([problem]: readonly SearchProblem[]): void {
  if (problem !== undefined) throw new PostflightError('file-unreadable', { ...problem })
}

/** By its name, or by its path below `specs/` where several have the name; both as they are printed, too. */
function isNamed({ task, relative }: TaskFolder, name: string): boolean {
  const names = [task, ...(relative.includes('/') ? [relative, relative.slice(SPECS_FOLDER.length + 1)] : [])]
  return names.some((one) => one === name || stripControl(one) === name)
}

/** What `task` refers to; undefined for what is no reference, but the name of a folder that is there. */
function readReference(task: string, isThere: boolean): TaskReference | undefined {
  try {
    return parseTaskReference(task)
  } catch (error) {
    if (isThere) return undefined
    throw error
  }
}

/** True for a folder with a marker, an abandoned one, or what is left of continuations. */
export function holdsOurs(folder: TaskFolder): boolean {
  return (
    kindAt(path.join(folder.path, MARKER_FILE)) !== undefined ||
    kindAt(path.join(folder.path, ABANDONED_FILE)) !== undefined ||
    hasContinuations(folder.path)
  )
}

import path from 'node:path'
import { PostflightError } from '../core/errors.ts'
import { SPECS_FOLDER } from '../core/files.ts'
import {
  checkNewSlug,
  checkSlug,
  noTaskName,
  parseTaskReference,
  SPECS_ITSELF,
  type TaskFolder,
  type TaskReference,
  taskFolderName,
  taskNumberOf,
} from '../core/task-folder.ts'
import { matchingFolders, taskFolderAt } from '../io/find-task-folder.ts'
import { errorCode } from '../io/fs/errors.ts'
import { makeFolder } from '../io/fs/own-folder.ts'
import { kindAt } from '../io/fs/path-kind.ts'
import { type CommandContext, findCommandRepository, findCommandRoot, startOf } from './context.ts'

/** Finds the task folder of a command, and makes it if it does not exist yet. */

/**
 * The task's folder, which is made if it does not exist. So is its root; then `found` is undefined.
 * `commandWith`: the command as it should have been typed, if the slug is missing.
 * @throws {PostflightError} where `task` and `slug` do not name exactly one folder, or it cannot be made.
 */
export function prepareTaskFolder(
  context: CommandContext,
  task: string,
  slug: string | undefined,
  commandWith: (slug: string) => string,
): { root: string; found: string | undefined; folder: TaskFolder } {
  const found = findCommandRoot(context)
  const root = found ?? placeOfNewRoot(context)
  const folder = taskFolderFor(root, task, slug, commandWith)
  makeTaskFolder(folder)
  return { root, found, folder }
}

/**
 * The folder where a new `specs/` belongs: the named folder, or beside the nearest `.git`, or the current folder; but
 * never a folder that is itself named `specs` (a link, for example), because then the one above it is meant.
 * @throws {PostflightError} `root-unlikely`; `file-unreadable` where the search cannot read a folder.
 */
export function placeOfNewRoot(context: CommandContext): string {
  const place = placeByStart(context)
  return path.basename(place) === SPECS_FOLDER ? path.dirname(place) : place
}

function placeByStart(context: CommandContext): string {
  const start = startOf(context)
  if (start.explicit) return start.path
  const repository = findCommandRepository(start.path)
  if (repository !== undefined) return repository
  // A specs/ there would be the root of every project below it without a specs/ of its own.
  if ([path.parse(start.path).root, context.findHome()].includes(start.path)) {
    throw new PostflightError('root-unlikely', { start: start.path })
  }
  return start.path
}

function taskFolderFor(
  root: string,
  task: string,
  slug: string | undefined,
  commandWith: (slug: string) => string,
): TaskFolder {
  const reference = parseTaskReference(task)
  if (slug !== undefined) checkSlug(slug)
  if (reference.kind === 'specs') throw new PostflightError('task-invalid', { task: SPECS_ITSELF })
  const here = existing(root, reference)
  if (reference.kind === 'name') {
    if (slug !== undefined || taskNumberOf(reference.name) === undefined) {
      throw noTaskName(reference.name)
    }
    return here[0] ?? newTaskFolder(root, reference.name, commandWith)
  }
  const specs = path.join(root, SPECS_FOLDER)
  if (slug !== undefined) {
    const wanted = taskFolderName(reference.number, slug)
    const other = here[0]
    if (other !== undefined && !here.some((folder) => folder.task === wanted)) {
      throw new PostflightError('task-has-other-folder', { task, folder: other.task })
    }
    if (other === undefined) checkNewSlug(slug)
    return taskFolderAt(root, wanted)
  }
  const [first, second] = here
  if (first === undefined) throw new PostflightError('slug-missing', { task, specs, command: commandWith('my_slug') })
  if (second !== undefined) {
    throw new PostflightError('task-ambiguous', { task, folders: here.map((folder) => folder.task).join(', ') })
  }
  return first
}

/** A new folder for a name: `20_foo` becomes `020_foo`. A number never gets a second folder. */
function newTaskFolder(root: string, name: string, commandWith: (slug: string) => string): TaskFolder {
  const number = taskNumberOf(name) ?? 0
  return taskFolderFor(root, String(number), name.replace(/^\d+_/, ''), commandWith)
}

/** Task folders directly below `specs/`: a number does not reopen an archived task. */
function existing(root: string, reference: TaskReference): TaskFolder[] {
  return matchingFolders(root, reference).filter(
    (folder) => path.dirname(folder.path) === path.join(root, SPECS_FOLDER),
  )
}

function makeTaskFolder(folder: TaskFolder): void {
  for (const target of [path.dirname(folder.path), folder.path]) {
    try {
      makeFolder(target)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') {
        throw new PostflightError('cannot-write', { path: target, detail: errorCode(error) }, error)
      }
      const kind = kindAt(target)
      // Removed a moment ago.
      if (kind === undefined) throw new PostflightError('cannot-write', { path: target, detail: 'ENOENT' }, error)
      if (kind !== 'folder') throw new PostflightError('not-a-folder', { path: target, kind })
    }
  }
}

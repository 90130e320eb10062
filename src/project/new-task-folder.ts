import fs from 'node:fs'
import path from 'node:path'
import { errorCode, kindAt } from '../disk/file-facts.ts'
import { makeFolder } from '../disk/own-folder.ts'
import { sync } from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import { type CommandContext, findCommandRepository, findCommandRoot, startOf } from './command-context.ts'
import { matchingFolders, taskFolderAt } from './find-task-folder.ts'
import {
  beginsWithDigit,
  checkNewSlug,
  checkSlug,
  noTaskName,
  parseTaskName,
  parseTaskReference,
  SPECS_ITSELF,
  type TaskFolder,
  type TaskReference,
  type TaskSeparator,
  taskFolderName,
  usualSeparator,
} from './task-folder.ts'
import { listTaskFolders } from './task-folders.ts'

/** Finds the task folder of a command, and makes it if it does not exist yet. */

/** The task folder of a command, and its root. `found` is undefined for a root that was made. */
interface PreparedFolder {
  readonly root: string
  readonly found: string | undefined
  readonly folder: TaskFolder
}

/**
 * Works in the task's folder, which is made if it does not exist, and so is its root. Work that is refused leaves neither.
 * `commandWith`: the command as it should have been typed, if the slug is missing.
 * @throws {PostflightError} where `task` and `slug` do not name exactly one folder, or it cannot be made; as `work`.
 */
export function inTaskFolder<Result>(
  context: CommandContext,
  task: string,
  slug: string | undefined,
  commandWith: (slug: string) => string,
  work: (prepared: PreparedFolder) => Result,
): Result {
  const found = findCommandRoot(context)
  const root = found ?? placeOfNewRoot(context)
  const folder = taskFolderFor(root, task, slug, commandWith)
  const made: string[] = []
  try {
    makeTaskFolder(folder, made)
    return work({ root, found, folder })
  } catch (error) {
    for (const each of made.reverse()) removeIfEmpty(each)
    throw error
  }
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder)
  } catch {
    // It holds something by now.
  }
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
    const parts = parseTaskName(reference.name)
    // spec-kit can number by time: `20260319-143022-albums`. Such a folder is a task by its name only.
    if (slug === undefined && here[0] !== undefined && beginsWithDigit(reference.name)) return here[0]
    if (slug !== undefined || parts === undefined) throw noTaskName(reference.name)
    if (here[0] !== undefined) return here[0]
    // `20_foo` becomes `020_foo`. A number never gets a second folder.
    const numbered = { kind: 'number', number: parts.number } as const
    return slugFolder(root, String(parts.number), numbered, parts.slug, parts.separator)
  }
  const specs = path.join(root, SPECS_FOLDER)
  if (slug !== undefined) return slugFolder(root, task, reference, slug)
  const [first, second] = here
  if (first === undefined) throw new PostflightError('slug-missing', { task, specs, command: commandWith('my_slug') })
  if (second !== undefined) {
    throw new PostflightError('task-ambiguous', { task, folders: here.map((folder) => folder.task).join(', ') })
  }
  return first
}

/**
 * The folder of a number and a slug. A new one gets `separator`, or the one that the project's other folders have.
 * @throws {PostflightError} `slug-invalid`; `task-has-other-folder` where the number's folder has another slug.
 */
function slugFolder(
  root: string,
  task: string,
  reference: Extract<TaskReference, { kind: 'number' }>,
  slug: string,
  separator?: TaskSeparator,
): TaskFolder {
  checkSlug(slug)
  const here = existing(root, reference)
  const found = here.find((folder) => parseTaskName(folder.task)?.slug === slug)
  if (found !== undefined) return found
  if (here[0] !== undefined) throw new PostflightError('task-has-other-folder', { task, folder: here[0].task })
  checkNewSlug(slug)
  const used =
    separator ??
    usualSeparator(
      listTaskFolders(root)
        .folders.filter(isTop(root))
        .map((one) => one.task),
    )
  return taskFolderAt(root, taskFolderName({ number: reference.number, separator: used, slug }))
}

/** Task folders directly below `specs/`: a number does not reopen an archived task. */
function existing(root: string, reference: TaskReference): TaskFolder[] {
  return matchingFolders(root, reference).filter(isTop(root))
}

function isTop(root: string): (folder: TaskFolder) => boolean {
  return (folder) => path.dirname(folder.path) === path.join(root, SPECS_FOLDER)
}

/** Makes the folder and the one above it. The folders that it makes are added to `made`. */
function makeTaskFolder(folder: TaskFolder, made: string[]): void {
  for (const target of [path.dirname(folder.path), folder.path]) {
    try {
      makeFolder(target)
      made.push(target)
      sync(path.dirname(target))
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

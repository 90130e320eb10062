import path from 'node:path'
import { realPathIfSeen } from '../disk/file-facts.ts'
import { makeLastingFolder, removeIfEmpty } from '../disk/folders.ts'
import { PostflightError } from '../kernel/errors.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import { type CommandContext, findCommandRepository, findCommandRoot, startOf } from './command-context.ts'
import type { TaskFolder } from './task-folder.ts'
import * as naming from './task-folder.ts'
import { isMeant, isNamed, listTaskFolders, taskFolderBelow } from './task-folders.ts'

type Location = Pick<CommandContext, 'rootOption' | 'environment' | 'cwd' | 'findHome'>

/** `isNewRoot`: whether its root had no specs/. */
export async function inTaskFolder<Result>(
  context: CommandContext,
  task: string,
  slug: string | undefined,
  suggest: (slug: string) => string,
  work: (folder: TaskFolder, isNewRoot: boolean) => Result,
): Promise<Result> {
  const found = findCommandRoot(context)
  const folder = taskFolderFor(found ?? newRootFolder(context), task, slug, suggest)
  return inFolder(folder, () => work(folder, found === undefined))
}

/** If the work fails, removes the new folders that are empty. */
export async function inFolder<Result>(folder: TaskFolder, work: () => Result | Promise<Result>): Promise<Result> {
  const made: string[] = []
  try {
    for (const each of new Set([path.join(folder.root, SPECS_FOLDER), path.dirname(folder.path), folder.path])) {
      if (makeLastingFolder(each)) made.push(each)
    }
    return await work()
  } catch (error) {
    for (const each of made.reverse()) removeIfEmpty(each)
    throw error
  }
}

/** Never a folder that is itself named `specs` (a link, for example), but the one above. */
export function newRootFolder(context: Location): string {
  const location = newProjectFolder(context)
  if (location === undefined) throw new PostflightError('root-unlikely', { start: context.cwd })
  return path.basename(location) === SPECS_FOLDER ? path.dirname(location) : location
}

/** Undefined in a home folder and `/`: a specs/ there would be the root of every project below. */
export function newProjectFolder(context: Location): string | undefined {
  const start = startOf(context)
  if (start.explicit) return start.path
  const repository = findCommandRepository(start.path)
  if (repository !== undefined) return repository
  const isAboveProjects =
    start.path === path.parse(start.path).root || realPathIfSeen(start.path) === realPathIfSeen(context.findHome())
  return isAboveProjects ? undefined : start.path
}

/** `suggest`: returns the same command with a slug, for the error about a missing one. */
export function taskFolderFor(root: string, word: string, slug: string | undefined, suggest: (slug: string) => string) {
  const task = naming.withoutCompletion(word)
  const specs = path.join(root, SPECS_FOLDER)
  const { folders, problems } = listTaskFolders(root)
  // Messages name an archived task by its path below specs/.
  const named = task.includes('/') ? folders.find((one) => isNamed(one, task)) : undefined
  if (slug === undefined && named !== undefined && naming.beginsWithDigit(named.task)) return named
  const reference = naming.parseTaskReference(task)
  if (slug !== undefined) naming.checkSlug(slug)
  if (reference === naming.SPECS_ITSELF) throw new PostflightError('task-invalid', { task: naming.SPECS_ITSELF })
  // Without a listing, an existing folder would be created again.
  const unlisted = problems.find((problem) => problem.path === specs)
  if (unlisted !== undefined) throw new PostflightError('cannot-write', unlisted)
  // A number does not reopen an archived task.
  const top = folders.filter((folder) => path.dirname(folder.path) === specs)
  const here = top.filter((folder) => isMeant(folder, reference))
  if (typeof reference === 'string') {
    const parts = naming.parseTaskName(reference)
    // spec-kit can number by time (`20260319-143022-albums`): a task by its name only.
    if (slug === undefined && here[0] !== undefined && naming.beginsWithDigit(reference)) return here[0]
    if (slug !== undefined || parts === undefined) throw naming.noTaskName(reference, slug)
    // `20_foo` becomes `020_foo`.
    return slugFolder(root, String(parts.number), parts, top)
  }
  if (slug !== undefined) {
    const separator = naming.usualSeparator(top.map((folder) => folder.task))
    return slugFolder(root, task, { number: reference, separator, slug }, top)
  }
  const [first, second] = here
  if (first === undefined) throw new PostflightError('slug-missing', { task, specs, command: suggest('my_slug') })
  if (second !== undefined) {
    throw new PostflightError('task-ambiguous', { task, folders: here.map((folder) => folder.task).join(', ') })
  }
  return first
}

/** A number never gets a second folder. */
function slugFolder(root: string, task: string, name: naming.TaskName, top: readonly TaskFolder[]): TaskFolder {
  const { number, slug } = name
  naming.checkSlug(slug)
  const here = top.filter((folder) => isMeant(folder, number))
  const found = here.find((folder) => naming.parseTaskName(folder.task)?.slug === slug)
  if (found !== undefined) return found
  if (here[0] !== undefined) throw new PostflightError('task-has-other-folder', { task, folder: here[0].task })
  if (!naming.isNewName(slug)) throw new PostflightError('slug-invalid', { slug })
  return taskFolderBelow(root, naming.taskFolderName(name))
}

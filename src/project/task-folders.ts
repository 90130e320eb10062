import fs from 'node:fs'
import path from 'node:path'
import {
  errorCode,
  isAbsent,
  kindAt,
  kindIfSeen,
  locationIdentity,
  pathIn,
  realPathIfSeen,
} from '../disk/file-facts.ts'
import { sha256 } from '../disk/ids.ts'
import { PostflightError } from '../kernel/errors.ts'
import * as files from '../kernel/files.ts'
import { stripControl } from '../kernel/text.ts'
import type { SearchProblem, TaskFolder, TaskReference } from './task-folder.ts'
import * as naming from './task-folder.ts'

/** Follows no links (docs/design.md, "Task folders"). `hooks/postflight-hook` searches the same places. */

/** Node decodes invalid UTF-8 in a name to this character. */
const REPLACEMENT_CHARACTER = '\ufffd'

/** In path order. `undecodable`: as Node decodes them. */
export function listTaskFolders(root: string) {
  const problems: SearchProblem[] = []
  const undecodable: string[] = []
  const specs = path.join(root, files.SPECS_FOLDER)
  const folders: TaskFolder[] = [{ root, path: specs, task: naming.SPECS_ITSELF, relative: files.SPECS_FOLDER }]
  for (const name of subfolders(specs, problems, undecodable)) {
    const folder = pathIn(specs, name)
    const relative = `${files.SPECS_FOLDER}/${name}`
    folders.push({ root, path: folder, task: name, relative })
    if (naming.beginsWithDigit(name)) continue
    for (const child of subfolders(folder, problems, undecodable)) {
      folders.push({ root, path: pathIn(folder, child), task: child, relative: `${relative}/${child}` })
    }
  }
  return { folders, problems, undecodable }
}

function subfolders(folder: string, problems: SearchProblem[], undecodable: string[]): string[] {
  try {
    const entries = fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const names = entries.map((entry) => entry.name).sort()
    return names.filter((name) => {
      const isDecoded = !name.includes(REPLACEMENT_CHARACTER)
      if (!isDecoded) undecodable.push(path.join(folder, name))
      return isDecoded
    })
  } catch (error) {
    // Removed meanwhile.
    if (!isAbsent(error)) problems.push({ path: folder, detail: errorCode(error) })
    return []
  }
}

/** Folders in `problems` may hold markers that cannot be judged. */
export function foldersHolding(folders: readonly TaskFolder[], fileName: string, problems: SearchProblem[] = []) {
  return folders.filter((folder) => {
    try {
      return fs.lstatSync(pathIn(folder.path, fileName), { throwIfNoEntry: false }) !== undefined
    } catch (error) {
      if (!isAbsent(error) && problems.every((problem) => problem.path !== folder.path)) {
        problems.push({ path: folder.path, detail: errorCode(error) })
      }
      return false
    }
  })
}

/** It need not exist. */
export function taskFolderBelow(root: string, below: string): TaskFolder {
  const relative = `${files.SPECS_FOLDER}/${below}`
  return { root, path: path.join(root, relative), task: path.posix.basename(below), relative }
}

export function isMeant(folder: Pick<TaskFolder, 'task'>, reference: TaskReference): boolean {
  return reference === (typeof reference === 'string' ? folder.task : naming.taskNumberOf(folder.task))
}

/** Prefers one that holds a file of ours. Takes names that new folders may not have: their marker must be clearable. */
export function findTaskFolder(root: string, given: string, session?: string): TaskFolder | undefined {
  const task = naming.withoutCompletion(given)
  const { folders, problems } = listTaskFolders(root)
  const named = foldersNamed(folders, task, session)
  const reference = readReference(task, named.length > 0)
  const matching = folders.filter((one) => named.includes(one) || (reference !== undefined && isMeant(one, reference)))
  for (const candidates of [named, matching]) {
    const [inUse, another] = candidates.filter(holdsOurs)
    if (inUse !== undefined && another === undefined) return inUse
  }
  if (matching.length === 0) {
    const specs = path.join(root, files.SPECS_FOLDER)
    refuseUnsearched(problems.filter((problem) => problem.path === specs))
  }
  if (matching.length <= 1) return matching[0]
  throw new PostflightError('task-ambiguous', { task, folders: matching.map((folder) => folder.relative).join(', ') })
}

export function refuseUnsearched([problem]: readonly SearchProblem[]): void {
  if (problem !== undefined) throw unsearchedError(problem)
}

export function unsearchedError(problem: SearchProblem): PostflightError {
  return new PostflightError('file-unreadable', { ...problem })
}

function foldersNamed(folders: readonly TaskFolder[], task: string, session: string | undefined): TaskFolder[] {
  const named = folders.filter((folder) => isNamed(folder, task))
  if (task !== DONE_WORD) return named
  // An agent must not name another session's marker.
  const own = session === undefined ? undefined : sessionFolderName(session)
  const done = folders.filter((folder) => isSessionFolder(folder) && (own === undefined || folder.task === own))
  // Some projects keep their finished tasks in `specs/done/`.
  return named.length === 0 || done.some(holdsOurs) ? [...named, ...done] : named
}

/** Exactly or as printed. */
export function isNamed(folder: TaskFolder, name: string): boolean {
  const { task, relative } = folder
  const names = [task, folder.path, ...(relative.includes('/') ? [relative, naming.pathInSpecs(folder)] : [])]
  if (names.some((one) => one === name || stripControl(one) === name)) return true
  // A shell keeps the link in `$PWD`.
  return path.isAbsolute(name) && path.basename(name) === task && realPathIfSeen(name) === realPathIfSeen(folder.path)
}

export function readReference(task: string, isThere: boolean): TaskReference | undefined {
  try {
    return naming.parseTaskReference(task)
  } catch (error) {
    if (isThere) return undefined
    throw error
  }
}

function holdsOurs(folder: TaskFolder): boolean {
  const kindOf = (name: string) => kindAt(path.join(folder.path, name))
  const isThere = [files.MARKER_FILE, files.ABANDONED_FILE, files.RUN_ID_FILE].some((one) => kindOf(one) !== undefined)
  return isThere || kindOf(files.LOOP_GUARD_FILE) === 'file' || kindOf(files.CLAIMS_FOLDER) === 'folder'
}

/** The `<task>` of the session's own folder. */
export const DONE_WORD = 'done'

const FOLDER_NAME = new RegExp(`^${files.DONE_FOLDER_PREFIX}[0-9a-f]{16}$`)

export function sessionFolderName(session: string): string {
  return `${files.DONE_FOLDER_PREFIX}${sha256(session).slice(0, 16)}`
}

export function isSessionFolderName(name: string): boolean {
  return FOLDER_NAME.test(name)
}

export function sessionFolderPath(name: string): string {
  return `${files.JOURNAL_PATH}/${name}`
}

export function isSessionFolder({ task, relative }: Pick<TaskFolder, 'task' | 'relative'>): boolean {
  return isSessionFolderName(task) && relative === sessionFolderPath(task)
}

/** Compares folders, because markers may be replaced between two calls. */
export function firstOfItsPlace(): (folder: TaskFolder) => boolean {
  const seen = new Set<string>()
  return (folder) => {
    const location = locationIdentity(folder.path) ?? folder.path
    const isFirst = !seen.has(location)
    seen.add(location)
    return isFirst
  }
}

/** Looks once in each folder, which is relative to the root. */
export function runFinder(root: string): (folder: string) => boolean {
  const known = new Map<string, boolean>()
  return (folder) => {
    const holdsRun = known.get(folder) ?? kindIfSeen(path.join(root, folder, files.RUN_STATE_FILE)) !== undefined
    known.set(folder, holdsRun)
    return holdsRun
  }
}

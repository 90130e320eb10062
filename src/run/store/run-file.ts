import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent, kindAt } from '../../disk/file-facts.ts'
import { hideFromGit, makeLastingFolder } from '../../disk/own-folder.ts'
import { newRunId } from '../../disk/random-id.ts'
import { readSmallFile } from '../../disk/read.ts'
import { removeFile, replaceFile, temporaryBeside } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { RUN_ID_FILE, RUNNING_FOLDER, SPECS_FOLDER } from '../../kernel/files.ts'
import { isJsonObject } from '../../kernel/json-object.ts'
import { journalPaths } from '../../project/journal.ts'
import { beginsWithDigit, type SearchProblem, type TaskFolder } from '../../project/task-folder.ts'
import { listTaskFolders } from '../../project/task-folders.ts'

/**
 * The run file, by which launcher and hook find a running workflow (docs/design.md, "Workflows"). It lies outside the task
 * folder, in a folder that git ignores. `workflow/id` in the task folder repeats its id, so that a folder that was renamed
 * or archived is found without reading states.
 */

/** A run file or an id is shorter than this, in bytes. */
const RUN_FILE_MAX_BYTES = 8_192

/** The longest name of a file, in bytes. */
const NAME_MAX_BYTES = 255

/** A run file. */
export interface RunFile {
  readonly path: string
  /** Undefined if the file does not say. */
  readonly id: string | undefined
  /** The task folder of its run; undefined if there is none. */
  readonly folder: TaskFolder | undefined
  /** True if every folder that may be the run's could be searched. */
  readonly isSearched: boolean
}

/**
 * The names of a root's run files. A stop asks this first: it is one listing of a small folder. A folder that cannot be
 * listed is added to `problems`.
 */
export function runFileNames(root: string, problems: SearchProblem[] = []): string[] {
  try {
    return fs
      .readdirSync(runningFolder(root))
      .filter((name) => !name.startsWith('.'))
      .sort()
  } catch (error) {
    if (!isAbsent(error)) problems.push({ path: runningFolder(root), detail: errorCode(error) })
    return []
  }
}

/** The run files of a root, in the order of their names. If they cannot be listed, that is added to `problems`. Never throws. */
export function findRunFiles(root: string, problems: SearchProblem[] = []): RunFile[] {
  return runFileNames(root, problems).map((name) => locate(root, name))
}

/** The run file of the run with that id in that folder; undefined if no hook would find it. */
export function runFileOf(folder: TaskFolder, id: string): RunFile | undefined {
  return findRunFiles(folder.root).find((file) => file.id === id && file.folder?.path === folder.path)
}

/** The id that a task folder holds; undefined if there is none, `unread` if its file cannot be read. */
type HeldId = { readonly id: string } | undefined | 'unread'

function idIn(folder: TaskFolder): HeldId {
  const read = readSmallFile(idFile(folder), RUN_FILE_MAX_BYTES)
  if (read.kind === 'unreadable') return 'unread'
  return read.kind === 'text' && read.text.trim() !== '' ? { id: read.text.trim() } : undefined
}

function holdsId(held: HeldId, id: string): boolean {
  return held !== undefined && held !== 'unread' && held.id === id
}

function idFile(folder: TaskFolder): string {
  return path.join(folder.path, RUN_ID_FILE)
}

/** Writes a run's id and its run file where they are missing or name another place. The caller holds the run's lock. */
export function putRunFile(folder: TaskFolder, id: string): void {
  const { root, relative } = folder
  if (!holdsId(idIn(folder), id)) replaceFile(idFile(folder), `${id}\n`)
  const below = relative.slice(SPECS_FOLDER.length + 1)
  const target = path.join(runningFolder(root), nameFor(root, below, id))
  const text = `${JSON.stringify({ id, path: below })}\n`
  const present = readSmallFile(target, RUN_FILE_MAX_BYTES)
  if (present.kind === 'text' && present.text === text) return
  const { folder: journal } = journalPaths(root)
  if (makeLastingFolder(journal)) hideFromGit(journal)
  if (makeLastingFolder(runningFolder(root))) hideFromGit(runningFolder(root))
  // A hidden name: what a killed process leaves is not a run file.
  const temporary = path.join(runningFolder(root), `.${id}${temporaryBeside('')}`)
  replaceFile(target, text, temporary)
  removeNamed(root, id, target)
}

/**
 * Removes the id and the run file of a run that has ended, in this order: the next process that finds the file removes what
 * a killed one left. The caller holds the run's lock.
 */
export function removeRunFile(folder: TaskFolder, id: string): void {
  const held = idIn(folder)
  if (held === 'unread' || holdsId(held, id)) removeFile(idFile(folder))
  removeNamed(folder.root, id, undefined)
}

/** The id of a run that is resumed: a new one for the copy of a running run. */
export function idToResume(folder: TaskFolder, id: string): string {
  const isOther = (file: RunFile): boolean =>
    file.id === id && file.folder !== undefined && file.folder.path !== folder.path
  return findRunFiles(folder.root).some(isOther) ? newRunId() : id
}

/** Removes every run file with that id, except `kept`: one remains under the old name of a folder that was renamed. */
function removeNamed(root: string, id: string, kept: string | undefined): void {
  const problems: SearchProblem[] = []
  for (const name of runFileNames(root, problems)) {
    const file = path.join(runningFolder(root), name)
    if (file === kept) continue
    const { id: held, unread } = read(file)
    if (unread !== undefined) problems.push({ path: file, detail: unread })
    else if (held === id) removeFile(file)
  }
  const [problem] = problems
  if (problem !== undefined) throw new PostflightError('file-unreadable', problem)
}

function runningFolder(root: string): string {
  return path.join(journalPaths(root).folder, RUNNING_FOLDER)
}

/** The name of a run file; the id where the folder's path is too long for a name, or another folder has the same name. */
function nameFor(root: string, below: string, id: string): string {
  // `%` alone stands for `specs/` itself.
  const name = below.replaceAll('/', '%') || '%'
  if (Buffer.byteLength(name) > NAME_MAX_BYTES) return id
  const other = runFileNames(root).includes(name) ? locate(root, name) : undefined
  const isTaken = other?.id !== undefined && other.id !== id && other.folder !== undefined
  return isTaken && other.folder.relative !== `${SPECS_FOLDER}/${below}` ? id : name
}

function locate(root: string, name: string): RunFile {
  const file = path.join(runningFolder(root), name)
  const { id, path: written, unread } = read(file)
  const named = folderBelow(root, written ?? name.replaceAll('%', '/'))
  const found = { path: file, id }
  const held = named === undefined ? undefined : idIn(named)
  // A file that cannot be read now may not be stale.
  if (id === undefined || held === 'unread') return { ...found, folder: named, isSearched: unread === undefined }
  if (holdsId(held, id)) return { ...found, folder: named, isSearched: true }
  // The folder was renamed or archived, and the id moved with it.
  const { folders, problems } = listTaskFolders(root)
  const ids = folders.map(idIn)
  const moved = folders.find((_folder, index) => holdsId(ids[index], id))
  const isSearched = problems.length === 0 && !ids.includes('unread')
  // Without its id in any folder, the state in the named folder decides.
  return { ...found, folder: moved ?? (held === undefined ? named : undefined), isSearched }
}

function read(file: string): {
  readonly id: string | undefined
  readonly path: string | undefined
  /** Why the file cannot be read. */
  readonly unread: string | undefined
} {
  const text = readSmallFile(file, RUN_FILE_MAX_BYTES)
  const held = text.kind === 'text' ? parse(text.text) : undefined
  const textIn = (key: string): string | undefined => (typeof held?.[key] === 'string' ? held[key] : undefined)
  return { id: textIn('id'), path: textIn('path'), unread: text.kind === 'unreadable' ? text.detail : undefined }
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The task folder at a path below `specs/`, if it is one and exists. The path may come from anywhere. */
function folderBelow(root: string, below: string): TaskFolder | undefined {
  const names = below.split('/')
  const [first = '', second] = names
  const isName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !name.includes('\0')
  if (names.length > 2 || !names.every(isName) || (second !== undefined && beginsWithDigit(first))) return undefined
  const specs = path.join(root, SPECS_FOLDER)
  const above = second === undefined ? [] : [path.join(specs, first)]
  const target = path.join(specs, ...names)
  if ([...above, target].some((folder) => !isFolder(folder))) return undefined
  return { root, path: target, task: second ?? first, relative: `${SPECS_FOLDER}/${below}` }
}

function isFolder(target: string): boolean {
  try {
    return kindAt(target) === 'folder'
  } catch {
    return false
  }
}

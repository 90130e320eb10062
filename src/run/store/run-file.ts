import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent, kindIfSeen, pathIn } from '../../disk/file-facts.ts'
import { makeHiddenFolder } from '../../disk/folders.ts'
import { newRunId } from '../../disk/ids.ts'
import { readSmallFile } from '../../disk/read.ts'
import { removeFile, replaceFile, temporaryBeside } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { RUN_ID_FILE, RUNNING_FOLDER, SPECS_FOLDER } from '../../kernel/files.ts'
import { jsonObjectIn } from '../../kernel/values.ts'
import { journalFolder } from '../../project/journal.ts'
import {
  beginsWithDigit,
  fileNameOf,
  pathInSpecs,
  pathOfFileName,
  type SearchProblem,
  type TaskFolder,
} from '../../project/task-folder.ts'
import { listTaskFolders, taskFolderBelow } from '../../project/task-folders.ts'

/**
 * Hooks and the launcher find active runs by run files (docs/design.md, "Workflows"). `workflow/id` in the task folder
 * repeats the id, because people rename and archive folders.
 */

const RUN_FILE_MAX_BYTES = 8_192
/** The limit of most file systems. */
const NAME_MAX_BYTES = 255

export type RunFile = Readonly<ReturnType<typeof locate>>

/** Stops ask this first: it lists one small folder. */
export function runFileNames(root: string, problems: SearchProblem[] = []): string[] {
  try {
    const names = fs.readdirSync(runningFolder(root)).filter((name) => !name.startsWith('.'))
    return names.sort()
  } catch (error) {
    if (!isAbsent(error)) problems.push({ path: runningFolder(root), detail: errorCode(error) })
    return []
  }
}

/** One by one: a clone may bring more than a stop has time for. Never throws. */
export function* eachRunFile(root: string, problems: SearchProblem[] = []): Generator<RunFile> {
  let ids: FolderIds | undefined
  const idsOnce = (): FolderIds => {
    ids ??= readFolderIds(root)
    return ids
  }
  for (const name of runFileNames(root, problems)) yield locate(root, name, idsOnce)
}

/** The files of each root, listed once: reading them again for each moved folder would take long. */
export type ListedRunFiles = Map<string, readonly RunFile[]>

/** Hooks ignore an active run without one. */
export function hasRunFile(folder: TaskFolder, id: string, listed: ListedRunFiles = new Map()): boolean {
  const { root } = folder
  const isOfRun = (file: RunFile): boolean => file.id === id && file.folder?.path === folder.path
  // Most files have the folder's name. It is read now: a run may have started since the files were listed.
  if (isOfRun(locate(root, fileNameOf(pathInSpecs(folder))))) return true
  const files = listed.get(root) ?? [...eachRunFile(root)]
  listed.set(root, files)
  return files.some(isOfRun)
}

const UNREAD = Symbol('unread')

function idIn(folder: TaskFolder): string | typeof UNREAD | undefined {
  const read = readSmallFile(idFile(folder), RUN_FILE_MAX_BYTES)
  if (read.kind === 'unreadable') return UNREAD
  return read.kind === 'text' ? read.text.trim() || undefined : undefined
}

type FolderIds = ReturnType<typeof readFolderIds>

/** `isWhole`: whether the id of every folder could be read. */
function readFolderIds(root: string) {
  const { folders, problems } = listTaskFolders(root)
  const ids = folders.map(idIn)
  const known = folders.flatMap((folder, index) => {
    const id = ids[index]
    return typeof id === 'string' ? [[id, folder] as const] : []
  })
  // If several have the same id, the first one counts.
  return { folders: new Map(known.reverse()), isWhole: problems.length === 0 && !ids.includes(UNREAD) }
}

function idFile(folder: TaskFolder): string {
  return path.join(folder.path, RUN_ID_FILE)
}

/** Needs the run's lock. */
export function putRunFile(folder: TaskFolder, id: string): void {
  const { root } = folder
  if (idIn(folder) !== id) replaceFile(idFile(folder), `${id}\n`)
  const below = pathInSpecs(folder)
  const target = path.join(runningFolder(root), nameFor(root, below, id))
  const text = `${JSON.stringify({ id, path: below })}\n`
  const present = readSmallFile(target, RUN_FILE_MAX_BYTES)
  if (present.kind === 'text' && present.text === text) return
  makeHiddenFolder(journalFolder(root))
  makeHiddenFolder(runningFolder(root))
  // Hidden: a killed process must not leave a run file.
  replaceFile(target, text, { from: path.join(runningFolder(root), `.${id}${temporaryBeside('')}`) })
  removeNamed(root, id, target)
}

/** Needs the run's lock. Removes the id first: the next process removes a leftover file. */
export function removeRunFile(folder: TaskFolder, id: string): void {
  const value = idIn(folder)
  if (value === UNREAD || value === id) removeFile(idFile(folder))
  removeNamed(folder.root, id, undefined)
}

/** Gives the copy of an active run a new id. */
export function idToResume(folder: TaskFolder, id: string): string {
  const isOther = (file: RunFile) => file.id === id && file.folder !== undefined && file.folder.path !== folder.path
  return [...eachRunFile(folder.root)].some(isOther) ? newRunId() : id
}

function removeNamed(root: string, id: string, kept: string | undefined): void {
  const problems: SearchProblem[] = []
  for (const name of runFileNames(root, problems)) {
    const file = path.join(runningFolder(root), name)
    if (file === kept) continue
    // A renamed folder leaves a file under its old name.
    const { id: value, unread } = read(file)
    if (unread !== undefined) problems.push({ path: file, detail: unread })
    else if (value === id) removeFile(file)
  }
  const [problem] = problems
  if (problem !== undefined) throw new PostflightError('file-unreadable', problem)
}

function runningFolder(root: string): string {
  return pathIn(journalFolder(root), RUNNING_FOLDER)
}

function nameFor(root: string, below: string, id: string): string {
  const name = fileNameOf(below)
  // A hidden file is a temporary one.
  if (name.startsWith('.') || Buffer.byteLength(name) > NAME_MAX_BYTES) return id
  const { id: other, folder } = locate(root, name)
  const isTaken = other !== undefined && other !== id && folder !== undefined
  return isTaken && folder.relative !== `${SPECS_FOLDER}/${below}` ? id : name
}

/** `isSearched`: whether every folder that may be the run's was searched. */
function locate(root: string, name: string, idsOnce: () => FolderIds = () => readFolderIds(root)) {
  const file = path.join(runningFolder(root), name)
  const { id, path: written, unread } = read(file)
  const named = folderBelow(root, written ?? pathOfFileName(name))
  const found = { path: file, id }
  const value = named === undefined ? undefined : idIn(named)
  // A file that is unreadable now may not be stale.
  if (id === undefined || value === UNREAD) return { ...found, folder: named, isSearched: unread === undefined }
  if (value === id) return { ...found, folder: named, isSearched: true }
  const { folders, isWhole } = idsOnce()
  // If no folder has the id, the state in the named folder decides.
  return { ...found, folder: folders.get(id) ?? (value === undefined ? named : undefined), isSearched: isWhole }
}

function read(file: string) {
  const text = readSmallFile(file, RUN_FILE_MAX_BYTES)
  const value = text.kind === 'text' ? jsonObjectIn(text.text) : {}
  const textIn = (key: string): string | undefined => (typeof value[key] === 'string' ? value[key] : undefined)
  return { id: textIn('id'), path: textIn('path'), unread: text.kind === 'unreadable' ? text.detail : undefined }
}

/** `below` is untrusted. */
function folderBelow(root: string, below: string): TaskFolder | undefined {
  const names = below.split('/')
  const isName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !name.includes('\0')
  if (names.length > 2 || !names.every(isName) || (names.length === 2 && beginsWithDigit(below))) return undefined
  const folder = taskFolderBelow(root, below)
  const above = names.length === 2 ? [path.dirname(folder.path)] : []
  return [...above, folder.path].every((one) => kindIfSeen(one) === 'folder') ? folder : undefined
}

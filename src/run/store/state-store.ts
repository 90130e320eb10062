import fs from 'node:fs'
import path from 'node:path'
import { APPENDING, closeQuietly, errorCode, kindAt, named, writeWhole } from '../../disk/file-facts.ts'
import { withLock } from '../../disk/lock.ts'
import { hideFromGit, makeLastingFolder } from '../../disk/own-folder.ts'
import { readSmallFile } from '../../disk/read.ts'
import { replaceFile, tryRemoveFile } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { FILE_DETAILS } from '../../kernel/file-messages.ts'
import { type PathKind, RUN_HISTORY_FILE, RUN_STATE_FILE, WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { type HistoryEntry, historyFields, readHistoryEntry } from '../machine/history.ts'
import type { WorkflowState } from '../machine/state.ts'
import { formatState, isState, parseState, STATE_MAX_BYTES, type StateProblem } from '../machine/state-file.ts'

/** Reads and writes a run's state, which one writer at a time replaces as a whole, and its history, one line a transition. */

const HISTORY_LIMIT = 67_108_864

/** The state file's path for people: relative to the root. */
export function stateDisplayPath(folder: TaskFolder): string {
  return `${folder.relative}/${RUN_STATE_FILE}`
}

/**
 * The state of a task's run; undefined where there is none.
 * @throws {PostflightError} `workflow-state` when the state cannot be used (the file stays as it is); `file-unreadable`
 * when the folder cannot be searched.
 */
export function readState(folder: TaskFolder): WorkflowState | undefined {
  const kind = kindOfStateFolder(stateFolder(folder))
  if (kind === undefined) return undefined
  const unusable = (problem: StateProblem['code'] | 'unreadable', detail: string): PostflightError =>
    new PostflightError('workflow-state', { path: stateDisplayPath(folder), problem, detail })
  if (kind !== 'folder') throw unusable('unreadable', FILE_DETAILS.kindOf(WORKFLOW_FOLDER, kind))
  const file = path.join(folder.path, RUN_STATE_FILE)
  const version = versionOf(file)
  const before = version !== undefined && lastRead?.version === version ? lastRead.state.deref() : undefined
  if (before !== undefined) return before
  const read = readSmallFile(file, STATE_MAX_BYTES, version !== undefined)
  if (read.kind === 'absent') return undefined
  if (read.kind === 'unreadable') throw unusable('unreadable', read.detail)
  const state = parseState(read.text)
  if (!isState(state)) throw unusable(state.code, state.detail)
  // Before it was read: if the file was replaced since then, this version does not lie there again.
  if (version !== undefined) lastRead = { version, state: new WeakRef(state) }
  return state
}

/**
 * The state that was read last: it is looked at before its lock is taken, and again under the lock. A state may have 32 MB,
 * so a server does not keep it.
 */
let lastRead: { readonly version: string; readonly state: WeakRef<WorkflowState> } | undefined

/** The clocks of file systems advance in steps (ms), and inodes are used again: two writes within a step may look like one. */
const CLOCK_STEP_MS = 1000

/** Identifies the file and its content; undefined if there is none, or if it changed just now. Never throws. */
function versionOf(file: string): string | undefined {
  try {
    const { dev, ino, size, mtimeNs, ctimeMs, ctimeNs } = fs.lstatSync(file, { bigint: true })
    if (Date.now() - Number(ctimeMs) < CLOCK_STEP_MS) return undefined
    return [file, dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return undefined
  }
}

/** When the state was last written, in ms since the epoch. @throws file-system errors. */
export function stateWrittenMs(folder: TaskFolder): number {
  return fs.lstatSync(path.join(folder.path, RUN_STATE_FILE)).ctimeMs
}

/** The state of a task's run. @throws {PostflightError} `workflow-none`, `workflow-state`. */
export function requireState(folder: TaskFolder): WorkflowState {
  const state = readState(folder)
  if (state === undefined) throw noRun(folder)
  return state
}

function noRun(folder: TaskFolder): PostflightError {
  return new PostflightError('workflow-none', { task: taskWord(folder) })
}

function kindOfStateFolder(target: string): PathKind | undefined {
  try {
    return kindAt(target)
  } catch (error) {
    throw new PostflightError('file-unreadable', { path: target, detail: errorCode(error) }, error)
  }
}

/** Appends the transitions since `previous` to the history. Those that no state follows on disk do not count. */
export function recordHistory(folder: TaskFolder, state: WorkflowState, previous: WorkflowState | undefined): void {
  const since = previous?.sequence ?? 0
  appendHistory(
    folder,
    state.history.filter((entry) => entry.n > since),
  )
}

/** Writes a state. Before that it appends the transitions since `previous` to the history. */
export function writeState(folder: TaskFolder, state: WorkflowState, previous: WorkflowState | undefined): void {
  recordHistory(folder, state, previous)
  removeLitter(folder)
  replaceFile(path.join(folder.path, RUN_STATE_FILE), formatState(state))
}

/** Writes a state unless it is the one that lies there. */
export function writeChanged(folder: TaskFolder, state: WorkflowState, previous: WorkflowState): void {
  if (state !== previous) writeState(folder, state, previous)
}

/** Removes the temporary files of killed processes: under the lock no other process writes. */
function removeLitter(folder: TaskFolder): void {
  const beginning = `${path.basename(RUN_STATE_FILE)}.`
  for (const name of fs.readdirSync(stateFolder(folder))) {
    if (name.startsWith(beginning) && name.endsWith('.tmp')) tryRemoveFile(path.join(stateFolder(folder), name))
  }
}

/**
 * Runs `action` as the only writer of this run, and returns its result.
 * @throws {PostflightError} `locked` when another process keeps the lock for longer than `patienceMs`.
 */
export function withRunLock<T>(folder: TaskFolder, patienceMs: number, action: () => T): T {
  // If git tracked the state, an agent that undoes its work would restore an old state and its count of attempts.
  if (makeLastingFolder(stateFolder(folder))) hideFromGit(stateFolder(folder))
  return withLock(stateFolder(folder), patienceMs, action)
}

/**
 * Runs `action` with the state of a task's run, as the only writer of this run, and returns its result.
 * @throws {PostflightError} `workflow-none`, `workflow-state`; as `withRunLock`.
 */
export function withRun<T>(folder: TaskFolder, patienceMs: number, action: (state: WorkflowState) => T): T {
  // Locking would create the folder, and a question must not.
  if (kindAt(stateFolder(folder)) === undefined) throw noRun(folder)
  return withRunLock(folder, patienceMs, () => action(requireState(folder)))
}

/**
 * Every transition, oldest first. A line that a crash wrote twice, or that no state followed, is left out: the state
 * decides.
 */
export function readHistory(folder: TaskFolder, state: WorkflowState): HistoryEntry[] {
  const read = readSmallFile(path.join(folder.path, RUN_HISTORY_FILE), HISTORY_LIMIT)
  const lines = read.kind === 'text' ? read.text.split('\n') : []
  const entries = new Map<number, HistoryEntry>()
  for (const line of lines) {
    const entry = parseLine(line)
    if (entry !== undefined && entry.n <= state.sequence) entries.set(entry.n, entry)
  }
  for (const entry of state.history) entries.set(entry.n, entry)
  return [...entries.values()].sort((one, other) => one.n - other.n)
}

function parseLine(line: string): HistoryEntry | undefined {
  try {
    return readHistoryEntry(JSON.parse(line))
  } catch {
    return undefined
  }
}

function appendHistory(folder: TaskFolder, entries: readonly HistoryEntry[]): void {
  if (entries.length === 0) return
  // The text begins with a line break, so that a line cut short by a kill damages no other line.
  const text = entries.map((entry) => `\n${JSON.stringify(historyFields(entry))}`).join('')
  const history = path.join(folder.path, RUN_HISTORY_FILE)
  const descriptor = fs.openSync(history, fs.constants.O_WRONLY | APPENDING, 0o644)
  try {
    writeWhole(descriptor, text)
  } catch (error) {
    throw named(error, history)
  } finally {
    closeQuietly(descriptor)
  }
}

function stateFolder(folder: TaskFolder): string {
  return path.join(folder.path, WORKFLOW_FOLDER)
}

import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { type HistoryEntry, historyFields, readHistoryEntry } from '../../core/workflow/history.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { formatState, isState, parseState, type StateProblem } from '../../core/workflow/state-file.ts'
import { APPENDING, closeQuietly, named, writeWhole } from '../fs/descriptors.ts'
import { errorCode } from '../fs/errors.ts'
import { withLock } from '../fs/lock.ts'
import { hideFromGit, makeOwnFolder } from '../fs/own-folder.ts'
import { kindAt } from '../fs/path-kind.ts'
import { readSmallFile } from '../fs/read.ts'
import { replaceFile, tryRemoveFile } from '../fs/write.ts'

/** The state of a run on disk: replaced whole, by one writer at a time; its history beside it, one line a transition. */

/** Folder of a run's state, in the task folder. */
export const WORKFLOW_FOLDER = 'workflow'

const STATE_FILE = 'state.json'
const HISTORY_FILE = 'history.jsonl'
const STATE_LIMIT = 33_554_432
const HISTORY_LIMIT = 67_108_864

/** The state file's path for people: relative to the root. */
export function stateDisplayPath(folder: TaskFolder): string {
  return `${folder.relative}/${WORKFLOW_FOLDER}/${STATE_FILE}`
}

/**
 * The state of a task's run; undefined where there is none.
 * @throws {PostflightError} `workflow-state` when it is there and cannot be used: it is left as it is; `file-unreadable`
 * when that cannot be told.
 */
export function readState(folder: TaskFolder): WorkflowState | undefined {
  const kind = kindOfStateFolder(stateFolder(folder))
  if (kind === undefined) return undefined
  const unusable = (problem: StateProblem['code'] | 'unreadable', detail: string): PostflightError =>
    new PostflightError('workflow-state', { path: stateDisplayPath(folder), problem, detail })
  if (kind !== 'folder') throw unusable('unreadable', `${WORKFLOW_FOLDER} is ${kind}`)
  const read = readSmallFile(path.join(stateFolder(folder), STATE_FILE), STATE_LIMIT)
  if (read.kind === 'absent') return undefined
  if (read.kind === 'unreadable') throw unusable('unreadable', read.detail)
  const state = parseState(read.text)
  if (!isState(state)) throw unusable(state.code, state.detail)
  return state
}

function kindOfStateFolder(target: string): string | undefined {
  try {
    return kindAt(target)
  } catch (error) {
    throw new PostflightError('file-unreadable', { path: target, detail: errorCode(error) }, error)
  }
}

/** Puts a state on disk, and the transitions that are new since `former` into the history before it. */
export function writeState(folder: TaskFolder, state: WorkflowState, former: WorkflowState | undefined): void {
  const since = former?.sequence ?? 0
  appendHistory(
    folder,
    state.history.filter((entry) => entry.n > since),
  )
  removeLitter(folder)
  replaceFile(path.join(stateFolder(folder), STATE_FILE), formatState(state))
}

/** What processes that were killed over a write left: under the lock nobody else is writing. */
function removeLitter(folder: TaskFolder): void {
  for (const name of fs.readdirSync(stateFolder(folder))) {
    if (name.startsWith(`${STATE_FILE}.`) && name.endsWith('.tmp')) tryRemoveFile(path.join(stateFolder(folder), name))
  }
}

/**
 * Runs `action` as the only writer of this run.
 * @throws {PostflightError} `locked` when another process does not let go within `patienceMs`.
 */
export function withRunLock<T>(folder: TaskFolder, patienceMs: number, action: () => T): T {
  // Tracked, it would go back with everything else when an agent undoes its work, and count its attempts anew.
  if (makeOwnFolder(stateFolder(folder))) hideFromGit(stateFolder(folder))
  return withLock(stateFolder(folder), patienceMs, action)
}

/**
 * Every transition, oldest first. A line that a crash wrote twice, or that no state followed, is left out: what the
 * state says holds.
 */
export function readHistory(folder: TaskFolder, state: WorkflowState): HistoryEntry[] {
  const read = readSmallFile(path.join(stateFolder(folder), HISTORY_FILE), HISTORY_LIMIT)
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
  // It begins with a line's end: what a kill cut short then spoils no other line.
  const text = entries.map((entry) => `\n${JSON.stringify(historyFields(entry))}`).join('')
  const history = path.join(stateFolder(folder), HISTORY_FILE)
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

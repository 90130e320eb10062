import fs from 'node:fs'
import path from 'node:path'
import { APPENDING, closeQuietly, kindAt, named, requireKind, writeWhole } from '../../disk/file-facts.ts'
import { makeHiddenFolder } from '../../disk/folders.ts'
import { withLock } from '../../disk/lock.ts'
import { readSmallFile } from '../../disk/read.ts'
import { replaceFile, tryRemoveFile } from '../../disk/write.ts'
import { FILE_DETAILS } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { RUN_HISTORY_FILE, RUN_STATE_FILE, WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { attempt, jsonObjectIn } from '../../kernel/values.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import type { WorkflowState } from '../machine/state.ts'
import { type HistoryEntry, historyFields, readHistoryEntry } from '../machine/state-fields.ts'
import { formatState, isState, parseState, STATE_MAX_BYTES, type StateProblem } from '../machine/state-file.ts'

/** A run's state and its history, one line per transition. */

const HISTORY_LIMIT = 67_108_864

export function stateDisplayPath(folder: TaskFolder): string {
  return `${folder.relative}/${RUN_STATE_FILE}`
}

export function readState(folder: TaskFolder): WorkflowState | undefined {
  const kind = requireKind(stateFolder(folder))
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
  // `version` is from before the read: if the file was replaced since, it never matches again.
  if (version !== undefined) lastRead = { version, state: new WeakRef(state) }
  return state
}

/** Read before the lock and again under it. Weak, because states may have 32 MB. */
let lastRead: { readonly version: string; readonly state: WeakRef<WorkflowState> } | undefined

/**
 * File system clocks advance in steps, and inodes are reused, so two writes may look like one. The steps are up to 10 ms
 * on Linux, and up to 2 s on a file system without fractions of a second (FAT).
 */
const CLOCK_STEP_MS = 50
const COARSE_CLOCK_STEP_MS = 2000

/** Never throws. */
function versionOf(file: string): string | undefined {
  const stats = attempt(() => fs.lstatSync(file, { bigint: true }))
  if (stats === undefined) return undefined
  const { dev, ino, size, mtimeNs, ctimeMs, ctimeNs } = stats
  const stepMs = ctimeNs % 1_000_000_000n === 0n ? COARSE_CLOCK_STEP_MS : CLOCK_STEP_MS
  if (Date.now() - Number(ctimeMs) < stepMs) return undefined
  return [file, dev, ino, size, mtimeNs, ctimeNs].join(' ')
}

/** In ms since the epoch. */
export function stateWrittenMs(folder: TaskFolder): number {
  return fs.lstatSync(path.join(folder.path, RUN_STATE_FILE)).ctimeMs
}

export function requireState(folder: TaskFolder): WorkflowState {
  const state = readState(folder)
  if (state === undefined) throw noRun(folder)
  return state
}

export function runEntry({ task }: TaskFolder, { hostSession }: WorkflowState, detail: string | undefined) {
  return { event: 'workflow', task, hostSession, detail } as const
}

function noRun(folder: TaskFolder): PostflightError {
  return new PostflightError('workflow-none', { task: taskWord(folder) })
}

function recordHistory(folder: TaskFolder, state: WorkflowState, previous: WorkflowState | undefined): void {
  const entries = state.history.filter(({ n }) => n > (previous?.sequence ?? 0))
  if (entries.length === 0) return
  // A line cut short by a kill must damage no other.
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

export function writeState(folder: TaskFolder, state: WorkflowState, previous: WorkflowState | undefined): void {
  recordHistory(folder, state, previous)
  removeLitter(folder)
  replaceFile(path.join(folder.path, RUN_STATE_FILE), formatState(state))
}

export function writeChanged(folder: TaskFolder, state: WorkflowState, previous: WorkflowState): void {
  if (state !== previous) writeState(folder, state, previous)
}

const LITTER = /^(?:state|shared)\.json\..*\.tmp$/

function removeLitter(folder: TaskFolder): void {
  // Left by killed processes: under the lock no other process writes.
  for (const name of fs.readdirSync(stateFolder(folder))) {
    if (LITTER.test(name)) tryRemoveFile(path.join(stateFolder(folder), name))
  }
}

export function withRunLock<T>(folder: TaskFolder, patienceMs: number, action: () => T): T {
  // If git tracked the state, an agent that undoes its work would restore an old count of attempts.
  makeHiddenFolder(stateFolder(folder))
  return withLock(stateFolder(folder), patienceMs, action)
}

export function withRun<T>(folder: TaskFolder, patienceMs: number, action: (state: WorkflowState) => T): T {
  // Locking would create the folder; reading must not.
  if (kindAt(stateFolder(folder)) === undefined) throw noRun(folder)
  return withRunLock(folder, patienceMs, () => action(requireState(folder)))
}

export function readHistory(folder: TaskFolder, state: WorkflowState): HistoryEntry[] {
  const file = path.join(folder.path, RUN_HISTORY_FILE)
  const read = readSmallFile(file, HISTORY_LIMIT)
  if (read.kind === 'unreadable') throw new PostflightError('file-unreadable', { path: file, detail: read.detail })
  const lines = read.kind === 'text' ? read.text.split('\n') : []
  const entries = new Map<number, HistoryEntry>()
  for (const line of lines) {
    const entry = readHistoryEntry(jsonObjectIn(line))
    // A crash may have written a line twice, or one that no state followed.
    if (entry !== undefined && entry.n <= state.sequence) entries.set(entry.n, entry)
  }
  for (const entry of state.history) entries.set(entry.n, entry)
  return [...entries.values()].sort((one, other) => one.n - other.n)
}

function stateFolder(folder: TaskFolder): string {
  return path.join(folder.path, WORKFLOW_FOLDER)
}

import path from 'node:path'
import { isPast, processAgeMs } from '../../disk/age.ts'
import { errorText, kindAt } from '../../disk/file-facts.ts'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS, LockBusy } from '../../disk/lock.ts'
import { removeFile } from '../../disk/write.ts'
import { MAIN_AGENT, type Moment, type Occasion, type Payload } from '../../hosts/payload.ts'
import { FILE_DETAILS } from '../../kernel/error-messages.ts'
import { type ErrorArguments, messageOf, PostflightError } from '../../kernel/errors.ts'
import { RUN_STATE_FILE, WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { oneLine, quote } from '../../kernel/text.ts'
import { announcedWait, sessionEvent, waitsLeft } from '../../marker/marker-wait.ts'
import { announcesWait, idsIn, WAIT_LINE } from '../../marker/recorded-owner.ts'
import type { JournalEntry, Recorded } from '../../project/journal-entry.ts'
import { type SearchProblem, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { firstOfItsPlace, foldersHolding, listTaskFolders } from '../../project/task-folders.ts'
import type { UnfinishedStatus, UnfinishedWorkflow } from '../../stop/recovery.ts'
import { afterSessionStart, afterWaitEvent } from '../machine/agent-stop.ts'
import { currentWork, isInStep, needOf, stepLine } from '../machine/position.ts'
import type { WorkflowState } from '../machine/state.ts'
import { stepWords } from '../run-messages.ts'
import { eachRunFile, hasRunFile, type ListedRunFiles, type RunFile, removeRunFile } from './run-file.ts'
import { readState, stateDisplayPath, stateWrittenMs, withRunLock, writeChanged, writeState } from './state-store.ts'

export type UnusableRun = SearchProblem & Readonly<{ root: string; task: string | undefined }>

export function unusableNotice({ path: location, detail }: UnusableRun): string {
  return `postflight-guard: the workflow in ${quote(location)} could not continue, so the stop was allowed: ${quote(detail, 600)}`
}

export function unusableRecord({ root, task, detail }: UnusableRun): Recorded {
  return { root, entry: { event: 'error', task, detail } }
}

/** In ms. A clone may bring any number of run files. */
const SEARCH_MS = 2_000

type Search = Readonly<{ payload: Pick<Payload, 'session'>; deadline?: number | undefined }>

/** Those that the session drives. Ends when this process is `deadline` ms old. Throws only `LockBusy`. */
export function findActiveRuns(roots: readonly string[], { payload, deadline }: Search) {
  const runs: { readonly folder: TaskFolder; readonly state: WorkflowState }[] = []
  const problems: UnusableRun[] = []
  const isFirst = firstOfItsPlace()
  const endMs = Math.min(deadline ?? Number.POSITIVE_INFINITY, processAgeMs() + SEARCH_MS)
  for (const root of roots) {
    const unlisted: SearchProblem[] = []
    for (const file of eachRunFile(root, unlisted)) {
      if (isPast(endMs)) {
        problems.push({ root, path: file.path, task: undefined, detail: FILE_DETAILS.noTimeLeft })
        return { runs, problems }
      }
      const { folder } = file
      try {
        const state = folder === undefined ? undefined : readState(folder)
        if (folder === undefined || state === undefined || !isRunning(file, state)) {
          removeEndedRunFile(file)
          continue
        }
        if (state.hostSession === payload.session && isFirst(folder)) runs.push({ folder, state })
      } catch (error) {
        if (error instanceof LockBusy) throw error
        const place = folder === undefined ? file.path : stateDisplayPath(folder)
        problems.push({ root, path: place, task: folder?.task, detail: errorText(error) })
      }
    }
    problems.push(...unlisted.map((problem) => ({ ...problem, root, task: undefined })))
  }
  return { runs, problems }
}

/** A run file without an id is that of any run in its folder. */
export function isRunning({ id }: RunFile, state: WorkflowState): boolean {
  return state.active && (id === undefined || state.id === id)
}

/** Removes the file of a killed process, whose run never began or has ended. */
function removeEndedRunFile({ path: file, id, folder, isSearched }: RunFile): void {
  if (folder === undefined || kindAt(path.join(folder.path, WORKFLOW_FOLDER)) === undefined) {
    if (isSearched) removeFile(file)
    else throw new PostflightError('file-unreadable', { path: file, detail: FILE_DETAILS.runNotFound })
    return
  }
  withRunLock(folder, HOOK_PATIENCE_MS, () => {
    const state = readState(folder)
    if (state?.active === true && state.id === id) return
    if (state?.active !== true && id !== undefined) removeRunFile(folder, id)
    removeFile(file)
  })
}

/** Looks at every state: a run may have lost its run file and its id. Never throws. */
export function listUnfinishedRuns(roots: readonly string[], moment: Pick<Occasion, 'nowMs' | 'deadline'>) {
  const folders = roots.flatMap((root) => foldersHolding(listTaskFolders(root).folders, RUN_STATE_FILE))
  const listed: ListedRunFiles = new Map()
  return folders.flatMap((folder): UnfinishedWorkflow[] => {
    const state = isPast(moment.deadline) ? undefined : runStatus(folder)?.state
    const status = state === undefined ? undefined : statusOf(folder, state, listed)
    if (state === undefined || status === undefined) return []
    const { name, hostSession, updatedMs, active } = state
    const expectsStart = active && afterSessionStart(state) !== state
    return [{ folder, name, hostSession, status, ageMs: moment.nowMs - updatedMs, expectsStart }]
  })
}

export function listActiveRuns(root: string, nowMs: number): UnfinishedWorkflow[] {
  return listUnfinishedRuns([root], { nowMs, deadline: undefined }).filter(({ status }) => status !== 'stalled')
}

function statusOf(folder: TaskFolder, state: WorkflowState, listed: ListedRunFiles): UnfinishedStatus | undefined {
  const { active, outcome, settled, id } = state
  if (!active) return outcome === 'stalled' && !settled ? 'stalled' : undefined
  if (!hasRunFile(folder, id, listed)) return 'lost'
  return needOf(state).kind === 'approval' ? 'approval' : 'running'
}

export function noteSessionStarts(runs: readonly UnfinishedWorkflow[], session: string | undefined): Recorded[] {
  const mine = runs.filter(({ expectsStart, hostSession }) => expectsStart && hostSession === session)
  return mine.flatMap(({ folder }) => changeRunOfSession(folder, session, afterSessionStart))
}

/** Never throws. Without `state`, it cannot be read. */
export function runStatus(folder: TaskFolder) {
  try {
    const state = readState(folder)
    if (state === undefined) return undefined
    const workflow = `the workflow "${oneLine(state.name, 100)}"`
    if (!state.active) return { note: `${workflow} has ended (${state.outcome ?? ''})`, state }
    const waits = needOf(state).kind === 'approval' ? ' (waits for approval)' : ''
    return { note: `${workflow} is running: ${locationText(state)}${waits}`, state }
  } catch (error) {
    return { note: messageOf(error), state: undefined }
  }
}

export function locationText(state: WorkflowState): string {
  return `phase ${state.phase}, ${progress(state)}`
}

/** Counts from 1. */
export function stepsInWork({ inWork }: WorkflowState): number[] {
  return inWork.map(({ step }) => step + 1)
}

export function progress(state: WorkflowState): string {
  const { inWork, totalSteps, phaseAttempts, maxPhaseAttempts } = state
  if (!isInStep(state)) return attemptWords(phaseAttempts, maxPhaseAttempts)
  if (inWork.length > 1) {
    const texts = inWork.map(({ step }) => stepLine(state, step))
    return `in progress: ${stepWords(stepsInWork(state), totalSteps, texts)}`
  }
  const { step, attempts, maxAttempts } = currentWork(state)
  return `${stepWords([step + 1], totalSteps, [stepLine(state, step)])}, ${attemptWords(attempts, maxAttempts)}`
}

function attemptWords(ended: number, limit: number): string {
  return `attempt ${Math.min(ended + 1, limit)} of ${limit}`
}

/** Waits of runs: docs/design.md, "Waiting". */

export function announceRunWait(
  folder: TaskFolder,
  { session, agent }: { readonly session: string | undefined; readonly agent: string | undefined },
  purpose: string,
) {
  return withRunLock(folder, COMMAND_PATIENCE_MS, () => {
    const state = readState(folder)
    if (state?.active !== true) return undefined
    const refused = (why: ErrorArguments['wait-refused']['why']): PostflightError =>
      new PostflightError('wait-refused', { path: stateDisplayPath(folder), task: taskWord(folder), why })
    if (state.hostSession === undefined || state.hostSession !== session) throw refused('run-of-other-session')
    if (agent !== undefined && agent !== MAIN_AGENT) throw refused('run-by-sub-agent')
    const left = waitsLeft(state.wait, state.waits)
    if (left === 'no') throw refused('run-limit')
    const wait = announcedWait(purpose, state.wait, state.waits)
    writeState(folder, { ...state, wait }, state)
    return { id: state.id, path: path.join(folder.path, RUN_STATE_FILE), count: wait.count, left }
  })
}

/** Takes the run's lock. Most runs do not wait, and need none. */
export function updateRunWait(folder: TaskFolder, moment: Moment, kind: 'stop' | 'command'): Recorded[] {
  const { session, output } = moment.payload
  const change = (state: WorkflowState): WorkflowState => {
    const written = { id: state.id, changedMs: stateWrittenMs(folder) }
    const announces = kind === 'command' && announcesWait(written, moment, idsIn(output, WAIT_LINE))
    return afterWaitEvent(state, sessionEvent(moment, announces ? 'announcement' : kind), Date.now())
  }
  return changeRunOfSession(folder, session, change, kind === 'stop' ? COMMAND_PATIENCE_MS : HOOK_PATIENCE_MS)
}

/** Returns the record of a wait that ended. */
export function changeRunOfSession(
  folder: TaskFolder,
  session: string | undefined,
  change: (state: WorkflowState) => WorkflowState,
  patienceMs = HOOK_PATIENCE_MS,
): Recorded[] {
  return withRunLock(folder, patienceMs, () => {
    const state = readState(folder)
    if (state?.active !== true || state.hostSession !== session) return []
    const changed = change(state)
    writeChanged(folder, changed, state)
    return waitEnd(folder.task, state, changed).map((entry) => ({ root: folder.root, entry }))
  })
}

export function waitEnd(task: string, { wait, hostSession }: WorkflowState, after: WorkflowState): JournalEntry[] {
  if (wait === undefined || after.wait !== undefined) return []
  return [{ event: 'wait-end', task, hostSession, detail: wait.for }]
}

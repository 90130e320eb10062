import path from 'node:path'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS } from '../../disk/lock.ts'
import { MAIN_AGENT, type Moment } from '../../hosts/payload.ts'
import { type ErrorArguments, PostflightError } from '../../kernel/errors.ts'
import { RUN_STATE_FILE } from '../../kernel/files.ts'
import { announcedWait, sessionEvent, waitsLeft } from '../../marker/marker-wait.ts'
import { announcesWait, idsIn, WAIT_LINE } from '../../marker/recorded-owner.ts'
import type { JournalEntry, Recorded } from '../../project/journal-entry.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { afterWaitEvent } from '../machine/agent-stop.ts'
import type { WorkflowState } from '../machine/state.ts'
import { readState, stateDisplayPath, stateWrittenMs, withRunLock, writeChanged, writeState } from './state-store.ts'

/** Announces and ends the wait of a run: docs/design.md, "Waiting". */

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
  return changeRun(folder, session, change, kind === 'stop' ? COMMAND_PATIENCE_MS : HOOK_PATIENCE_MS)
}

/** Returns the record of a wait that ended. */
export function changeRun(
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

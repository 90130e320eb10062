import { type ErrorArguments, PostflightError } from '../../core/errors.ts'
import { MAIN_AGENT } from '../../core/marker.ts'
import { type TaskFolder, taskWord } from '../../core/task-folder.ts'
import { announcedWait, parseWait, type Wait, type WaitsLeft, waitsLeft } from '../../core/wait.ts'
import { endWaitOf } from '../../core/workflow/agent-stop.ts'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS } from '../fs/lock.ts'
import { readState, stateDisplayPath, withRunLock, writeState } from './state-store.ts'

/** The wait of a run: the stops of one prompt are allowed (docs/design.md, "Waiting"). */

/** A wait that was announced. */
export interface AnnouncedWait {
  readonly id: string | undefined
  readonly wait: Wait
  readonly left: WaitsLeft
}

/**
 * Announces that the run's session waits; undefined where no run is active.
 * @throws {PostflightError} `wait-refused` for a run of another session, to a sub-agent, or after too many waits.
 */
export function announceRunWait(
  folder: TaskFolder,
  { session, agent }: { readonly session: string | undefined; readonly agent: string | undefined },
  purpose: string,
): AnnouncedWait | undefined {
  return withRunLock(folder, COMMAND_PATIENCE_MS, () => {
    const state = readState(folder)
    if (state?.active !== true) return undefined
    const refused = (why: ErrorArguments['wait-refused']['why']): PostflightError =>
      new PostflightError('wait-refused', { path: stateDisplayPath(folder), task: taskWord(folder), why })
    if (state.hostSession === undefined || state.hostSession !== session) throw refused('run-of-other-session')
    if (agent !== undefined && agent !== MAIN_AGENT) throw refused('run-by-sub-agent')
    const left = waitsLeft(state.wait, state.waits)
    if (left === 'no') throw refused('run-limit')
    const wait = parseWait(announcedWait(purpose, state.wait, state.waits).wait) as Wait
    writeState(folder, { ...state, wait }, state)
    return { id: state.id, wait, left }
  })
}

/** Ends the wait of a run of this session, because the session starts again. Returns what it waited for. */
export function endRunWait(folder: TaskFolder, session: string | undefined): string | undefined {
  return withRunLock(folder, HOOK_PATIENCE_MS, () => {
    const state = readState(folder)
    if (state?.wait === undefined || state.hostSession !== session) return undefined
    writeState(folder, endWaitOf(state, state.wait), state)
    return state.wait.for
  })
}

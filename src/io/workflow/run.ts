import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import { type TaskFolder, taskWord } from '../../core/task-folder.ts'
import {
  abortState,
  hadAskedBefore,
  haltState,
  isResumable,
  promptAgain,
  repeatPrompt,
  requestStop,
  resumeState,
} from '../../core/workflow/control.ts'
import type { Definition } from '../../core/workflow/definition.ts'
import { type DuePrompt, duePrompt } from '../../core/workflow/prompt.ts'
import { type Reconciled, reconcile } from '../../core/workflow/reconcile.ts'
import { newState, type WorkflowState } from '../../core/workflow/state.ts'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS } from '../fs/lock.ts'
import { kindAt } from '../fs/path-kind.ts'
import { isPast } from '../process/age.ts'
import { applyEffect, type Looking, observe } from './observe.ts'
import { putAside } from './put-aside.ts'
import { ensureMarker, putMarker, refuseOtherMarker, removeMarker } from './run-marker.ts'
import { readState, recordHistory, WORKFLOW_FOLDER, withRunLock, writeState } from './state-store.ts'

/** Starts, continues and ends runs. Each call holds the run's lock and writes the run's state. */

/** The sessions that a run belongs to. */
export interface Runner {
  readonly parentSession: string | undefined
  readonly hostSession: string | undefined
}

/** The result of a turn. */
export interface Turn {
  readonly state: WorkflowState
  readonly command: Reconciled['command']
  /** True if there was no time for all finished phases. The next turn continues. */
  readonly unfinished: boolean
  /** Set when the command is `prompt`. */
  readonly due: DuePrompt | undefined
}

/**
 * Starts a run at its first phase, without a prompt.
 * @throws {PostflightError} `workflow-there` when the task has a run already (`fresh` moves an ended run aside),
 * `workflow-marker` when another postflight is pending there, `workflow-state`.
 */
export function startRun(
  folder: TaskFolder,
  definition: Definition,
  runner: Runner,
  options: { readonly nowMs: number; readonly fresh: boolean },
): WorkflowState {
  return withRunLock(folder, COMMAND_PATIENCE_MS, () => {
    refuseOtherMarker(folder)
    const present = readState(folder)
    if (present !== undefined && (present.active || !options.fresh)) {
      const outcome = present.active ? 'running' : (present.outcome ?? '')
      const resumable = isResumable(present)
      throw new PostflightError('workflow-there', { task: taskWord(folder), name: present.name, outcome, resumable })
    }
    const state = newState(definition, { ...runner, nowMs: options.nowMs })
    // The marker first, because `create` may have written another one by now: then nothing is started.
    putMarker(folder, state, options.nowMs)
    try {
      if (present !== undefined) putAside(folder, present)
      writeState(folder, state, undefined)
    } catch (error) {
      removeMarker(folder)
      throw error
    }
    return state
  })
}

/** The result where the run was left alone. */
export interface NoTurn {
  readonly state: WorkflowState
  readonly command: 'none'
}

/** The circumstances of a request for a turn. */
export interface Asking {
  /** The time of the request (ms since the epoch): the start of a process, or the time of an event. */
  readonly sinceMs: number
  readonly patience: 'command' | 'hook'
  /** The age of this process (ms) at which it must answer; undefined for a command, which has time. */
  readonly deadline?: number | undefined
}

/**
 * Observes, moves the run on as far as possible, and gives out the next prompt if one is due and allowed. `look` gets the
 * state (which may be large, so it is read only once) and says how to observe, or returns undefined to leave the run
 * alone. Of two requests at once, such as from a hook that is wired twice, the second gets the same prompt as the first,
 * as the same attempt.
 * @throws {PostflightError} `workflow-none`, `workflow-state`, `locked`; file-system errors.
 */
export function takeTurn(
  folder: TaskFolder,
  asking: Asking,
  look: (state: WorkflowState) => Pick<Looking, 'returned' | 'mayPrompt'> | undefined,
): Turn | NoTurn {
  requireFolder(folder)
  return withRunLock(folder, asking.patience === 'hook' ? HOOK_PATIENCE_MS : COMMAND_PATIENCE_MS, () => {
    const state = requireState(folder)
    const looking = look(state)
    if (looking === undefined) return { state, command: 'none' }
    // Taken under the lock, so that a prompt's time is later than the start of every process that waited for the lock.
    const nowMs = Date.now()
    if (!looking.mayPrompt || !hadAskedBefore(state, asking.sinceMs)) {
      return turnUnderLock(folder, state, { ...looking, nowMs }, asking.deadline)
    }
    const turn = turnUnderLock(folder, state, { returned: false, mayPrompt: false, nowMs }, asking.deadline)
    if (turn.command !== 'wait' || turn.unfinished) return turn
    // The last prompt's work is done, so the next one is due: a clock that was set back must not end the chain of prompts.
    if (!turn.state.prompted) return turnUnderLock(folder, turn.state, { ...looking, nowMs }, asking.deadline)
    const repeated = repeatPrompt(turn.state)
    write(folder, repeated, turn.state)
    return { state: repeated, command: 'prompt', unfinished: false, due: dueOf(folder, repeated) }
  })
}

/** The prompt that is due in a state. */
export function dueOf(folder: TaskFolder, state: WorkflowState): DuePrompt {
  return duePrompt(state, { task: folder.task, folder: folder.path })
}

/** Refuses a task without a run. Locking would create the folder, and a question must not. */
function requireFolder(folder: TaskFolder): void {
  if (kindAt(path.join(folder.path, WORKFLOW_FOLDER)) === undefined) {
    throw new PostflightError('workflow-none', { task: taskWord(folder) })
  }
}

function turnUnderLock(folder: TaskFolder, start: WorkflowState, looking: Looking, deadline?: number): Turn {
  let recorded = start
  const { state, command, unfinished } = reconcile(start, {
    isOutOfTime: () => isPast(deadline),
    observe: (seen) => observe(folder.path, seen, looking),
    apply: (effect) => applyEffect(folder.path, effect),
    record: (next) => {
      recordHistory(folder, next, recorded)
      recorded = next
    },
    write: (next) => {
      writeState(folder, next, recorded)
      recorded = next
    },
  })
  if (state.active) ensureMarker(folder, state, looking.nowMs)
  else removeMarker(folder)
  return { state, command, unfinished, due: command === 'prompt' ? dueOf(folder, state) : undefined }
}

/** The result of asking a run to stop. */
export interface Stopping {
  readonly state: WorkflowState
  /** True for a run that had ended before. */
  readonly wasOver: boolean
}

/** Asks a run to stop after the step or phase in work. If no prompt is out, it stops at once. */
export function stopRun(folder: TaskFolder, nowMs: number): Stopping {
  return change(folder, (state) => {
    if (!state.active) return { state, wasOver: true }
    const asked = requestStop(state, nowMs)
    write(folder, asked, state)
    return { state: turnUnderLock(folder, asked, { nowMs, returned: false, mayPrompt: false }).state, wasOver: false }
  })
}

/** The result of resuming a run. */
export interface Resumed {
  readonly state: WorkflowState
  /** The session in which it was running until now, if that is another session. */
  readonly takenFrom: string | undefined
}

/**
 * Resumes a run for another session, or for its own where no session is known. First it takes in what the last prompt
 * left, so that finished work is not asked for again. A prompt that was out goes out again at the next turn.
 * @throws {PostflightError} `workflow-over` when it was completed or aborted.
 */
export function resumeRun(folder: TaskFolder, runner: Runner, nowMs: number): Resumed {
  return change(folder, (state) => {
    if (!isResumable(state)) {
      throw new PostflightError('workflow-over', { task: taskWord(folder), outcome: state.outcome ?? '' })
    }
    refuseOtherMarker(folder)
    const looking = { nowMs, returned: false, mayPrompt: false }
    const begun = resumeState(state, runner, observe(folder.path, state, looking))
    const takenFrom = state.active && state.hostSession !== begun.hostSession ? state.hostSession : undefined
    write(folder, begun, state)
    const { state: seen } = turnUnderLock(folder, begun, looking)
    if (!seen.active) return { state: seen, takenFrom }
    const again = seen.prompted ? promptAgain(seen) : seen
    write(folder, again, seen)
    // Also where a marker lies already: it names the earlier session.
    putMarker(folder, again, nowMs)
    return { state: again, takenFrom }
  })
}

/** Ends a run at once. */
export function abortRun(folder: TaskFolder, nowMs: number): WorkflowState {
  return change(folder, (state) => finish(folder, abortState(state, nowMs), state))
}

/** Stops a run at once, resumable, because its marker was bypassed or cleared. */
export function haltRun(folder: TaskFolder, why: 'bypassed' | 'cleared', nowMs: number): WorkflowState {
  return change(folder, (state) => finish(folder, haltState(state, WORKFLOW_TEXT[why], nowMs), state))
}

/** Stops a run at once, resumable, because its driver was interrupted or failed. A run of another session goes on. */
export function interruptRun(folder: TaskFolder, session: string, why: string, nowMs: number): WorkflowState {
  return change(folder, (state) =>
    state.active && state.hostSession === session ? finish(folder, haltState(state, why, nowMs), state) : state,
  )
}

function finish(folder: TaskFolder, ended: WorkflowState, previous: WorkflowState): WorkflowState {
  write(folder, ended, previous)
  removeMarker(folder)
  return ended
}

function change<Result>(folder: TaskFolder, action: (state: WorkflowState) => Result): Result {
  requireFolder(folder)
  return withRunLock(folder, COMMAND_PATIENCE_MS, () => action(requireState(folder)))
}

function write(folder: TaskFolder, state: WorkflowState, previous: WorkflowState): void {
  if (state !== previous) writeState(folder, state, previous)
}

/** The state of a task's run. @throws {PostflightError} `workflow-none`, `workflow-state`. */
export function requireState(folder: TaskFolder): WorkflowState {
  const state = readState(folder)
  if (state === undefined) throw new PostflightError('workflow-none', { task: taskWord(folder) })
  return state
}

import { COMMAND_PATIENCE_MS } from '../../disk/lock.ts'
import { newRunId } from '../../disk/random-id.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { cut } from '../../kernel/text.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { type Definition, findPhase } from '../definition/definition.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { isIdle } from '../machine/agent-stop.ts'
import { abortState, haltState, promptAgain, requestStop, resumeState, settleState } from '../machine/control.ts'
import { isResumable } from '../machine/need.ts'
import { currentPhase } from '../machine/position.ts'
import { newState, visitsOf, type WorkflowState } from '../machine/state.ts'
import {
  approveState,
  enterFrom,
  isApprovalDue,
  rejectState,
  retryStep,
  type Steered,
  skipStep,
} from '../machine/steering.ts'
import { WORKFLOW_TEXT } from '../run-messages.ts'
import { observe } from './observe-run.ts'
import { putAside } from './put-aside.ts'
import { idToResume, putRunFile, removeRunFile } from './run-file.ts'
import { readState, withRun, withRunLock, writeChanged, writeState } from './state-store.ts'
import { removeIfEnded, turnUnderLock } from './turn.ts'

/** Starts, resumes, steers and ends runs. Each call holds the run's lock and writes the run's state. */

/** The sessions that a run belongs to. */
export interface Runner {
  readonly parentSession: string | undefined
  readonly hostSession: string | undefined
}

/** A new run. */
export interface Started {
  readonly state: WorkflowState
  /** The folder in the task folder to which files of earlier runs were moved; undefined if there were none. */
  readonly aside: string | undefined
}

/**
 * Starts a run at its first phase, without a prompt. Step results, receipts and archived artifacts of earlier runs are moved
 * aside, also where such a run's state is gone.
 * @throws {PostflightError} `workflow-there` when the task has a run already (`fresh` moves an ended run aside),
 * `workflow-state`.
 */
export function startRun(
  folder: TaskFolder,
  definition: Definition,
  runner: Runner,
  options: { readonly nowMs: number; readonly fresh: boolean; readonly inputs: Readonly<Record<string, string>> },
): Started {
  return withRunLock(folder, COMMAND_PATIENCE_MS, () => {
    const present = readState(folder)
    if (present !== undefined && (present.active || !options.fresh)) {
      const outcome = present.active ? 'running' : (present.outcome ?? '')
      const resumable = isResumable(present)
      throw new PostflightError('workflow-there', { task: taskWord(folder), name: present.name, outcome, resumable })
    }
    const id = newRunId()
    const state = newState(definition, { ...runner, id, nowMs: options.nowMs, inputs: options.inputs })
    let aside: string | undefined
    try {
      // Before the state becomes active: no run may be active without its run file.
      putRunFile(folder, id)
      aside = putAside(folder, definition, present)
      writeState(folder, state, undefined)
    } catch (error) {
      if (!isWritten(folder, id)) removeRunFile(folder, id)
      throw error
    }
    return { state, aside }
  })
}

/** False where the task surely has another run's state, or none. A state that was only not synced is the run's. */
function isWritten(folder: TaskFolder, id: string): boolean {
  try {
    return readState(folder)?.id === id
  } catch {
    return true
  }
}

/** The result of asking a run to stop. */
export interface Stopping {
  readonly state: WorkflowState
  /** True for a run that had ended before. */
  readonly wasOver: boolean
}

/** Asks a run to stop at its agent's next stop, which judges the work on the last prompt. If the agent is idle, it stops at once. */
export function stopRun(folder: TaskFolder, nowMs: number): Stopping {
  return withRun(folder, COMMAND_PATIENCE_MS, (state) => {
    if (!state.active) return { state, wasOver: true }
    const asked = requestStop(state, nowMs)
    if (isIdle(asked)) return { state: takePassing(folder, asked, state, nowMs), wasOver: false }
    // What a working agent has left so far may be half of it, so its next stop judges that.
    writeChanged(folder, asked, state)
    return { state: asked, wasOver: false }
  })
}

/**
 * Stops a run at once, resumable. It does not wait for a prompt that is out; a result of that prompt counts when the
 * run is resumed.
 */
export function stopRunNow(folder: TaskFolder, nowMs: number): Stopping {
  return withRun(folder, COMMAND_PATIENCE_MS, (state) =>
    state.active
      ? { state: finish(folder, haltState(state, WORKFLOW_TEXT.stoppedNow, nowMs), state), wasOver: false }
      : { state, wasOver: true },
  )
}

/** The result of resuming a run. */
export interface Resumed {
  readonly state: WorkflowState
  /** The session in which it was running until now, if that is another session. */
  readonly takenFrom: string | undefined
}

/**
 * Resumes a run for another session, or for its own where no session is known. First it takes in the results of the
 * last prompt, so that finished work is not requested again. A prompt that was out goes out again at the next turn.
 * `from`: the phase to go on with.
 * @throws {PostflightError} `workflow-over` when it was completed or aborted; `phase-unknown`,
 * `phase-not-entered`, `phase-approval` for a `from` that cannot be.
 */
export function resumeRun(folder: TaskFolder, runner: Runner, nowMs: number, from?: string): Resumed {
  return withRun(folder, COMMAND_PATIENCE_MS, (state) => {
    if (!isResumable(state)) {
      throw new PostflightError('workflow-over', { task: taskWord(folder), outcome: state.outcome ?? '' })
    }
    const looking = { nowMs, returned: false, mayPrompt: false }
    const id = idToResume(folder, state.id)
    const resumed = { ...resumeState(state, runner, observe(folder.path, state, looking)), id }
    const begun = from === undefined ? resumed : enteredFrom(folder, state, resumed, from, nowMs)
    const takenFrom = state.active && state.hostSession !== begun.hostSession ? state.hostSession : undefined
    putRunFile(folder, id)
    const { state: seen } = turnUnderLock(folder, begun, looking, { onDisk: state })
    if (!seen.active) return { state: seen, takenFrom }
    const again = seen.prompted ? promptAgain(seen) : seen
    writeChanged(folder, again, seen)
    return { state: again, takenFrom }
  })
}

function enteredFrom(
  folder: TaskFolder,
  before: WorkflowState,
  resumed: WorkflowState,
  from: string,
  nowMs: number,
): WorkflowState {
  const entered = enterFrom(resumed, requirePhase(folder, before, from), nowMs)
  if ('state' in entered) return entered.state
  const task = taskWord(folder)
  if (entered.refusal.kind === 'approval') throw new PostflightError('phase-approval', { task, ...entered.refusal })
  const known = before.definition.phases.flatMap(({ id }) => (visitsOf(before, id) > 0 ? id : []))
  throw new PostflightError('phase-not-entered', { task, phase: from, known: cut(known.join(', '), 500) })
}

function requirePhase(folder: TaskFolder, { definition }: WorkflowState, id: string): Phase {
  const phase = findPhase(definition, id)
  if (phase !== undefined) return phase
  const known = definition.phases.map((one) => one.id).join(', ')
  throw new PostflightError('phase-unknown', { task: taskWord(folder), phase: id, known: cut(known, 500) })
}

/** Ends a run at once. */
export function abortRun(folder: TaskFolder, nowMs: number): WorkflowState {
  return withRun(folder, COMMAND_PATIENCE_MS, (state) => finish(folder, abortState(state, nowMs), state))
}

/** Settles an ended run: see `settleState`. */
export function settleRun(folder: TaskFolder): WorkflowState {
  return withRun(folder, COMMAND_PATIENCE_MS, (state) => {
    const settled = settleState(state)
    writeChanged(folder, settled, state)
    return settled
  })
}

/** Stops a run at once, resumable, because its driver was interrupted or failed. A run of another session goes on. */
export function interruptRun(folder: TaskFolder, session: string, why: string, nowMs: number): WorkflowState {
  return withRun(folder, COMMAND_PATIENCE_MS, (state) =>
    state.active && state.hostSession === session ? finish(folder, haltState(state, why, nowMs), state) : state,
  )
}

/** Writes a changed state, and takes in the results that pass, which may end the run. */
function takePassing(folder: TaskFolder, changed: WorkflowState, onDisk: WorkflowState, nowMs: number): WorkflowState {
  const looking = { nowMs, returned: false, takes: 'passing', mayPrompt: false } as const
  return turnUnderLock(folder, changed, looking, { onDisk }).state
}

function finish(folder: TaskFolder, ended: WorkflowState, previous: WorkflowState): WorkflowState {
  writeChanged(folder, ended, previous)
  removeIfEnded(folder, ended)
  return ended
}

/**
 * Approves the artifact that the run waits for.
 * @throws {PostflightError} `approval-none`; `approval-artifact` if the artifact has become invalid.
 */
export function approveRun(folder: TaskFolder, note: string | undefined, nowMs: number): WorkflowState {
  return steer(folder, nowMs, (state) => {
    requireApproval(folder, state)
    const { artifact } = observe(folder.path, state, { nowMs, returned: false, mayPrompt: false })
    if (artifact.kind !== 'valid') {
      const { artifact: name = '' } = currentPhase(state)
      const why = artifact.kind === 'invalid' ? artifact.why : WORKFLOW_TEXT.noArtifact(name)
      throw new PostflightError('approval-artifact', { task: taskWord(folder), detail: why })
    }
    return approveState(state, note, nowMs)
  })
}

/** Rejects it: another attempt, with the reason in the prompt. @throws {PostflightError} `approval-none`. */
export function rejectRun(folder: TaskFolder, reason: string, nowMs: number): WorkflowState {
  return steer(folder, nowMs, (state) => {
    requireApproval(folder, state)
    return rejectState(state, reason, nowMs)
  })
}

function requireApproval(folder: TaskFolder, state: WorkflowState): void {
  if (!isApprovalDue(state)) throw new PostflightError('approval-none', { task: taskWord(folder), phase: state.phase })
}

/**
 * Tries a step of the current phase again, with all its attempts. Steps count from 1.
 * @throws {PostflightError} `run-step`; `workflow-over` when the run was completed or aborted.
 */
export function retryRunStep(folder: TaskFolder, step: number, nowMs: number): WorkflowState {
  return steer(folder, nowMs, (state) => stepped(folder, state, step, retryStep(state, step - 1, nowMs)))
}

/** Gives up a step of the current phase. Steps count from 1. @throws {PostflightError} as `retryRunStep`. */
export function skipRunStep(folder: TaskFolder, step: number, nowMs: number): WorkflowState {
  return steer(folder, nowMs, (state) => stepped(folder, state, step, skipStep(state, step - 1, nowMs)))
}

function stepped(folder: TaskFolder, state: WorkflowState, step: number, steered: Steered): WorkflowState {
  // A resume would not do the step.
  if (!isResumable(state)) {
    throw new PostflightError('workflow-over', { task: taskWord(folder), outcome: state.outcome ?? '' })
  }
  if ('state' in steered) return steered.state
  const { phase, totalSteps } = state
  throw new PostflightError('run-step', {
    ...{ task: taskWord(folder), phase, step: String(step), count: totalSteps, standing: steered.refusal },
  })
}

/** Changes the state, and takes in the results on disk. */
function steer(folder: TaskFolder, nowMs: number, change: (state: WorkflowState) => WorkflowState): WorkflowState {
  return withRun(folder, COMMAND_PATIENCE_MS, (state) => {
    const changed = change(state)
    return changed.active ? takePassing(folder, changed, state, nowMs) : finish(folder, changed, state)
  })
}

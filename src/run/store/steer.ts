import { COMMAND_PATIENCE_MS } from '../../disk/lock.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { isResumable } from '../machine/control.ts'
import { currentPhase } from '../machine/position.ts'
import type { WorkflowState } from '../machine/state.ts'
import { approveState, isApprovalDue, rejectState, retryStep, type Steered, skipStep } from '../machine/steering.ts'
import { WORKFLOW_TEXT } from '../run-messages.ts'
import { observe } from './observe-run.ts'
import { withRun, writeChanged } from './state-store.ts'
import { removeIfEnded, turnUnderLock } from './turn.ts'

/** What a person does to a run: each call holds the run's lock, writes the change, and moves the run on without a prompt. */

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
    writeChanged(folder, changed, state)
    if (!changed.active) {
      removeIfEnded(folder, changed)
      return changed
    }
    return turnUnderLock(folder, changed, { nowMs, returned: false, takes: 'passing', mayPrompt: false }).state
  })
}

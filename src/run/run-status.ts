import { messageOf } from '../kernel/error-messages.ts'
import { oneLine } from '../kernel/text.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { currentWork, isInStep, stepLine } from './machine/position.ts'
import type { WorkflowState } from './machine/state.ts'
import { STATUS_TEXT, WORKFLOW_TEXT } from './run-messages.ts'
import { readState } from './store/state-store.ts'

export interface RunStatus {
  /** `unusable`: the state cannot be read. */
  readonly status: 'running' | 'over' | 'unusable'
  readonly note: string
  readonly state: WorkflowState | undefined
}

/** Never throws. */
export function runStatus(folder: TaskFolder): RunStatus | undefined {
  try {
    const state = readState(folder)
    if (state === undefined) return undefined
    const name = oneLine(state.name, 100)
    return state.active
      ? { status: 'running', note: WORKFLOW_TEXT.running(name, locationText(state)), state }
      : { status: 'over', note: WORKFLOW_TEXT.over(name, state.outcome ?? ''), state }
  } catch (error) {
    return { status: 'unusable', note: messageOf(error), state: undefined }
  }
}

export function locationText(state: WorkflowState): string {
  return STATUS_TEXT.location(state.phase, progress(state))
}

/** Counts from 1. */
export function stepsInWork({ inWork }: WorkflowState): number[] {
  return inWork.map(({ step }) => step + 1)
}

export function progress(state: WorkflowState): string {
  if (isInStep(state)) {
    if (state.inWork.length > 1) {
      const texts = state.inWork.map(({ step }) => stepLine(state, step))
      return STATUS_TEXT.steps(stepsInWork(state), state.totalSteps, texts)
    }
    const { step, attempts, maxAttempts } = currentWork(state)
    const attempt = Math.min(attempts + 1, maxAttempts)
    return STATUS_TEXT.step(step + 1, state.totalSteps, stepLine(state, step), attempt, maxAttempts)
  }
  return STATUS_TEXT.attempt(Math.min(state.phaseAttempts + 1, state.maxPhaseAttempts), state.maxPhaseAttempts)
}

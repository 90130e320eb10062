import { oneLine } from '../../kernel/text.ts'
import { findPhase } from '../definition/definition.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { type Step, stepAsText } from '../definition/step.ts'
import type { Transition } from './history.ts'
import { visitsOf, type WorkflowState } from './state.ts'
import type { StepInWork } from './state-fields.ts'

/** The position of a run in its definition: the current phase, step and attempt. */

/** The current phase of a state. */
export function currentPhase(state: WorkflowState): Phase {
  return findPhase(state.definition, state.phase) ?? state.definition.phases[0]
}

/** The name of an attempt's step result in the archive, `2-1.json`: step and attempt, from 1. */
export function stepArchiveName({ step, attempts }: Pick<StepInWork, 'step' | 'attempts'>): string {
  return `${step + 1}-${attempts + 1}.json`
}

/** The result file of a step in a phase with one step at a time. */
export const STEP_RESULT_FILE = 'step-result.json'

/** The result file of a step: where several are in progress at once, each has its own. Steps count from 1 in names. */
export function stepResultFile({ parallel }: Phase, step: number): string {
  return parallel === 1 ? STEP_RESULT_FILE : `step-result-${step + 1}.json`
}

/** True while the run works on steps, and not on the phase's artifact. */
export function isInStep(state: WorkflowState): boolean {
  return state.stepsKnown && state.endedSteps.length < state.totalSteps
}

/** Whether the last failure is about a file that was there before the phase's first attempt. */
export function isFromBefore({ phaseAttempts, totalSteps }: WorkflowState): boolean {
  return phaseAttempts === 0 && totalSteps === 0
}

/** The step at `index`, from 0. */
export function stepAt(state: WorkflowState, index: number): Step {
  const { steps } = currentPhase(state)
  const listed = steps?.kind === 'list' ? steps.steps : state.takenSteps
  return listed?.[index] ?? ''
}

/** The text of the step at `index`, from 0, as people see it: on one line, cut. */
export function stepLine(state: WorkflowState, index: number): string {
  return oneLine(stepAsText(stepAt(state, index)), 80)
}

/** The position of the state: phase and visit, step and attempt from 1. `step`: the one that is meant, among several. */
export function where(
  state: WorkflowState,
  step: Pick<StepInWork, 'step' | 'attempts'> = { step: state.currentStep, attempts: state.stepAttempts },
): Omit<Transition, 'event'> {
  const visit = visitsOf(state, state.phase)
  return isInStep(state)
    ? { phase: state.phase, visit, step: step.step + 1, attempt: step.attempts + 1 }
    : { phase: state.phase, visit, attempt: state.phaseAttempts + 1 }
}

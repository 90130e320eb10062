import { findPhase } from './definition.ts'
import type { Transition } from './history.ts'
import type { Phase } from './phase-fields.ts'
import { visitsOf, type WorkflowState } from './state.ts'

/** The position of a run in its definition: the current phase, step and attempt. */

/** The current phase of a state. */
export function currentPhase(state: WorkflowState): Phase {
  return findPhase(state.definition, state.phase) ?? state.definition.phases[0]
}

/** The name of the current attempt's step result in the archive, `2-1.json`: step and attempt, from 1. */
export function stepArchiveName(state: WorkflowState): string {
  return `${state.currentStep + 1}-${state.stepAttempts + 1}.json`
}

/** True while the run works on a step, and not on the phase's artifact. */
export function isInStep(state: WorkflowState): boolean {
  return state.stepsKnown && state.currentStep < state.totalSteps
}

/** The text of the step at `index`, from 0. */
export function stepText(state: WorkflowState, index: number): string {
  const { steps } = currentPhase(state)
  const listed = steps?.kind === 'list' ? steps.steps : state.takenSteps
  return listed?.[index] ?? ''
}

/** The position of the state: phase and visit, step and attempt from 1. */
export function where(state: WorkflowState): Omit<Transition, 'event'> {
  const visit = visitsOf(state, state.phase)
  return isInStep(state)
    ? { phase: state.phase, visit, step: state.currentStep + 1, attempt: state.stepAttempts + 1 }
    : { phase: state.phase, visit, attempt: state.phaseAttempts + 1 }
}

import { oneLine } from '../../kernel/text.ts'
import { findPhase } from '../definition/definition.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { type Step, stepAsText } from '../definition/steps.ts'
import type { Transition } from './history.ts'
import { visitsOf, type WorkflowState } from './state.ts'
import type { EndedStep, StepInWork } from './state-fields.ts'

/**
 * The position of a run in its definition: the current phase, and its steps in progress and ended. A hand-out is what one
 * prompt asks for: one step, or up to `parallel`. Steps and attempts count from 0.
 */

/** The current phase of a state. */
export function currentPhase(state: WorkflowState): Phase {
  return findPhase(state.definition, state.phase) ?? state.definition.phases[0]
}

/** The name of an attempt's step result in the archive, `2-1.json`: step and attempt, from 1. */
export function stepArchiveName({ step, attempts }: Pick<StepInWork, 'step' | 'attempts'>): string {
  return `${step + 1}-${attempts + 1}.json`
}

/** The result file of a step in a phase with one step at a time. */
const STEP_RESULT_FILE = 'step-result.json'

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
  step: Pick<StepInWork, 'step' | 'attempts'> = currentWork(state),
): Omit<Transition, 'event'> {
  const visit = visitsOf(state, state.phase)
  return isInStep(state)
    ? { phase: state.phase, visit, step: step.step + 1, attempt: step.attempts + 1 }
    : { phase: state.phase, visit, attempt: state.phaseAttempts + 1 }
}

/** The first step that has not ended. */
export function currentWork(state: WorkflowState): Omit<StepInWork, 'out' | 'failure'> {
  const ended = new Set(state.endedSteps.map((one) => one.step))
  let step = 0
  while (ended.has(step)) step += 1
  const { maxStepAttempts } = currentPhase(state)
  return state.inWork.find((one) => one.step === step) ?? { step, attempts: 0, maxAttempts: maxStepAttempts }
}

/** The state with other steps in progress, or other ended ones. */
export function withWork(
  state: WorkflowState,
  inWork: readonly StepInWork[],
  endedSteps: readonly EndedStep[] = state.endedSteps,
): WorkflowState {
  return { ...state, inWork, endedSteps, prompted: inWork.some(({ out }) => out) }
}

/** The state with one of its steps in progress changed. */
export function withStepInWork(state: WorkflowState, changed: StepInWork): WorkflowState {
  return withWork(
    state,
    state.inWork.map((one) => (one.step === changed.step ? changed : one)),
  )
}

/** The state after a step in progress has ended. */
export function withStepEnded(
  state: WorkflowState,
  { step, attempts }: Pick<StepInWork, 'step' | 'attempts'>,
  outcome: EndedStep['outcome'],
): WorkflowState {
  const inWork = state.inWork.filter((one) => one.step !== step)
  return withWork(state, inWork, [...state.endedSteps, { step, attempts, outcome }])
}

/**
 * The state with the steps of the next hand-out in progress: those that are left, and the first ones that have not
 * begun, as many as the phase and the budget allow. While a hand-out is out, or after a stop request, nothing joins.
 */
export function withHandOut(state: WorkflowState, phase: Phase): WorkflowState {
  if (state.prompted || state.stopRequestedMs !== undefined) return state
  const size = Math.min(phase.parallel, promptsLeft(state))
  const begun = new Set([...state.inWork, ...state.endedSteps].map(({ step }) => step))
  const joining: StepInWork[] = []
  for (let step = 0; step < state.totalSteps && state.inWork.length + joining.length < size; step++) {
    if (begun.has(step)) continue
    joining.push({ step, attempts: 0, maxAttempts: phase.maxStepAttempts, out: false, failure: undefined })
  }
  if (joining.length === 0) return state
  return withWork(
    state,
    [...state.inWork, ...joining].sort((one, other) => one.step - other.step),
  )
}

/** The number of prompts that the budget leaves. */
export function promptsLeft({ definition, prompts }: WorkflowState): number {
  return Math.max(0, (definition.maxPrompts ?? Number.POSITIVE_INFINITY) - prompts)
}

/** The steps whose prompt is out; all steps in progress if none is. */
export function stepsOut({ inWork }: WorkflowState): readonly StepInWork[] {
  const out = inWork.filter((step) => step.out)
  return out.length === 0 ? inWork : out
}

/** True for a step whose attempts are spent. */
export function isSpent({ attempts, maxAttempts }: StepInWork): boolean {
  return attempts >= maxAttempts
}

import type { Phase } from '../definition/phase-fields.ts'
import type { WorkflowState } from './state.ts'
import type { EndedStep, StepInWork } from './state-fields.ts'

/**
 * The steps of a visit: those that are in progress, and those that have ended. A hand-out is what one prompt asks for:
 * one step, or up to `parallel`. Steps and attempts count from 0.
 */

/** The state with other steps in progress, or other ended ones. The fields that follow from them are worked out here only. */
export function withWork(
  state: WorkflowState,
  phase: Phase,
  { inWork = state.inWork, endedSteps = state.endedSteps }: Partial<Pick<WorkflowState, 'inWork' | 'endedSteps'>>,
): WorkflowState {
  const currentStep = firstUnended(endedSteps)
  const current = inWork.find(({ step }) => step === currentStep)
  return {
    ...{ ...state, inWork, endedSteps, currentStep, prompted: inWork.some(({ out }) => out) },
    stepAttempts: current?.attempts ?? 0,
    maxStepAttempts: current?.maxAttempts ?? phase.maxStepAttempts,
  }
}

function firstUnended(ended: readonly EndedStep[]): number {
  const steps = new Set(ended.map(({ step }) => step))
  let first = 0
  while (steps.has(first)) first += 1
  return first
}

/** The state with one of its steps in progress changed. */
export function withStepInWork(state: WorkflowState, phase: Phase, changed: StepInWork): WorkflowState {
  return withWork(state, phase, { inWork: state.inWork.map((one) => (one.step === changed.step ? changed : one)) })
}

/** The state after a step in progress has ended. */
export function withStepEnded(
  state: WorkflowState,
  phase: Phase,
  { step, attempts }: StepInWork,
  outcome: EndedStep['outcome'],
): WorkflowState {
  return withWork(state, phase, {
    inWork: state.inWork.filter((one) => one.step !== step),
    endedSteps: [...state.endedSteps, { step, attempts, outcome }],
  })
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
  return withWork(state, phase, { inWork: [...state.inWork, ...joining].sort((one, other) => one.step - other.step) })
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

import { counted, oneLine } from '../../kernel/text.ts'
import { findPhase } from '../definition/definition.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { type Step, stepAsText } from '../definition/steps.ts'
import { hasBegun, isPrompted, pauseClock, visitsOf, type WorkflowState, withdrawn, withTransition } from './state.ts'
import type { EndedStep, RunOutcome, StepInWork } from './state-fields.ts'

/** A batch is the work of one prompt: one step, or up to `parallel`. Steps and attempts count from 0. */

export function currentPhase(state: WorkflowState): Phase {
  return findPhase(state.definition, state.phase) ?? state.definition.phases[0]
}

/** `2-1.json`: step and attempt, from 1. */
export function stepArchiveName({ step, attempts }: Pick<StepInWork, 'step' | 'attempts'>): string {
  return `${step + 1}-${attempts + 1}.json`
}

export function stepResultFile({ parallel }: Phase, step: number): string {
  return parallel === 1 ? 'step-result.json' : `step-result-${step + 1}.json`
}

export function isInStep(state: WorkflowState): boolean {
  return state.stepsKnown && state.endedSteps.length < state.totalSteps
}

/** Whether the file was there before the first attempt. */
export function isFromBefore({ phaseAttempts, totalSteps }: WorkflowState): boolean {
  return phaseAttempts === 0 && totalSteps === 0
}

export function stepAt(state: WorkflowState, index: number): Step {
  const { steps } = currentPhase(state)
  return (steps?.kind === 'list' ? steps.steps : state.takenSteps)?.[index] ?? ''
}

export function stepLine(state: WorkflowState, index: number): string {
  return oneLine(stepAsText(stepAt(state, index)), 80)
}

/** Step and attempt count from 1. */
export function where(state: WorkflowState, step: Pick<StepInWork, 'step' | 'attempts'> = currentWork(state)) {
  const visit = visitsOf(state, state.phase)
  if (isInStep(state)) return { phase: state.phase, visit, step: step.step + 1, attempt: step.attempts + 1 }
  return { phase: state.phase, visit, attempt: state.phaseAttempts + 1 }
}

export function currentWork(state: WorkflowState): Omit<StepInWork, 'out' | 'failure'> {
  const ended = new Set(state.endedSteps.map((one) => one.step))
  let step = 0
  while (ended.has(step)) step += 1
  const { maxStepAttempts } = currentPhase(state)
  return state.inWork.find((one) => one.step === step) ?? { step, attempts: 0, maxAttempts: maxStepAttempts }
}

export function withWork(state: WorkflowState, inWork: readonly StepInWork[], endedSteps = state.endedSteps) {
  return { ...state, inWork, endedSteps, stage: inWork.some(({ out }) => out) ? state.stage : withdrawn(state) }
}

export function withStepEnded(state: WorkflowState, ended: EndedStep): WorkflowState {
  const inWork = state.inWork.filter((one) => one.step !== ended.step)
  const next = withWork(state, inWork, [...state.endedSteps, ended])
  return ended.outcome === 'done' ? next : { ...next, skips: state.skips + 1, phaseSkips: state.phaseSkips + 1 }
}

/** `history`: the command that lists them. A simulation has none. */
export function skippedText(count: number, history?: string): string {
  const skipped = `${counted(count, 'step or artifact was', 'steps or artifacts were')} skipped`
  return history === undefined ? skipped : `${skipped} (\`${history}\` says which)`
}

export function withPhaseSkipped(state: WorkflowState, id: string, nowMs: number, detail?: string): WorkflowState {
  const noted = withTransition(state, { event: 'phase-skipped', phase: id, visit: visitsOf(state, id), detail }, nowMs)
  return { ...noted, unfinished: { ...state.unfinished, [id]: 'skipped' }, skips: state.skips + 1 }
}

export function withBatch(state: WorkflowState, phase: Phase): WorkflowState {
  if (isPrompted(state) || state.stopRequestedMs !== undefined) return state
  const size = Math.min(phase.parallel, promptsLeft(state))
  const begun = new Set([...state.inWork, ...state.endedSteps].map(({ step }) => step))
  const joining: StepInWork[] = []
  for (let step = 0; step < state.totalSteps && state.inWork.length + joining.length < size; step++) {
    if (begun.has(step)) continue
    joining.push({ step, attempts: 0, maxAttempts: phase.maxStepAttempts, out: false, failure: undefined })
  }
  if (joining.length === 0) return state
  const inWork = [...state.inWork, ...joining].sort((one, other) => one.step - other.step)
  return withWork(state, inWork)
}

export function promptsLeft({ definition, prompts }: WorkflowState): number {
  return Math.max(0, (definition.maxPrompts ?? Number.POSITIVE_INFINITY) - prompts)
}

export function stepsOut({ inWork }: WorkflowState): readonly StepInWork[] {
  const out = inWork.filter((step) => step.out)
  return out.length === 0 ? inWork : out
}

export function isExhausted({ attempts, maxAttempts }: StepInWork): boolean {
  return attempts >= maxAttempts
}

/** Prefix of the reason of a stalled run. */
export const OUT_OF_BUDGET = 'the budget is used up'

/** Who must act next. `artifact`: path in the task folder. */
export function needOf(state: WorkflowState) {
  // A resume renews attempts, but no budget.
  const isOutOfBudget = state.why?.startsWith(OUT_OF_BUDGET) === true
  if (!state.active) return { kind: isResumable(state) && !isOutOfBudget ? 'resume' : 'nothing' } as const
  const { phase, wait, stopRequestedMs } = state
  if (needsApproval(state)) return { kind: 'approval', phase, artifact: currentPhase(state).artifact ?? '' } as const
  // The agent's next stop ends the run, even while it waits.
  if (stopRequestedMs !== undefined) return { kind: 'stop' } as const
  return wait === undefined ? ({ kind: 'prompt' } as const) : ({ kind: 'wait', wait } as const)
}

const RESUMABLE: readonly (RunOutcome | undefined)[] = ['stopped', 'stalled', 'failed']

export function isResumable({ active, outcome }: WorkflowState): boolean {
  return active || RESUMABLE.includes(outcome)
}

export function needsApproval({ active, approval }: Pick<WorkflowState, 'active' | 'approval'>): boolean {
  return active && approval?.standing === 'asked'
}

export function isRejected({ approval }: WorkflowState): boolean {
  return approval?.standing === 'rejected'
}

export function rejectedBecause(reason: string): string {
  return `a person rejected it: ${reason}`
}

export function tellsPrevious(state: WorkflowState): boolean {
  return !hasBegun(state) || isRejected(state)
}

/** The visit in the archived name of the previous artifact. */
export function visitPutAside(state: WorkflowState): number {
  return visitsOf(state, state.phase) - (isRejected(state) ? 0 : 1)
}

export function askForApproval(state: WorkflowState, nowMs: number): WorkflowState {
  const asked = withTransition(pauseClock(state, nowMs), { event: 'approval', ...where(state) }, nowMs)
  return { ...asked, stage: withdrawn(state), approval: { standing: 'asked', note: undefined } }
}

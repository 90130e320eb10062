import { counted } from '../../kernel/text.ts'
import { currentPhase, isInStep } from '../machine/position.ts'
import { isPrompted, visitsOf, type WorkflowState } from '../machine/state.ts'
import { type Definition, reachedFrom } from './definition.ts'
import { MAX_PHASE_STEPS } from './definition-limits.ts'
import { type Phase, targetsOf } from './phase-fields.ts'

export const MAX_INTERRUPTIONS = 3

export type ListedSteps = (phase: Phase) => number | undefined

const NO_LISTS: ListedSteps = () => undefined

export function definitionSize(definition: Definition, prompts: number, listed?: ListedSteps): string {
  const steps = stepCount(definition, listed)
  const known = steps === 0 || steps === undefined ? '' : `, ${counted(steps, 'step')}`
  const assumed = steps === undefined ? ` (steps not known yet count as ${MAX_PHASE_STEPS})` : ''
  return `${counted(definition.phases.length, 'phase')}${known}, at most ${counted(prompts, 'prompt')}${assumed}`
}

function stepCount({ phases }: Definition, listed: ListedSteps = NO_LISTS): number | undefined {
  return phases
    .map((phase) => stepsOf(phase, listed))
    .reduce<number | undefined>((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0)
}

function stepsOf(phase: Phase, listed: ListedSteps): number | undefined {
  if (phase.steps === undefined) return 0
  return phase.steps.kind === 'list' ? phase.steps.steps.length : listed(phase)
}

export function promptBound(definition: Definition, listed: ListedSteps = NO_LISTS): number {
  const [first] = definition.phases
  const left = (phase: Phase): number => phase.maxVisits - (phase === first ? 1 : 0)
  return capped(definition, visitBound(first, listed) + laterBound(definition, first, left, listed))
}

export function runBound(state: WorkflowState, listed: ListedSteps): number | undefined {
  if (!state.active) return undefined
  const { definition, prompts } = state
  const phase = currentPhase(state)
  const left = (one: Phase): number => Math.max(0, one.maxVisits + state.visitsGranted - visitsOf(state, one.id))
  return capped(definition, prompts + restOfVisit(state, phase, listed) + laterBound(definition, phase, left, listed))
}

function capped({ maxPrompts }: Definition, bound: number): number {
  return Math.min(bound, maxPrompts ?? bound)
}

function laterBound({ phases }: Definition, from: Phase, left: (phase: Phase) => number, listed: ListedSteps): number {
  const ways = new Map(phases.map(({ id, next }) => [id, targetsOf(next)]))
  const reached = reachedFrom(from.id, (id) => ways.get(id))
  return phases.reduce((sum, phase) => {
    const visits = reached.has(phase.id) ? left(phase) : 0
    return visits === 0 ? sum : sum + visits * visitBound(phase, listed)
  }, 0)
}

function visitBound(phase: Phase, listed: ListedSteps): number {
  const own = phase.artifact === undefined ? 0 : phase.maxAttempts
  return newSteps(phase, listed) * phase.maxStepAttempts + own + MAX_INTERRUPTIONS * phase.parallel
}

function newSteps(phase: Phase, listed: ListedSteps): number {
  const steps = stepsOf(phase, listed) ?? MAX_PHASE_STEPS
  return phase.steps?.kind === 'checklist' ? Math.max(1, steps) : steps
}

function restOfVisit(state: WorkflowState, phase: Phase, listed: ListedSteps): number {
  // An artifact that is waiting for approval, or was approved, is the result of this attempt.
  const isJudged = state.approval !== undefined && state.approval.standing !== 'rejected'
  const isOwnOut = isJudged || (isPrompted(state) && !isInStep(state))
  const own = phase.artifact === undefined ? 0 : state.maxPhaseAttempts - state.phaseAttempts - (isOwnOut ? 1 : 0)
  const repeats = (MAX_INTERRUPTIONS - state.interruptions) * phase.parallel
  return Math.max(0, restOfSteps(state, phase, listed)) + Math.max(0, own) + Math.max(0, repeats)
}

function restOfSteps({ stepsKnown, totalSteps, endedSteps, inWork }: WorkflowState, phase: Phase, listed: ListedSteps) {
  if (!stepsKnown) return newSteps(phase, listed) * phase.maxStepAttempts
  const unbegun = totalSteps - endedSteps.length - inWork.length
  return inWork.reduce(
    (sum, { attempts, maxAttempts, out }) => sum + Math.max(0, maxAttempts - attempts - (out ? 1 : 0)),
    unbegun * phase.maxStepAttempts,
  )
}

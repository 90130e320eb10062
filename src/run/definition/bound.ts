import { currentPhase, isInStep } from '../machine/position.ts'
import { visitsOf, type WorkflowState } from '../machine/state.ts'
import type { Definition } from './definition.ts'
import { MAX_PHASE_STEPS } from './definition-limits.ts'
import { reachedFrom } from './graph.ts'
import { targetsOf } from './next.ts'
import type { Phase } from './phase-fields.ts'

/**
 * The maximum number of prompts of a run. Every prompt is one attempt at a step, or at the phase, in one visit, or repeats an
 * attempt that was interrupted. A prompt that hands out several steps counts once for each of them.
 */

/** The maximum number of times in one visit that a prompt goes out again because it was interrupted. */
export const MAX_INTERRUPTIONS = 3

/** The number of steps that a phase takes from a file now; undefined without such a list. */
export type ListedSteps = (phase: Phase) => number | undefined

const NO_LISTS: ListedSteps = () => undefined

/** The number of steps of all phases; undefined if a list does not exist yet. */
export function stepCount({ phases }: Definition, listed: ListedSteps = NO_LISTS): number | undefined {
  const counts = phases.map((phase) => stepsOf(phase, listed))
  return counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
    0,
  )
}

function stepsOf(phase: Phase, listed: ListedSteps): number | undefined {
  if (phase.steps === undefined) return 0
  return phase.steps.kind === 'list' ? phase.steps.steps.length : listed(phase)
}

/** The maximum number of prompts between the start of a run and its end. Each `resume` may cost as many again. */
export function promptBound(definition: Definition, listed: ListedSteps = NO_LISTS): number {
  const [first] = definition.phases
  const left = (phase: Phase): number => phase.maxVisits - (phase === first ? 1 : 0)
  return capped(definition, visitBound(first, listed) + laterBound(definition, first, left, listed))
}

/**
 * The maximum number of prompts of a run that goes on: those so far, and those that can still follow. Undefined for one that
 * has ended. A list that grows later, and a person who resumes or retries, raise it.
 */
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

/** The prompts of all later visits. `left`: the number of times that a phase may still be entered. */
function laterBound(definition: Definition, from: Phase, left: (phase: Phase) => number, listed: ListedSteps): number {
  const { phases } = definition
  const indexes = new Map(phases.map(({ id }, index) => [id, index]))
  const edges = phases.map(({ next }) => targetsOf(next).flatMap((id) => indexes.get(id) ?? []))
  const reached = reachedFrom(edges, indexes.get(from.id) ?? 0)
  return phases.reduce((sum, phase, index) => {
    const visits = reached.has(index) ? left(phase) : 0
    return visits === 0 ? sum : sum + visits * visitBound(phase, listed)
  }, 0)
}

/** The maximum number of prompts in one visit of a phase. Steps that are not known yet count as the maximum. */
function visitBound(phase: Phase, listed: ListedSteps): number {
  const own = phase.artifact === undefined ? 0 : phase.maxAttempts
  return newSteps(phase, listed) * phase.maxStepAttempts + own + MAX_INTERRUPTIONS * phase.parallel
}

/** The steps of a visit that is to come. One to a checklist without open tasks has one step: the reason for it. */
function newSteps(phase: Phase, listed: ListedSteps): number {
  const steps = stepsOf(phase, listed) ?? MAX_PHASE_STEPS
  return phase.steps?.kind === 'checklist' ? Math.max(1, steps) : steps
}

/** The prompts that can still go out in the visit in progress. */
function restOfVisit(state: WorkflowState, phase: Phase, listed: ListedSteps): number {
  // An artifact that waits for a person, or was approved, is the result of this attempt.
  const isJudged = state.approval !== undefined && state.approval.standing !== 'rejected'
  const isOwnOut = isJudged || (state.prompted && !isInStep(state))
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

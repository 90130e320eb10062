import { counted } from '../../kernel/text.ts'
import { currentPhase, isInStep } from '../machine/position.ts'
import { isPrompted, newState, visitsOf, type WorkflowState } from '../machine/state.ts'
import { type Definition, reachedFrom } from './definition.ts'
import { MAX_PHASE_STEPS } from './definition-limits.ts'
import { type Phase, targetsOf } from './phase-fields.ts'

export const MAX_INTERRUPTIONS = 3

export type ListedSteps = (phase: Phase) => number | undefined
const NO_LISTS: ListedSteps = () => undefined

export function definitionSize({ phases }: Definition, prompts: number, listed = NO_LISTS): string {
  const counts = phases.map((phase) => stepsOf(phase, listed))
  const isKnown = !counts.includes(undefined)
  const steps = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  const known = isKnown && steps > 0 ? `, ${counted(steps, 'step')}` : ''
  const assumed = isKnown ? '' : ` (steps not known yet count as ${MAX_PHASE_STEPS})`
  return `${counted(phases.length, 'phase')}${known}, at most ${counted(prompts, 'prompt')}${assumed}`
}

function stepsOf(phase: Phase, listed: ListedSteps): number | undefined {
  if (phase.steps === undefined) return 0
  return phase.steps.kind === 'list' ? phase.steps.steps.length : listed(phase)
}

export function promptBound(definition: Definition, listed = NO_LISTS): number {
  const noSession = { parentSession: undefined, hostSession: undefined }
  return boundOf(newState(definition, { ...noSession, id: '', nowMs: 0 }), listed)
}

export function runBound(state: WorkflowState, listed: ListedSteps): number | undefined {
  return state.active ? boundOf(state, listed) : undefined
}

function boundOf(state: WorkflowState, listed: ListedSteps): number {
  const { phases, maxPrompts } = state.definition
  const current = currentPhase(state)
  const ways = new Map(phases.map(({ id, next }) => [id, targetsOf(next)]))
  const reached = reachedFrom(current.id, ways)
  let bound = state.prompts + restOfVisit(state, current, listed)
  for (const phase of phases) {
    const visits = reached.has(phase.id) ? phase.maxVisits + state.visitsGranted - visitsOf(state, phase.id) : 0
    if (visits > 0) bound += visits * visitBound(phase, listed)
  }
  return Math.min(bound, maxPrompts ?? bound)
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

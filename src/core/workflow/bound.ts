import type { Definition } from './definition.ts'
import { MAX_PHASE_STEPS } from './definition-limits.ts'
import type { Phase } from './phase-fields.ts'

/** How many prompts a run can cost at most: every prompt is one attempt of one step (or the phase) in one visit. */

/** Prompts that one visit of a phase can cost at most. Steps that are not known yet count as the most there can be. */
export function visitBound(phase: Phase): number {
  const steps = phase.steps === undefined ? 0 : phase.steps.kind === 'list' ? phase.steps.steps.length : MAX_PHASE_STEPS
  const own = phase.artifact === undefined ? 0 : phase.maxAttempts
  return steps * phase.maxStepAttempts + own
}

/** Prompts that the whole run can cost at most, between `start` and its end. Each `resume` may cost as many again. */
export function promptBound(definition: Definition): number {
  return definition.phases.reduce((sum, phase) => sum + phase.maxVisits * visitBound(phase), 0)
}

import type { Definition } from './definition.ts'
import { MAX_PHASE_STEPS } from './definition-limits.ts'
import type { Phase } from './phase-fields.ts'

/**
 * The maximum number of prompts of a run. Every prompt is one attempt at a step, or at the phase, in one visit, or repeats an
 * attempt that was interrupted. A prompt that hands out several steps counts once for each of them.
 */

/** The maximum number of times in one visit that a prompt goes out again because it was interrupted. */
export const MAX_INTERRUPTIONS = 3

/** The maximum number of prompts in one visit of a phase. Steps that are not known yet count as the maximum. */
export function visitBound(phase: Phase): number {
  const steps = phase.steps === undefined ? 0 : phase.steps.kind === 'list' ? phase.steps.steps.length : MAX_PHASE_STEPS
  const own = phase.artifact === undefined ? 0 : phase.maxAttempts
  return steps * phase.maxStepAttempts + own + MAX_INTERRUPTIONS * phase.parallel
}

/** The maximum number of prompts between the start of a run and its end. Each `resume` may cost as many again. */
export function promptBound(definition: Definition): number {
  const all = definition.phases.reduce((sum, phase) => sum + phase.maxVisits * visitBound(phase), 0)
  return Math.min(all, definition.maxPrompts ?? all)
}

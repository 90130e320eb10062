import { END } from './definition-limits.ts'
import { currentPhase, isInStep } from './machine.ts'
import type { ArtifactSeen } from './observation.ts'
import { isResumableOutcome } from './outcome.ts'
import type { Phase } from './phase-fields.ts'
import { enter, type WorkflowState, withTransition } from './state.ts'

/** What a person does to a run: ask it to stop, take it up again, end it. Pure. */

/** Asks a run to stop when the phase that runs is through. A second time changes nothing. */
export function requestStop(state: WorkflowState, nowMs: number): WorkflowState {
  if (!state.active || state.stopRequestedMs !== undefined) return state
  const asked = withTransition(state, { event: 'stop-request', phase: state.phase }, nowMs)
  return { ...asked, stopRequestedMs: nowMs }
}

/** Ends a run at once and for good, also one that stopped and could be taken up again. */
export function abortState(state: WorkflowState, nowMs: number): WorkflowState {
  if (!isResumable(state)) return state
  const ended = withTransition(state, { event: 'end', phase: state.phase, outcome: 'aborted' }, nowMs)
  return { ...ended, active: false, outcome: 'aborted', why: undefined, stopRequestedMs: undefined }
}

/** Ends a run at once, so that it can be taken up again. */
export function haltState(state: WorkflowState, why: string, nowMs: number): WorkflowState {
  if (!state.active) return state
  const ended = withTransition(state, { event: 'end', phase: state.phase, outcome: 'stopped', detail: why }, nowMs)
  return { ...ended, active: false, outcome: 'stopped', why, stopRequestedMs: undefined }
}

/** True when `resume` has something to do. */
export function isResumable(state: WorkflowState): boolean {
  return state.active || isResumableOutcome(state.outcome)
}

/** Who takes a run up; undefined is not known. */
interface Resumer {
  readonly parentSession: string | undefined
  readonly hostSession: string | undefined
}

/**
 * Takes a run up again, for another session or the one that it had; a stop request is forgotten. Attempts and visits
 * that were spent are not given back: the limit grows by what the definition allows, so that no archived attempt is
 * ever written over.
 */
export function resumeState(
  state: WorkflowState,
  who: Resumer,
  seen: { readonly nowMs: number; readonly artifact: ArtifactSeen },
): WorkflowState {
  const phase = currentPhase(state)
  const resumed: WorkflowState = {
    ...withTransition(state, { event: 'resume', phase: state.phase }, seen.nowMs),
    ...sessionsAfter(state, who),
    active: true,
    outcome: undefined,
    why: undefined,
    stopRequestedMs: undefined,
    // After a failure for want of visits, one more for whoever needs it.
    visitsGranted: state.visitsGranted + (state.outcome === 'failed' ? 1 : 0),
  }
  // The verdict that ended it lies there still, and would end it again: the phase is asked anew.
  if (state.outcome === 'failed' && endsOn(seen.artifact, phase)) return enter(resumed, phase, seen.nowMs)
  const stepsSpent = isInStep(state) && state.stepAttempts >= state.maxStepAttempts
  const phaseSpent = state.phaseAttempts >= state.maxPhaseAttempts
  return {
    ...resumed,
    maxStepAttempts: state.maxStepAttempts + (stepsSpent ? phase.maxStepAttempts : 0),
    maxPhaseAttempts: state.maxPhaseAttempts + (phaseSpent ? phase.maxAttempts : 0),
  }
}

/** Where no session is known the run stays with those it had: without any, no hook would drive it, and nobody be told. */
function sessionsAfter(state: WorkflowState, who: Resumer): Resumer {
  if (who.hostSession !== undefined) return who
  return { hostSession: state.hostSession, parentSession: who.parentSession ?? state.parentSession }
}

function endsOn(artifact: ArtifactSeen, { next }: Phase): boolean {
  return artifact.kind === 'valid' && artifact.verdict === 'fail' && next.fail === END
}

/**
 * The prompt that was out is out no more: it goes out again, as the same attempt. Said when a run was taken up by another
 * session and everything that the former one left has been looked at.
 */
export function promptAgain(state: WorkflowState): WorkflowState {
  return { ...state, prompted: false }
}

/** How often one prompt is given to those who had asked before it went out. */
export const MAX_REPEATS = 3

/**
 * True when whoever asks, since `askedMs`, had asked before the prompt that is out went out: it cannot have come back
 * with anything. That is so when a host runs the hook twice for one stop. No figure of seconds is needed: a later stop
 * comes from an agent that was given the prompt, so it is later than the prompt. A clock that was set back could make
 * it look earlier, hence the limit.
 */
export function hadAskedBefore(state: WorkflowState, askedMs: number): boolean {
  const { active, prompted, promptedMs, repeats } = state
  return active && prompted && promptedMs !== undefined && askedMs < promptedMs && repeats < MAX_REPEATS
}

/** The same prompt was given out once more. It is the same attempt. */
export function repeatPrompt(state: WorkflowState): WorkflowState {
  return { ...state, repeats: state.repeats + 1 }
}

import { END } from '../definition/definition-limits.ts'
import { isFailing, type Phase } from '../definition/phase-fields.ts'
import type { ArtifactSeen } from './observation.ts'
import { currentPhase, isResumable, isSpent, needsApproval } from './position.ts'
import {
  end,
  enter,
  isPrompted,
  limitGranted,
  pauseClock,
  type Runner,
  type WorkflowState,
  withdrawn,
  withTransition,
} from './state.ts'

/** A person's changes to a run: stop, resume, abort, accept its end. Pure. */

export function requestStop(state: WorkflowState, nowMs: number): WorkflowState {
  if (!state.active || state.stopRequestedMs !== undefined) return state
  const asked = withTransition(state, { event: 'stop-request', phase: state.phase }, nowMs)
  return { ...asked, stopRequestedMs: nowMs }
}

export function abortState(state: WorkflowState, nowMs: number): WorkflowState {
  if (!isResumable(state)) return state
  return end(state, 'aborted', nowMs)
}

export function settleState(state: WorkflowState): WorkflowState {
  const isDone = state.outcome === 'completed' && state.skips === 0
  return state.active || state.settled || isDone ? state : { ...state, settled: true }
}

export function haltState(state: WorkflowState, why: string, nowMs: number): WorkflowState {
  return state.active ? end(state, 'stopped', nowMs, why) : state
}

/** Makes a released run resumable here again. */
export function returnState(state: WorkflowState, why: string, nowMs: number): WorkflowState {
  const returned = { event: 'end', phase: state.phase, outcome: 'stopped', detail: why } as const
  return { ...withTransition(state, returned, nowMs), outcome: 'stopped', why }
}

/** Raises limits instead of resetting counts, so that no archived attempt is overwritten. */
export function resumeState(
  state: WorkflowState,
  who: Runner,
  seen: { readonly nowMs: number; readonly artifact: ArtifactSeen },
): WorkflowState {
  const phase = currentPhase(state)
  const resumed: WorkflowState = {
    // The client may have ended after the last transition.
    ...withTransition(pauseClock(state, state.updatedMs), { event: 'resume', phase: state.phase }, seen.nowMs),
    ...sessionsAfter(state, who),
    active: true,
    outcome: undefined,
    why: undefined,
    settled: false,
    stopRequestedMs: undefined,
    wait: undefined,
    clockSinceMs: needsApproval({ ...state, active: true }) ? undefined : seen.nowMs,
    // A run that used up its visits may enter each phase once more.
    visitsGranted: state.visitsGranted + (state.outcome === 'failed' ? 1 : 0),
  }
  // The verdict still exists and would end the run again.
  if (state.outcome === 'failed' && seen.artifact.kind === 'valid' && endsOn(seen.artifact.verdict, phase)) {
    const { verdict, reason } = seen.artifact
    return limitGranted(enter(resumed, phase, seen.nowMs, { phase: phase.id, verdict, reason }))
  }
  const inWork = state.inWork.map((step) =>
    !state.active && isSpent(step) ? { ...step, maxAttempts: step.maxAttempts + phase.maxStepAttempts } : step,
  )
  const phaseSpent = state.phaseAttempts >= state.maxPhaseAttempts
  const maxPhaseAttempts = state.maxPhaseAttempts + (phaseSpent ? phase.maxAttempts : 0)
  return limitGranted({ ...resumed, inWork, maxPhaseAttempts })
}

/** No hook drives a run without a session. */
function sessionsAfter(state: WorkflowState, who: Runner): Runner {
  if (who.hostSession !== undefined) return who
  return { hostSession: state.hostSession, parentSession: who.parentSession ?? state.parentSession }
}

function endsOn(verdict: string | undefined, { next }: Phase): boolean {
  return isFailing(next, verdict) && next.fail === END
}

/** The same attempt again, for a run that another session resumed. */
export function promptAgain(state: WorkflowState): WorkflowState {
  return { ...state, stage: withdrawn(state), inWork: state.inWork.map((step) => ({ ...step, out: false })) }
}

export const MAX_REPEATS = 3

/**
 * Whether the request is older than the current prompt: a host may run the hook twice for one stop. No tolerance is
 * needed: the agent stops after it got the prompt. `MAX_REPEATS` protects against a clock that was set back.
 */
export function hadAskedBefore(state: WorkflowState, startMs: number): boolean {
  const { active, promptedMs, repeats } = state
  return active && isPrompted(state) && promptedMs !== undefined && startMs < promptedMs && repeats < MAX_REPEATS
}

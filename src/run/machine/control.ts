import { END } from '../definition/definition-limits.ts'
import { isFailing } from '../definition/next.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { awaitsApproval, isResumable } from './need.ts'
import type { ArtifactSeen } from './observation.ts'
import { currentPhase, isSpent } from './position.ts'
import { enter, pauseClock, type WorkflowState, withTransition } from './state.ts'

/** The commands of a person to a run: stop, resume, abort, settle. Pure. */

/**
 * The state of a run that sends no further prompt, and stops when the work on the last one has been judged. A second
 * request changes nothing.
 */
export function requestStop(state: WorkflowState, nowMs: number): WorkflowState {
  if (!state.active || state.stopRequestedMs !== undefined) return state
  const asked = withTransition(state, { event: 'stop-request', phase: state.phase }, nowMs)
  return { ...asked, stopRequestedMs: nowMs }
}

/** The state of a run that ended at once and for good. A run that could have been resumed can be aborted too. */
export function abortState(state: WorkflowState, nowMs: number): WorkflowState {
  if (!isResumable(state)) return state
  const ended = withTransition(
    pauseClock(state, nowMs),
    { event: 'end', phase: state.phase, outcome: 'aborted' },
    nowMs,
  )
  return { ...ended, active: false, outcome: 'aborted', why: undefined, stopRequestedMs: undefined }
}

/**
 * The state of an ended run that a person has settled: it no longer counts as unfinished. The same state for a run that goes
 * on or was completed without gaps.
 */
export function settleState(state: WorkflowState): WorkflowState {
  const isDone = state.outcome === 'completed' && state.skips === 0
  return state.active || state.settled || isDone ? state : { ...state, settled: true }
}

/** The state of a run that ended at once, but can be resumed. */
export function haltState(state: WorkflowState, why: string, nowMs: number): WorkflowState {
  if (!state.active) return state
  const stopped = { event: 'end', phase: state.phase, outcome: 'stopped', detail: why } as const
  const ended = withTransition(pauseClock(state, nowMs), stopped, nowMs)
  return { ...ended, active: false, outcome: 'stopped', why, stopRequestedMs: undefined }
}

/** The sessions that resume a run; undefined if unknown. */
interface Resumer {
  readonly parentSession: string | undefined
  readonly hostSession: string | undefined
}

/**
 * The state of a resumed run, for another session or the same one. A stop request and a wait are dropped. Spent attempts and visits
 * stay counted, and the limits grow by those of the definition, so that no archived attempt is overwritten.
 */
export function resumeState(
  state: WorkflowState,
  who: Resumer,
  seen: { readonly nowMs: number; readonly artifact: ArtifactSeen },
): WorkflowState {
  const phase = currentPhase(state)
  const resumed: WorkflowState = {
    // If a run lost its client, only the time until its last transition counts as work.
    ...withTransition(pauseClock(state, state.updatedMs), { event: 'resume', phase: state.phase }, seen.nowMs),
    ...sessionsAfter(state, who),
    active: true,
    outcome: undefined,
    why: undefined,
    settled: false,
    stopRequestedMs: undefined,
    wait: undefined,
    clockSinceMs: awaitsApproval({ ...state, active: true }) ? undefined : seen.nowMs,
    // After a run that failed because its visits were spent, each phase may be entered once more.
    visitsGranted: state.visitsGranted + (state.outcome === 'failed' ? 1 : 0),
  }
  // The verdict that ended the run still exists and would end it again, so the phase is entered again.
  if (state.outcome === 'failed' && seen.artifact.kind === 'valid' && endsOn(seen.artifact.verdict, phase)) {
    const { verdict, reason } = seen.artifact
    return enter(resumed, phase, seen.nowMs, { phase: phase.id, verdict, reason })
  }
  const inWork = state.inWork.map((step) =>
    !state.active && isSpent(step) ? { ...step, maxAttempts: step.maxAttempts + phase.maxStepAttempts } : step,
  )
  const phaseSpent = state.phaseAttempts >= state.maxPhaseAttempts
  return {
    ...resumed,
    inWork,
    maxPhaseAttempts: state.maxPhaseAttempts + (phaseSpent ? phase.maxAttempts : 0),
  }
}

/** The sessions after a resume. If the new one is unknown, the run keeps its own: no hook drives a run without one. */
function sessionsAfter(state: WorkflowState, who: Resumer): Resumer {
  if (who.hostSession !== undefined) return who
  return { hostSession: state.hostSession, parentSession: who.parentSession ?? state.parentSession }
}

function endsOn(verdict: string | undefined, { next }: Phase): boolean {
  return isFailing(next, verdict) && next.fail === END
}

/**
 * The state of a run whose current prompt will be given out again, as the same attempt. This is for a run that another
 * session resumed, after the results of the previous session have been checked.
 */
export function promptAgain(state: WorkflowState): WorkflowState {
  return { ...state, prompted: false, inWork: state.inWork.map((step) => ({ ...step, out: false })) }
}

/** The maximum number of times that one prompt is repeated for requests from before it went out. */
export const MAX_REPEATS = 3

/**
 * True for a request, made at `startMs`, from before the current prompt went out: it cannot bring a result of that prompt.
 * This happens if a host runs the hook twice for one stop. No tolerance in seconds is needed, because an agent that was
 * given the prompt stops after it. A clock that was set back could make that stop look earlier, hence the limit.
 */
export function hadAskedBefore(state: WorkflowState, startMs: number): boolean {
  const { active, prompted, promptedMs, repeats } = state
  return active && prompted && promptedMs !== undefined && startMs < promptedMs && repeats < MAX_REPEATS
}

/** The state after the current prompt was repeated. It is the same attempt. */
export function repeatPrompt(state: WorkflowState): WorkflowState {
  return { ...state, repeats: state.repeats + 1 }
}

import type { Wait } from '../../marker/marker-wait.ts'
import { isResumableOutcome } from './history.ts'
import { currentPhase, where } from './position.ts'
import { pauseClock, visitsOf, type WorkflowState, withTransition } from './state.ts'

/** What a run needs, above all a person's approval: while it waits for that, nothing is counted and no prompt goes out. */

/** What a run needs to go on. */
type Need =
  /** A person must approve the artifact, a path in the task folder. */
  | { readonly kind: 'approval'; readonly phase: string; readonly artifact: string }
  /** It was asked to stop: its agent's next stop judges the work, and ends it, also while it waits. */
  | { readonly kind: 'stop' }
  /** What its agent announced that it waits for. */
  | { readonly kind: 'wait'; readonly wait: Wait }
  /** Its agent's work, and the next prompt after that. */
  | { readonly kind: 'prompt' }
  /** It has ended, and can be resumed. */
  | { readonly kind: 'resume' }
  | { readonly kind: 'nothing' }

/** What the run needs now: every driver and every view asks this. Whether a check is due, `checkStanding` says. */
export function needOf(state: WorkflowState): Need {
  if (!state.active) return { kind: isResumable(state) ? 'resume' : 'nothing' }
  const { phase, wait, stopRequestedMs } = state
  if (awaitsApproval(state)) return { kind: 'approval', phase, artifact: currentPhase(state).artifact ?? '' }
  if (stopRequestedMs !== undefined) return { kind: 'stop' }
  return wait === undefined ? { kind: 'prompt' } : { kind: 'wait', wait }
}

/** True for a run that can be resumed. */
export function isResumable(state: WorkflowState): boolean {
  return state.active || isResumableOutcome(state.outcome)
}

/** True while the run waits for a person. */
export function awaitsApproval({ active, approval }: Pick<WorkflowState, 'active' | 'approval'>): boolean {
  return active && approval?.standing === 'asked'
}

/** True after a person rejected the artifact, until the agent is asked for another one. */
function isRejected({ approval }: WorkflowState): boolean {
  return approval?.standing === 'rejected'
}

/** True if the next prompt says where the previous artifact lies now. */
export function tellsPrevious(state: WorkflowState): boolean {
  return !state.begun || isRejected(state)
}

/** The visit under whose number the previous artifact is put aside: the last one, or after a rejection this one. */
export function visitPutAside(state: WorkflowState): number {
  return visitsOf(state, state.phase) - (isRejected(state) ? 0 : 1)
}

/** The state of a run that waits for the approval of its valid artifact. */
export function askForApproval(state: WorkflowState, nowMs: number): WorkflowState {
  const asked = withTransition(pauseClock(state, nowMs), { event: 'approval', ...where(state) }, nowMs)
  return { ...asked, prompted: false, approval: { standing: 'asked', note: undefined } }
}

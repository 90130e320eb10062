import type { Wait } from '../../marker/marker-wait.ts'
import { isResumableOutcome } from './history.ts'
import { currentPhase, where } from './position.ts'
import { hasBegun, pauseClock, visitsOf, type WorkflowState, withdrawn, withTransition } from './state.ts'

/** What a run needs. While a person must approve, nothing is counted and no prompt is sent. */

type Need =
  /** `artifact`: a path in the task folder. */
  | { readonly kind: 'approval'; readonly phase: string; readonly artifact: string }
  /** The agent's next stop ends the run, even while it waits. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'wait'; readonly wait: Wait }
  | { readonly kind: 'prompt' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'nothing' }

export function needOf(state: WorkflowState): Need {
  if (!state.active) return { kind: isResumable(state) ? 'resume' : 'nothing' }
  const { phase, wait, stopRequestedMs } = state
  if (awaitsApproval(state)) return { kind: 'approval', phase, artifact: currentPhase(state).artifact ?? '' }
  if (stopRequestedMs !== undefined) return { kind: 'stop' }
  return wait === undefined ? { kind: 'prompt' } : { kind: 'wait', wait }
}

export function isResumable(state: WorkflowState): boolean {
  return state.active || isResumableOutcome(state.outcome)
}

export function awaitsApproval({ active, approval }: Pick<WorkflowState, 'active' | 'approval'>): boolean {
  return active && approval?.standing === 'asked'
}

function isRejected({ approval }: WorkflowState): boolean {
  return approval?.standing === 'rejected'
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

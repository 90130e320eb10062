import { where } from './position.ts'
import { pauseClock, visitsOf, type WorkflowState, withTransition } from './state.ts'

/** The approval of an artifact by a person: while a run waits for it, nothing is counted and no prompt goes out. */

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

import { pauseClock } from './clock.ts'
import { where } from './position.ts'
import { type WorkflowState, withTransition } from './state.ts'

/** The approval of an artifact by a person: while a run waits for it, nothing is counted and no prompt goes out. */

/** True while the run waits for a person. */
export function awaitsApproval({ active, approval }: Pick<WorkflowState, 'active' | 'approval'>): boolean {
  return active && approval?.standing === 'asked'
}

/** The state of a run that waits for the approval of its valid artifact. */
export function askForApproval(state: WorkflowState, nowMs: number): WorkflowState {
  const asked = withTransition(pauseClock(state, nowMs), { event: 'approval', ...where(state) }, nowMs)
  return { ...asked, prompted: false, approval: { standing: 'asked', note: undefined } }
}

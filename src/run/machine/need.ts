import type { Wait } from '../../marker/wait.ts'
import { awaitsApproval } from './approval.ts'
import { isResumable } from './control.ts'
import { currentPhase } from './position.ts'
import type { WorkflowState } from './state.ts'

/** What a run needs to go on. */
export type Need =
  /** A person must approve the artifact, a path in the task folder. */
  | { readonly kind: 'approval'; readonly phase: string; readonly artifact: string }
  /** What its agent announced that it waits for. */
  | { readonly kind: 'wait'; readonly wait: Wait }
  /** It was asked to stop: its agent's next stop judges the work, and ends it. */
  | { readonly kind: 'stop' }
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
  if (wait !== undefined) return { kind: 'wait', wait }
  return { kind: stopRequestedMs === undefined ? 'prompt' : 'stop' }
}

import { endedWait, parseWait, stampedWait, type Wait, type WaitEvent, waitStateAt } from '../wait.ts'
import type { Observation } from './observation.ts'
import type { WorkflowState } from './state.ts'

/** Judges what a stop of the session means for the prompt that is out (docs/design.md, "Workflows"). Pure. */

/** A stop of an agent of the run's session. */
export interface AgentStop {
  /** True for a stop of the main conversation. */
  readonly isMain: boolean
  /** True if the work of the prompt may be judged and the next prompt may go out. */
  readonly isNext: boolean
  /** The host's id of the prompt that is answered. */
  readonly promptId: string | undefined
  /** True if the stop follows a block in the same chain; undefined if the host does not say. */
  readonly followsBlock: boolean | undefined
  /** The ids of the shells that run in the background. */
  readonly shells: readonly string[]
  /** The start of the hook (ms since the epoch). */
  readonly startMs: number
}

/** How to observe a stop. */
export interface JudgedStop {
  /** The state to write first, which notes the stop. */
  readonly state: WorkflowState
  readonly looking: Pick<Observation, 'returned' | 'takes' | 'interrupted' | 'promptId' | 'shells' | 'mayPrompt'>
  /** True if the agent is asked whether it is waiting, unless its result passes. */
  readonly asks: boolean
}

const LOOKS_ONLY = { returned: false, takes: 'passing', mayPrompt: false } as const

/** Judges a stop, before the results are observed. */
export function judgeAgentStop(start: WorkflowState, stop: AgentStop, nowMs: number): JudgedStop {
  if (!stop.isMain || !start.active) return { state: start, looking: LOOKS_ONLY, asks: false }
  const { promptId, shells } = stop
  const { state, isWaiting } = settleWait(start, { prompt: promptId, startMs: stop.startMs }, nowMs)
  const noted = state.prompted && !state.cameBack ? { ...state, cameBack: true } : state
  if (isWaiting || !stop.isNext) return { state: noted, looking: LOOKS_ONLY, asks: false }
  const canGoOn = { mayPrompt: true, promptId, shells }
  if (state.prompted && shells.some((id) => !state.shells.includes(id))) {
    // An agent that was asked and goes on has finished its result: a shell that runs a server would never end.
    const takes = state.askedToWait ? 'complete' : 'passing'
    return { state: noted, looking: { ...canGoOn, returned: false, takes }, asks: !state.askedToWait }
  }
  return { state: noted, looking: { ...canGoOn, returned: true, interrupted: isInterrupted(state, stop) }, asks: false }
}

/**
 * True if the prompt that is out did not reach the agent, or the user interrupted it: the first stop since then belongs to
 * another prompt of the user and follows no block. On a host without ids of prompts that is not known.
 */
function isInterrupted({ cameBack, promptId }: WorkflowState, stop: AgentStop): boolean {
  if (cameBack || stop.followsBlock !== false) return false
  return promptId !== undefined && stop.promptId !== undefined && stop.promptId !== promptId
}

/** The state at an event of its session, with its wait stamped, or removed where it is over. */
export function settleWait(
  state: WorkflowState,
  event: WaitEvent,
  nowMs: number,
): { readonly state: WorkflowState; readonly isWaiting: boolean } {
  const { wait } = state
  if (wait === undefined) return { state, isWaiting: false }
  const standing = waitStateAt(wait, event)
  if (standing === 'stands') return { state, isWaiting: true }
  if (standing === 'begins') return { state: stampedRunWait(state, wait, event.prompt, nowMs), isWaiting: true }
  return { state: endWaitOf(state, wait), isWaiting: false }
}

/**
 * The state after a shell command of the run's session: a wait that the command announced begins at the command's prompt. A
 * sub-agent's announcement is dropped, because its stop ends it.
 */
export function afterCommand(
  state: WorkflowState,
  {
    isMain,
    announces,
    promptId,
  }: { readonly isMain: boolean; readonly announces: boolean; readonly promptId: string | undefined },
  nowMs: number,
): WorkflowState {
  const { wait } = state
  const standing = waitStateAt(wait, { prompt: promptId, startMs: undefined })
  if (wait === undefined || standing === 'stands') return state
  if (standing === 'over' ? isMain : announces && !isMain) return endWaitOf(state, wait)
  if (standing === 'over') return state
  return announces && promptId !== undefined ? stampedRunWait(state, wait, promptId, nowMs) : state
}

function stampedRunWait(state: WorkflowState, wait: Wait, promptId: string | undefined, nowMs: number): WorkflowState {
  return { ...state, wait: parseWait(stampedWait(wait, promptId, nowMs).wait) }
}

/** The state without its wait, which is over. */
export function endWaitOf(state: WorkflowState, wait: Wait): WorkflowState {
  const { waits } = endedWait(wait) as { readonly waits: number | undefined }
  return { ...state, wait: undefined, waits: waits ?? 0 }
}

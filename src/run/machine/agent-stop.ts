import { endedWait, parseWait, stampedWait, type Wait, type WaitEvent, waitStateAt } from '../../marker/wait.ts'
import type { Observation } from './observation.ts'
import { pauseClock, type WorkflowState } from './state.ts'

/** Judges what a stop of the session means for the prompt that is out (docs/design.md, "Workflows"). Pure. */

/** A stop of an agent of the run's session. */
export interface AgentStop {
  /** True for a stop of the main conversation. */
  readonly isMain: boolean
  /** True if the work of the prompt may be judged and the next prompt may go out. */
  readonly isNext: boolean
  /** True if something else blocks this stop, so that the agent goes on. */
  readonly isBlocked: boolean
  /** The host's id of the prompt that is answered. */
  readonly promptId: string | undefined
  /** True if the stop follows a block in the same chain; undefined if the host does not say. */
  readonly followsBlock: boolean | undefined
  /** The ids of the shells that run in the background. */
  readonly shells: readonly string[]
  /** The start of the hook, or the time of the event (ms since the epoch). */
  readonly startMs: number
  /** True if nobody works on the prompt that is out, unless its agent has stopped: its client has ended. */
  readonly isLost?: boolean
}

/** How to observe a stop. */
export interface JudgedStop {
  /** The state to write first, which notes the stop. */
  readonly state: WorkflowState
  readonly looking: Pick<Observation, 'returned' | 'takes' | 'interrupted' | 'promptId' | 'shells' | 'mayPrompt'>
  /** True if the agent is asked whether it is waiting, unless its result passes. */
  readonly asks: boolean
  /** True if the person interrupted the prompt that is out: this stop is allowed, unless a result is there. */
  readonly hears: boolean
  /** The wait that allows this stop. */
  readonly wait: Wait | undefined
}

/** Passing results count, nothing else does, and no prompt goes out. */
const ONLY_LOOKED_AT = {
  ...{ asks: false, hears: false, wait: undefined },
  looking: { returned: false, takes: 'passing', mayPrompt: false },
} as const

/** Judges a stop, before the results are observed. */
export function judgeAgentStop(start: WorkflowState, stop: AgentStop, nowMs: number): JudgedStop {
  if (!stop.isMain || !start.active) return { state: start, ...ONLY_LOOKED_AT }
  const { promptId, shells } = stop
  const { state: settled, isWaiting } = settleWait(start, { prompt: promptId, startMs: stop.startMs }, nowMs)
  const state = noteStop(settled, stop)
  if (isWaiting || !stop.isNext) return { ...ONLY_LOOKED_AT, state, wait: isWaiting ? state.wait : undefined }
  const plain = { state, asks: false, hears: false, wait: undefined }
  const canGoOn = { mayPrompt: true, promptId, shells }
  const isStopping = state.stopRequestedMs !== undefined
  const isAnswered = state.prompted && wasInterrupted(state, stop)
  if (isAnswered && promptId === state.heardPromptId && !isStopping) {
    return { ...plain, looking: { ...canGoOn, returned: false, takes: 'complete' }, hears: true }
  }
  const isBuilding = state.prompted && shells.some((id) => !state.shells.includes(id))
  if (isBuilding && !isStopping) {
    // An agent that was asked and goes on has finished its result: a shell that runs a server would never end.
    const takes = state.askedToWait ? 'complete' : 'passing'
    return { ...plain, looking: { ...canGoOn, returned: false, takes }, asks: !state.askedToWait }
  }
  const isLost = stop.isLost === true && state.prompted && !start.cameBack
  const looking = { ...canGoOn, returned: true, interrupted: isAnswered || isBuilding || isLost }
  return { ...plain, state: isLost ? withoutIdleTime(state, nowMs) : state, looking }
}

/** The state of a run that lost its client: only the time until its last transition counts as work. */
export function withoutIdleTime(state: WorkflowState, nowMs: number): WorkflowState {
  return { ...pauseClock(state, state.updatedMs), clockSinceMs: nowMs }
}

/**
 * The state after a stop of the main conversation. If the prompt that is out did not reach the agent, or the person
 * interrupted it, the first stop since then belongs to another prompt of the person and follows no block: they are heard.
 * On a host without ids of prompts that is not known. Nor is a person heard whose stop is let go for background work:
 * its end wakes the agent when they may be away.
 */
function noteStop(state: WorkflowState, stop: AgentStop): WorkflowState {
  if (!state.prompted || state.cameBack || stop.promptId === undefined) return state
  const isHeard = state.heardPromptId === undefined && stop.followsBlock === false && (stop.isNext || stop.isBlocked)
  const isOther = state.promptId !== undefined && stop.promptId !== undefined && stop.promptId !== state.promptId
  return { ...state, cameBack: true, ...(isHeard && isOther && { heardPromptId: stop.promptId }) }
}

/** True for a stop of another prompt of the person after they interrupted the prompt that is out. */
function wasInterrupted({ heardPromptId, promptId }: WorkflowState, stop: AgentStop): boolean {
  return heardPromptId !== undefined && stop.promptId !== undefined && stop.promptId !== promptId
}

/**
 * The state after its session has started again: a wait is over, and a prompt that is out goes out again at the first stop
 * of another prompt. That may be nobody's: a restart must not let a run rest until the person writes.
 */
export function afterSessionStart(state: WorkflowState): WorkflowState {
  const awake = state.wait === undefined ? state : endWaitOf(state, state.wait)
  const { prompted, cameBack, heardPromptId, promptId } = awake
  return prompted && !cameBack && heardPromptId !== promptId ? { ...awake, heardPromptId: promptId } : awake
}

/**
 * True if the agent has nothing to do for the run: no prompt is out, or it waits, or the person interrupted it. After a start
 * of the session that is not known: the client may run the turn again.
 */
export function isIdle({ prompted, wait, heardPromptId, promptId }: WorkflowState): boolean {
  return !prompted || wait !== undefined || (heardPromptId !== undefined && heardPromptId !== promptId)
}

/** True if the run waits at an event of its session. */
export function isWaitingAt(
  { wait }: WorkflowState,
  { promptId, startMs }: Pick<AgentStop, 'promptId' | 'startMs'>,
): boolean {
  return ['begins', 'stands'].includes(waitStateAt(wait, { prompt: promptId, startMs }))
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

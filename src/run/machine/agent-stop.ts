import { judgeWait, type SessionEvent, type Wait } from '../../marker/marker-wait.ts'
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
  const state = noteStop(afterWaitEvent(start, stopEvent(stop), nowMs), stop)
  if (state.wait !== undefined || !stop.isNext) return { ...ONLY_LOOKED_AT, state, wait: state.wait }
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
  const awake = afterWaitEvent(state, { kind: 'session-start' }, 0)
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

/** The state after an event of its session: its wait stamped, or removed where it is over. */
export function afterWaitEvent(state: WorkflowState, event: SessionEvent, nowMs: number): WorkflowState {
  const verdict = state.wait && judgeWait(state.wait, event, nowMs)
  if (verdict === undefined || verdict.kind === 'stays') return state
  return verdict.kind === 'begins'
    ? { ...state, wait: verdict.wait }
    : { ...state, wait: undefined, waits: verdict.waits }
}

/** A stop of the main conversation, as the rule of waits reads it. */
export function stopEvent({ promptId, startMs }: Pick<AgentStop, 'promptId' | 'startMs'>): SessionEvent {
  return { kind: 'stop', isMain: true, prompt: promptId, startMs }
}

import { judgeWait, type SessionEvent } from '../../marker/marker-wait.ts'
import type { StopCircumstances } from './observation.ts'
import { isPrompted, pauseClock, type WorkflowState } from './state.ts'

/** Judges a stop of the session (docs/design.md, "Workflows"). Pure. */

export interface AgentStop {
  readonly isMain: boolean
  readonly isNext: boolean
  /** Whether something else blocks this stop. */
  readonly isBlocked: boolean
  readonly promptId: string | undefined
  /** Whether the stop follows a block in the same chain; undefined if the host does not say. */
  readonly followsBlock: boolean | undefined
  readonly shells: readonly string[]
  /** Start of the hook, or time of the event (ms since the epoch). */
  readonly startMs: number
  /** Whether it is the call of a tool that ends the turn. */
  readonly isCall?: boolean
  /** Whether the client has ended. */
  readonly isLost?: boolean
}

const ONLY_OBSERVES = { returned: false, takes: 'passing', mayPrompt: false } as const

/**
 * `asks`: whether to ask the agent if it is waiting, unless its result passes. `hears`: whether the person interrupted the
 * current prompt, which allows the stop, unless there is a result.
 */
export function judgeAgentStop(start: WorkflowState, stop: AgentStop, nowMs: number) {
  const plain = { asks: false, hears: false, wait: undefined, circumstances: ONLY_OBSERVES }
  if (!stop.isMain || !start.active) return { ...plain, state: start }
  const { promptId, shells } = stop
  const kind = stop.isCall === true ? 'call' : 'stop'
  const awake = afterWaitEvent(start, { kind, isMain: true, prompt: promptId, startMs: stop.startMs }, nowMs)
  const state = noteStop(awake, stop)
  if (state.wait !== undefined || !stop.isNext) return { ...plain, state, wait: state.wait }
  const canGoOn = { mayPrompt: true, promptId, shells }
  const isStopping = state.stopRequestedMs !== undefined
  const { heardPromptId } = state
  const isOther = promptId !== undefined && promptId !== state.promptId
  const isAnswered = isPrompted(state) && heardPromptId !== undefined && isOther
  if (isAnswered && promptId === heardPromptId && !isStopping) {
    return { ...plain, state, circumstances: { ...canGoOn, returned: false, takes: 'complete' as const }, hears: true }
  }
  const isBuilding = isPrompted(state) && shells.some((id) => !state.shells.includes(id))
  if (isBuilding && !isStopping) {
    // If the agent continues after the question, its result is complete: a shell with a server would never end.
    const takes: StopCircumstances['takes'] = state.askedToWait ? 'complete' : 'passing'
    return { ...plain, state, circumstances: { ...canGoOn, returned: false, takes }, asks: !state.askedToWait }
  }
  const isLost = stop.isLost === true && start.stage === 'prompted'
  const circumstances = { ...canGoOn, returned: true, interrupted: isAnswered || isBuilding || isLost }
  // A lost client was gone after the last transition.
  const counted = isLost ? { ...pauseClock(state, state.updatedMs), clockSinceMs: nowMs } : state
  return { ...plain, state: counted, circumstances }
}

/**
 * Notes that the agent answers another prompt of the person. Unknown on hosts without prompt ids. A stop during
 * background work does not count: the end of that work wakes the agent, perhaps while the person is away.
 */
function noteStop(state: WorkflowState, stop: AgentStop): WorkflowState {
  if (state.stage !== 'prompted' || stop.promptId === undefined) return state
  const isOther = state.promptId !== undefined && stop.promptId !== state.promptId
  const isInterrupted = state.heardPromptId === undefined && stop.followsBlock === false && isOther
  // At the next stop the prompt goes out again.
  const heardPromptId = stop.isNext || stop.isBlocked ? stop.promptId : state.promptId
  return { ...state, stage: 'came-back', ...(isInterrupted && { heardPromptId }) }
}

/** The next stop of another prompt repeats the current one: after a restart, a run must not wait for the person. */
export function afterSessionStart(state: WorkflowState): WorkflowState {
  const awake = afterWaitEvent(state, { kind: 'session-start' }, 0)
  const { stage, heardPromptId, promptId } = awake
  return stage === 'prompted' && heardPromptId !== promptId ? { ...awake, heardPromptId: promptId } : awake
}

/** Unknown after a session start: the client may repeat the turn. */
export function isIdle(state: WorkflowState): boolean {
  const { wait, heardPromptId, promptId } = state
  return !isPrompted(state) || wait !== undefined || (heardPromptId !== undefined && heardPromptId !== promptId)
}

export function afterWaitEvent(state: WorkflowState, event: SessionEvent, nowMs: number): WorkflowState {
  const verdict = state.wait && judgeWait(state.wait, event, nowMs)
  if (verdict === undefined || verdict.kind === 'stays') return state
  if (verdict.kind === 'begins') return { ...state, wait: verdict.wait }
  return { ...state, wait: undefined, waits: verdict.waits }
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

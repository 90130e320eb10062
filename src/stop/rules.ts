import type { Payload } from '../hosts/host.ts'
import { MAIN_AGENT } from '../hosts/host.ts'
import type { Marker } from '../marker/marker.ts'
import { type FileTimes, isExpired, isFromBefore, isUnowned } from '../marker/stored-marker.ts'
import { type WaitState, waitStateAt } from '../marker/wait.ts'

/** The rules that decide whether a marker blocks a stop: the table of docs/design.md, "Stops", row by row. */

/** The rules with their rows in the table. */
export const RULES = {
  bypassed: { row: 1, answer: 'allow' },
  'other-session': { row: 2, answer: 'allow' },
  'unowned-stop': { row: 3, answer: 'allow' },
  expired: { row: 4, answer: 'allow' },
  'before-session': { row: '4a', answer: 'allow' },
  'other-agent': { row: 5, answer: 'allow' },
  background: { row: 6, answer: 'allow' },
  waiting: { row: '6a', answer: 'allow' },
  capped: { row: 7, answer: 'allow' },
  block: { row: 8, answer: 'block' },
} as const

export type Rule = keyof typeof RULES

/** The result of the rules that do not need the count (rows 1 to 6a). For `owed`, row 7 or 8 applies. */
export type Ownership = Exclude<Rule, 'capped' | 'block'> | 'owed'

/** A stop to judge. */
export interface Stop {
  readonly payload: Payload
  /** The time of the stop in ms since the epoch. */
  readonly nowMs: number
  /** The beginning of the payload's session in ms since the epoch; undefined if unknown. */
  readonly sessionBornMs: number | undefined
  /** The start of the hook in ms since the epoch; undefined if it does not matter. */
  readonly startMs: number | undefined
}

/** The result of rows 1 to 6a. The first row that fits decides. */
export function judgeOwnership(marker: Marker, times: FileTimes, stop: Stop): Ownership {
  const { payload, nowMs, sessionBornMs } = stop
  if (marker.bypassed) return 'bypassed'
  if (!isUnowned(marker) && marker.hostSession !== payload.session) return 'other-session'
  if (isUnowned(marker) && payload.event === 'Stop') return 'unowned-stop'
  if (isExpired(marker, times, nowMs)) return 'expired'
  if (isFromBefore(sessionBornMs, marker, times)) return 'before-session'
  if (!isAgentOf(marker, payload)) return 'other-agent'
  if (payload.event === 'Stop' && payload.wakeUps > 0) return 'background'
  if (payload.event === 'Stop' && isWaiting(waitState(marker, stop))) return 'waiting'
  return 'owed'
}

/** The state of the marker's wait at this event; `none` in another session. */
export function waitState(marker: Marker, { payload, startMs }: Pick<Stop, 'payload' | 'startMs'>): WaitState {
  if (marker.hostSession !== payload.session) return 'none'
  const state = waitStateAt(marker.wait, { prompt: payload.prompt, startMs })
  // Only the main conversation waits, and a sub-agent may have prompts of its own: in Codex 0.169.0, turns.
  const isMains = payload.agent === MAIN_AGENT || payload.event === 'Stop'
  return state === 'over' && !isMains ? 'stands' : state
}

function isWaiting(state: WaitState): boolean {
  return state === 'begins' || state === 'stands'
}

/** Row 5: true if the agent may be the marker's owner. An absent owner may be any agent of the session. */
function isAgentOf(marker: Marker, payload: Payload): boolean {
  if (marker.agent === MAIN_AGENT && payload.event === 'SubagentStop') return false
  if (marker.agent !== undefined && marker.agent !== payload.agent) return false
  return marker.agentType === undefined || marker.agentType === payload.agentType
}

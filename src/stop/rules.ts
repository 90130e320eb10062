import type { Payload } from '../hosts/payload.ts'
import { HOUR_MS } from '../kernel/time.ts'
import { MAIN_AGENT, type Marker } from '../marker/marker.ts'
import { type WaitState, waitStateAt } from '../marker/wait.ts'

/** The rules that decide whether a marker blocks a stop: the table of docs/design.md, "Stops", row by row. */

/** The age in ms at which an unowned marker no longer blocks. */
export const UNOWNED_LIFETIME_MS = 24 * HOUR_MS

/** How much older (ms) than its session a marker may seem: clocks and file systems round. */
const SESSION_TOLERANCE_MS = 10_000

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

/** The times of a marker's file in ms since the epoch: of its content (mtime), and of any change (ctime). */
export interface FileTimes {
  readonly modifiedMs: number
  readonly changedMs: number
}

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

/** True for a marker without a host session, as plain bash writes it. */
export function isUnowned(marker: Marker): boolean {
  return marker.hostSession === undefined
}

/**
 * The time of the promise in ms since the epoch: `created`, or the file's time. The file's time also replaces a `created`
 * in the future, which would keep an unowned marker alive for ever.
 */
export function promisedAtMs(marker: Marker, { modifiedMs }: FileTimes, nowMs: number): number {
  const { createdMs = modifiedMs } = marker
  return createdMs <= nowMs + HOUR_MS ? createdMs : modifiedMs
}

/** True for an unowned marker that is older than 24 h. */
export function isExpired(marker: Marker, times: FileTimes, nowMs: number): boolean {
  return isUnowned(marker) && nowMs - promisedAtMs(marker, times, nowMs) > UNOWNED_LIFETIME_MS
}

/**
 * True for an unowned marker from before the session: the earlier of `created` and the last change of its file decides.
 * It came from a clone, an archive or a crash, and is not a promise of this session.
 */
export function isFromBefore(sessionBornMs: number | undefined, marker: Marker, { changedMs }: FileTimes): boolean {
  if (sessionBornMs === undefined || !isUnowned(marker)) return false
  return Math.min(marker.createdMs ?? changedMs, changedMs) < sessionBornMs - SESSION_TOLERANCE_MS
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

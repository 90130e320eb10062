import { MAIN_AGENT, type Marker } from '../marker.ts'
import type { Payload } from '../payload.ts'
import { HOUR_MS } from '../time.ts'

/** Whose promise a marker is, and whether it blocks a stop: the table of docs/design.md, "Stops", row by row. */

/** An unowned marker older than this (ms) blocks no stop any more. */
export const UNOWNED_LIFETIME_MS = 24 * HOUR_MS

/** A marker may be older than the session by this much (ms): clocks and file systems round. */
const SESSION_TOLERANCE_MS = 10_000

/** The rules, named; `row` is the table's. Row 0 stands before the table: a running workflow's marker. */
export const RULES = {
  workflow: { row: 0, answer: 'allow' },
  bypassed: { row: 1, answer: 'allow' },
  'other-session': { row: 2, answer: 'allow' },
  'unowned-stop': { row: 3, answer: 'allow' },
  expired: { row: 4, answer: 'allow' },
  'before-session': { row: '4a', answer: 'allow' },
  'other-agent': { row: 5, answer: 'allow' },
  background: { row: 6, answer: 'allow' },
  capped: { row: 7, answer: 'allow' },
  block: { row: 8, answer: 'block' },
} as const

export type Rule = keyof typeof RULES

/** The rules that can be told without knowing the count; `owed` leaves rows 7 and 8. */
export type Ownership = Exclude<Rule, 'capped' | 'block'> | 'owed'

/** The times of a marker's file in ms since the epoch: of its content, and of anything about it (ctime). */
export interface FileTimes {
  readonly modifiedMs: number
  readonly changedMs: number
}

/** The stop that is judged. */
export interface Stop {
  readonly payload: Payload
  /** ms since the epoch. */
  readonly nowMs: number
  /** When the payload's session began (ms since the epoch); undefined where that is not known. */
  readonly sessionBornMs: number | undefined
}

/** True for a marker without a host session, as plain bash writes it. */
export function isUnowned(marker: Marker): boolean {
  return marker.hostSession === undefined
}

/**
 * When the promise was made, in ms since the epoch: `created`, else the file's time. A `created` in the future would
 * keep an unowned marker alive for ever, so the file's time stands for it too.
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
 * True for an unowned marker from before the session: by `created` or by the last change of its file, the earlier of the
 * two. A clone, an archive or a crash left it there, so it is not a promise of this session.
 */
export function isFromBefore(sessionBornMs: number | undefined, marker: Marker, { changedMs }: FileTimes): boolean {
  if (sessionBornMs === undefined || !isUnowned(marker)) return false
  return Math.min(marker.createdMs ?? changedMs, changedMs) < sessionBornMs - SESSION_TOLERANCE_MS
}

/** Rows 0 to 6: whose marker is it, and does it hold this agent? The first row that fits decides. */
export function judgeOwnership(marker: Marker, times: FileTimes, { payload, nowMs, sessionBornMs }: Stop): Ownership {
  if (marker.workflow) return 'workflow'
  if (marker.bypassed) return 'bypassed'
  if (!isUnowned(marker) && marker.hostSession !== payload.session) return 'other-session'
  if (isUnowned(marker) && payload.event === 'Stop') return 'unowned-stop'
  if (isExpired(marker, times, nowMs)) return 'expired'
  if (isFromBefore(sessionBornMs, marker, times)) return 'before-session'
  if (!isAgentOf(marker, payload)) return 'other-agent'
  if (payload.event === 'Stop' && payload.runningSubagents > 0) return 'background'
  return 'owed'
}

/** Row 5. An absent owner is not known, so every agent of the session may be it. */
function isAgentOf(marker: Marker, payload: Payload): boolean {
  if (marker.agent === MAIN_AGENT && payload.event === 'SubagentStop') return false
  if (marker.agent !== undefined && marker.agent !== payload.agent) return false
  return marker.agentType === undefined || marker.agentType === payload.agentType
}

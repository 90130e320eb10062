import { MAIN_AGENT, type Marker } from './marker.ts'
import type { Payload } from './payload.ts'
import { HOUR_MS } from './time.ts'

/** What the hook answers for one marker at one stop: the table of DESIGN section 5, row by row. */

/** How many stops one marker may block. */
export const CONTINUATION_LIMIT = 3

/** An unowned marker older than this (ms) holds nobody any more. */
export const UNOWNED_LIFETIME_MS = 24 * HOUR_MS

/**
 * The rules, named; `row` is the table's number, 0 what stands before the table: a running workflow's marker, and an
 * unowned one that came with a clone, which is nobody's promise.
 */
export const RULES = {
  workflow: { row: 0, answer: 'allow' },
  tracked: { row: 0, answer: 'allow' },
  bypassed: { row: 1, answer: 'allow' },
  'other-session': { row: 2, answer: 'allow' },
  'unowned-stop': { row: 3, answer: 'allow' },
  expired: { row: 4, answer: 'allow' },
  'other-agent': { row: 5, answer: 'allow' },
  background: { row: 6, answer: 'allow' },
  capped: { row: 7, answer: 'allow' },
  block: { row: 8, answer: 'block' },
} as const

export type Rule = keyof typeof RULES

/** The rules that can be told without knowing the count; `owed` leaves rows 7 and 8. */
export type Ownership = Exclude<Rule, 'capped' | 'block'> | 'owed'

/** True for a marker without a host session, as plain bash writes it. */
export function isUnowned(marker: Marker): boolean {
  return marker.hostSession === undefined
}

/**
 * When the promise was made, in ms since the epoch: `created`, else the file's time. A `created` in the future would
 * keep an unowned marker alive for ever, so the file's time stands for it too.
 */
export function promisedAtMs(marker: Marker, fileTimeMs: number, nowMs: number): number {
  const { createdMs = fileTimeMs } = marker
  return createdMs <= nowMs + HOUR_MS ? createdMs : fileTimeMs
}

/** True for an unowned marker that is older than 24 h. */
export function isExpired(marker: Marker, fileTimeMs: number, nowMs: number): boolean {
  return isUnowned(marker) && nowMs - promisedAtMs(marker, fileTimeMs, nowMs) > UNOWNED_LIFETIME_MS
}

/** Rows 0 to 6: whose marker is it, and does it hold this agent? The first row that fits decides. */
export function judgeOwnership(marker: Marker, fileTimeMs: number, payload: Payload, nowMs: number): Ownership {
  if (marker.workflow) return 'workflow'
  if (marker.bypassed) return 'bypassed'
  if (!isUnowned(marker) && marker.hostSession !== payload.session) return 'other-session'
  if (isUnowned(marker) && payload.event === 'Stop') return 'unowned-stop'
  if (isExpired(marker, fileTimeMs, nowMs)) return 'expired'
  if (!isAgentOf(marker, payload)) return 'other-agent'
  if (payload.event === 'Stop' && payload.runningSubagents > 0) return 'background'
  return 'owed'
}

/** Row 5. An absent owner means that it is not known, so every agent of the session may be it. */
function isAgentOf(marker: Marker, payload: Payload): boolean {
  if (marker.agent === MAIN_AGENT && payload.event === 'SubagentStop') return false
  if (marker.agent !== undefined && marker.agent !== payload.agent) return false
  return marker.agentType === undefined || marker.agentType === payload.agentType
}

/** Rows 7 and 8, for a marker that is owed: `spent` continuations are counted already. */
export function judgeCount(spent: number): Extract<Rule, 'capped' | 'block'> {
  return spent >= CONTINUATION_LIMIT ? 'capped' : 'block'
}

import { MAIN_AGENT, type Moment, type Payload } from '../hosts/payload.ts'
import type { Marker } from '../marker/marker.ts'
import { judgeWait, type SessionEvent, sessionEvent } from '../marker/marker-wait.ts'
import { isExpired, isLeftover, isUnowned, type StoredMarker } from '../marker/stored-marker.ts'

/** The first that applies decides (docs/design.md, "Stops"). */

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
/** Rows 1 to 6a; `owed` means row 7 or 8. */
export type Ownership = Exclude<Rule, 'capped' | 'block'> | 'owed'

export function judgeOwnership({ marker, times }: Pick<StoredMarker, 'marker' | 'times'>, moment: Moment): Ownership {
  const { payload, nowMs } = moment
  if (marker.bypassed) return 'bypassed'
  if (!isUnowned(marker) && marker.hostSession !== payload.session) return 'other-session'
  if (isUnowned(marker) && payload.event === 'Stop') return 'unowned-stop'
  if (isExpired(marker, times, nowMs)) return 'expired'
  if (isLeftover(marker, times, moment)) return 'before-session'
  if (!isAgentOf(marker, payload)) return 'other-agent'
  if (payload.event === 'Stop' && payload.wakeUps > 0) return 'background'
  if (payload.event === 'Stop' && (waitVerdict(marker, moment)?.kind ?? 'ends') !== 'ends') return 'waiting'
  return 'owed'
}

export function waitVerdict(marker: Marker, moment: Moment, kind: SessionEvent['kind'] = 'stop', nowMs = moment.nowMs) {
  const { payload } = moment
  if (marker.wait === undefined || isUnowned(marker) || marker.hostSession !== payload.session) return undefined
  return judgeWait(marker.wait, sessionEvent(moment, kind), nowMs)
}

/** Row 5. An absent owner may be any agent of the session. */
function isAgentOf(marker: Marker, payload: Payload): boolean {
  if (marker.agent === MAIN_AGENT && payload.event === 'SubagentStop') return false
  if (marker.agent !== undefined && marker.agent !== payload.agent) return false
  return marker.agentType === undefined || marker.agentType === payload.agentType
}

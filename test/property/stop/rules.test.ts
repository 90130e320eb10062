import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePayload } from '../../../src/hosts/all-hosts.ts'
import type { Moment } from '../../../src/hosts/payload.ts'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { type Marker, parseMarker } from '../../../src/marker/marker.ts'
import { type FileTimes, UNOWNED_LIFETIME_MS } from '../../../src/marker/stored-marker.ts'
import { judgeOwnership, type Ownership, RULES } from '../../../src/stop/rules.ts'
import { expectReached } from '../../support/reached.ts'
import { anyJson, holds, hostileText, markerFields, maybe, payloadFields } from '../arbitraries.ts'

const NOW_MS = Date.parse('2026-01-18T12:00:00Z')

// A random marker and a random payload rarely match in several fields, so many get those of this session and agent.
const MET = { cc_session_id: 's1', agent_id: 'main', agent_type: undefined }
const WAIT = { wait: { for: 'an answer', count: 1, prompt_id: 'p1' } }
const MEETING = { hook_event_name: 'Stop', session_id: 's1', agent_id: undefined, prompt_id: 'p1' }
const RUNNING = { background_tasks: [{ type: 'subagent', status: 'running' }] }
const someOf = (fields: Readonly<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.subarray(Object.entries(fields)).map((kept) => Object.fromEntries(kept))

const markerOf = (...parts: object[]) => parseMarker(JSON.stringify(Object.assign({}, ...parts)))
const payloadOf = (...parts: object[]) => parsePayload(JSON.stringify(Object.assign({}, ...parts)), 0)
const anyMarker = fc.oneof(
  { weight: 3, arbitrary: markerFields.map((fields) => markerOf(fields)) },
  { weight: 3, arbitrary: fc.tuple(markerFields, someOf({ ...MET, ...WAIT })).map((parts) => markerOf(...parts)) },
  hostileText.map(parseMarker),
)
const anyPayload = fc.oneof(
  payloadFields.map((fields) => payloadOf(fields)),
  fc.tuple(payloadFields, someOf({ ...MEETING, ...RUNNING })).map((parts) => payloadOf(...parts)),
)
const anyTimes = fc.record({
  modifiedMs: fc.integer({ min: NOW_MS - 3 * UNOWNED_LIFETIME_MS, max: NOW_MS + HOUR_MS }),
  changedMs: fc.integer({ min: NOW_MS - 3 * UNOWNED_LIFETIME_MS, max: NOW_MS + HOUR_MS }),
})
const anyStop = fc.record({
  payload: anyPayload,
  nowMs: fc.constant(NOW_MS),
  startMs: fc.integer({ min: NOW_MS - HOUR_MS, max: NOW_MS }),
  sessionBornMs: maybe(fc.integer({ min: NOW_MS - 2 * UNOWNED_LIFETIME_MS, max: NOW_MS })),
})

/** The table of docs/protocol.md, with each row written independently. */
function rowsThatFit(marker: Marker, times: FileTimes, { payload, sessionBornMs, startMs }: Moment): Ownership[] {
  const isUnowned = marker.hostSession === undefined
  const isStop = payload.event === 'Stop'
  const { createdMs } = marker
  const madeMs = createdMs === undefined || createdMs > NOW_MS + HOUR_MS ? times.modifiedMs : createdMs
  const rows: [Ownership, boolean][] = [
    ['bypassed', marker.bypassed],
    ['other-session', !isUnowned && marker.hostSession !== payload.session],
    ['unowned-stop', isUnowned && isStop],
    ['expired', isUnowned && NOW_MS - madeMs > 24 * HOUR_MS],
    [
      'before-session',
      isUnowned &&
        sessionBornMs !== undefined &&
        [createdMs, times.changedMs].some((time) => time !== undefined && time < sessionBornMs - 10_000),
    ],
    [
      'other-agent',
      (marker.agent === 'main' && payload.event === 'SubagentStop') ||
        (marker.agent !== undefined && marker.agent !== payload.agent) ||
        (marker.agentType !== undefined && marker.agentType !== payload.agentType),
    ],
    ['background', isStop && payload.wakeUps > 0],
    ['waiting', isStop && !isUnowned && waits(marker, payload.prompt, startMs)],
    ['owed', true],
  ]
  return rows.flatMap(([rule, fits]) => (fits ? [rule] : []))
}

/** Row 6a. */
function waits({ wait }: Marker, prompt: string | undefined, startMs: number): boolean {
  if (wait === undefined) return false
  const { promptId, stoppedMs, lastPromptId, count } = wait
  if (promptId !== undefined) return prompt === undefined || promptId === prompt
  if (stoppedMs !== undefined) {
    // A start much earlier than that means that the clock was set back.
    return prompt === undefined && startMs <= stoppedMs && startMs > stoppedMs - 60_000
  }
  return count + (lastPromptId === undefined || lastPromptId === prompt ? 0 : 1) <= 10
}

describe('the decision', () => {
  it('is that of the first row that fits', () => {
    const reached = new Set<Ownership>()
    // The rarest rule fits one case of 160.
    holds(3000)(anyMarker, anyTimes, anyStop, (marker, times, stop) => {
      const ownership = judgeOwnership({ marker, times }, stop)
      reached.add(ownership)
      expect(ownership).toBe(rowsThatFit(marker, times, stop)[0])
    })
    const byCount = ['capped', 'block']
    expectReached(reached, ['owed', ...Object.keys(RULES).filter((rule) => !byCount.includes(rule))])
  })

  it("never depends on the payload's own stop_hook_active, nor on anything else that it does not know", () => {
    holds()(anyMarker, anyTimes, anyStop, payloadFields, anyJson, (marker, times, stop, fields, value) => {
      const judge = (more: object): Ownership =>
        judgeOwnership({ marker, times }, { ...stop, payload: parsePayload(JSON.stringify({ ...fields, ...more }), 0) })
      const plain = judge({ stop_hook_active: undefined })
      expect(judge({ stop_hook_active: true })).toBe(plain)
      expect(judge({ stop_hook_active: false })).toBe(plain)
      expect(judge({ last_assistant_message: value })).toBe(plain)
    })
  })
})

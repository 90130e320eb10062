import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeOwnership, type Ownership, UNOWNED_LIFETIME_MS } from '../../src/core/decision.ts'
import { type Marker, parseMarker } from '../../src/core/marker.ts'
import { type Payload, parsePayload } from '../../src/core/payload.ts'
import { HOUR_MS } from '../../src/core/time.ts'
import { hostileText, markerFields, payloadFields } from './arbitraries.ts'

const NOW_MS = Date.parse('2026-01-18T12:00:00Z')

const anyMarker = fc.oneof(
  { weight: 5, arbitrary: markerFields.map((fields) => parseMarker(JSON.stringify(fields))) },
  hostileText.map(parseMarker),
)
const anyPayload = payloadFields.map((fields) => parsePayload(JSON.stringify(fields)))
const anyFileTime = fc.integer({ min: NOW_MS - 3 * UNOWNED_LIFETIME_MS, max: NOW_MS + HOUR_MS })

/** The table of DESIGN section 5, each row by itself, in its own words. */
function rowsThatFit(marker: Marker, fileTimeMs: number, payload: Payload): Ownership[] {
  const isUnowned = marker.hostSession === undefined
  const isStop = payload.event === 'Stop'
  const { createdMs } = marker
  const promisedMs = createdMs === undefined || createdMs > NOW_MS + HOUR_MS ? fileTimeMs : createdMs
  const rows: [Ownership, boolean][] = [
    ['workflow', marker.workflow],
    ['bypassed', marker.bypassed],
    ['other-session', !isUnowned && marker.hostSession !== payload.session],
    ['unowned-stop', isUnowned && isStop],
    ['expired', isUnowned && NOW_MS - promisedMs > 24 * HOUR_MS],
    [
      'other-agent',
      (marker.agent === 'main' && payload.event === 'SubagentStop') ||
        (marker.agent !== undefined && marker.agent !== payload.agent) ||
        (marker.agentType !== undefined && marker.agentType !== payload.agentType),
    ],
    ['background', isStop && payload.runningSubagents > 0],
    ['owed', true],
  ]
  return rows.flatMap(([rule, fits]) => (fits ? [rule] : []))
}

describe('the decision', () => {
  it('is that of the first row that fits', () => {
    const seen = new Set<Ownership>()
    fc.assert(
      fc.property(anyMarker, anyFileTime, anyPayload, (marker, fileTimeMs, payload) => {
        const ownership = judgeOwnership(marker, fileTimeMs, payload, NOW_MS)
        seen.add(ownership)
        expect(ownership).toBe(rowsThatFit(marker, fileTimeMs, payload)[0])
      }),
      { numRuns: 2000 },
    )
    expect([...seen].sort()).toEqual(
      ['background', 'bypassed', 'expired', 'other-agent', 'other-session', 'owed', 'unowned-stop', 'workflow'].sort(),
    )
  })

  it('is the same when it is asked again', () => {
    fc.assert(
      fc.property(anyMarker, anyFileTime, anyPayload, (marker, fileTimeMs, payload) => {
        const first = judgeOwnership(marker, fileTimeMs, payload, NOW_MS)
        expect(judgeOwnership(structuredClone(marker), fileTimeMs, structuredClone(payload), NOW_MS)).toBe(first)
      }),
    )
  })

  it("never depends on the payload's own stop_hook_active, nor on anything else that it does not know", () => {
    fc.assert(
      fc.property(anyMarker, anyFileTime, payloadFields, fc.anything(), (marker, fileTimeMs, fields, value) => {
        const judge = (more: object): Ownership =>
          judgeOwnership(marker, fileTimeMs, parsePayload(JSON.stringify({ ...fields, ...more })), NOW_MS)
        const plain = judge({ stop_hook_active: undefined })
        expect(judge({ stop_hook_active: true })).toBe(plain)
        expect(judge({ stop_hook_active: false })).toBe(plain)
        expect(judge({ last_assistant_message: String(value), prompt_id: 'x' })).toBe(plain)
      }),
    )
  })

  it('a marker with an owner never holds anybody else', () => {
    fc.assert(
      fc.property(anyMarker, anyFileTime, anyPayload, (marker, fileTimeMs, payload) => {
        if (judgeOwnership(marker, fileTimeMs, payload, NOW_MS) !== 'owed') return
        if (marker.hostSession !== undefined) expect(payload.session).toBe(marker.hostSession)
        if (marker.agent !== undefined) expect(payload.agent).toBe(marker.agent)
        if (marker.hostSession === undefined) expect(payload.event).not.toBe('Stop')
      }),
      { numRuns: 1000 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePayload } from '../../../src/hosts/all-hosts.ts'
import type { Payload } from '../../../src/hosts/payload.ts'
import { errorMessage, PostflightError } from '../../../src/kernel/errors.ts'
import { anyJson, anyUnits, holds, hostileText, payloadFields } from '../arbitraries.ts'

/** The payload, or undefined for a text that is refused with an expected error. Any other error fails the property. */
function read(text: string): Payload | undefined {
  try {
    return parsePayload(text, 0)
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    expect(['payload-not-json', 'payload-not-object']).toContain(error.code)
    expect(errorMessage(error.code, error.args)).not.toMatch(/undefined|[\u0000-\u001f]/)
    return undefined
  }
}

function expectSound(payload: Payload): void {
  expect(payload.event).not.toBe('')
  expect(Number.isInteger(payload.wakeUps) && payload.wakeUps >= 0).toBe(true)
  // An agent of Claude Code's own has an empty type.
  expect(payload.shells.every((shell) => typeof shell === 'string')).toBe(true)
  expect(payload.durationMs ?? 0).toBeGreaterThanOrEqual(0)
  expect((payload.shellIds ?? []).every((id) => id !== '' && id.length < 257)).toBe(true)
  expect([undefined, true, false]).toContain(payload.followsBlock)
  const { event, wakeUps, shells, shellIds, followsBlock, durationMs, output, agentType, ...texts } = payload
  for (const text of Object.values(texts)) expect(typeof text === 'string' && text !== '').toBe(true)
  expect(typeof output).toBe(payload.command === undefined ? 'undefined' : 'string')
  for (const id of [payload.session, payload.agent, agentType]) expect((id ?? '').length).toBeLessThan(257)
}

describe('the hook reads any stdin', () => {
  it('with any text', () => {
    holds()(fc.oneof(anyUnits, hostileText, fc.json()), (text) => {
      const payload = read(text)
      if (payload !== undefined) expectSound(payload)
    })
  })

  it('with any JSON: every object is a payload, and nothing else', () => {
    holds()(fc.oneof(anyJson, payloadFields), (value) => {
      const payload = read(JSON.stringify(value))
      expect(payload !== undefined).toBe(typeof value === 'object' && value !== null && !Array.isArray(value))
      if (payload !== undefined) expectSound(payload)
    })
  })
})

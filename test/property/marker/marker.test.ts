import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatMarker, type Marker, parseMarker, withFields } from '../../../src/marker/marker.ts'
import { schemaFaults } from '../../support/json-schemas.ts'
import { anyJson, anyUnits, holds, hostileText, markerFields } from '../arbitraries.ts'

/** Checks the properties of every marker, whatever its file contains. */
function expectSound(read: Marker): void {
  expect(typeof read.bypassed).toBe('boolean')
  expect(read.steps.length).toBeLessThanOrEqual(100)
  for (const step of read.steps) expect([typeof step.name, typeof step.done]).toEqual(['string', 'boolean'])
  for (const text of [read.id, read.sessionId, read.skill, read.operation, read.reason, read.hostSession, read.agent]) {
    expect(text === undefined || (typeof text === 'string' && text !== '')).toBe(true)
  }
  expect(read.taskNumber === undefined || typeof read.taskNumber === 'number').toBe(true)
  expect(read.createdMs === undefined || Number.isFinite(read.createdMs)).toBe(true)
  if (read.fields === undefined) expect(read.problems).toHaveLength(1)
}

describe('any file of that name is a marker', () => {
  it('with any text', () => {
    holds()(fc.oneof(anyUnits, hostileText, fc.json()), (text) => {
      expectSound(parseMarker(text))
    })
  })

  it('with any JSON', () => {
    holds()(fc.oneof(anyJson, markerFields), (value) => {
      const read = parseMarker(JSON.stringify(value))
      expectSound(read)
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      expect(read.fields !== undefined).toBe(isObject)
    })
  })

  it('cut off at any place, as a writer without atomic replacement may leave it', () => {
    holds()(markerFields, fc.nat(), (fields, at) => {
      const text = formatMarker(fields)
      const read = parseMarker(text.slice(0, at % text.length))
      expectSound(read)
      if (at % text.length < text.length - 1) expect(read.fields).toBeUndefined()
    })
  })

  it('with the same content if it has a byte-order mark or another layout', () => {
    holds()(markerFields, fc.constantFrom('', '\t', 4), fc.boolean(), (fields, indent, marked) => {
      const text = JSON.stringify(fields, null, indent).replaceAll('\n', '\r\n')
      expect(parseMarker(`${marked ? '\ufeff' : ''}${text}\r\n`)).toEqual(parseMarker(JSON.stringify(fields)))
    })
  })
})

describe('a rewrite', () => {
  it('keeps every unchanged field in its order', () => {
    holds()(markerFields, anyJson, fc.constantFrom('agent_id', 'stop_hook_active', 'new'), (fields, value, name) => {
      const { fields: read } = parseMarker(JSON.stringify(fields))
      const rewritten = JSON.parse(formatMarker(withFields(read ?? {}, { [name]: value })))
      const expected = JSON.parse(JSON.stringify({ ...fields, [name]: value }))
      expect(JSON.stringify(rewritten)).toBe(JSON.stringify(expected))
    })
  })

  it('without changes keeps the fields', () => {
    holds()(fc.oneof(markerFields, fc.dictionary(fc.string(), anyJson)), (fields) => {
      const text = formatMarker(fields)
      expect(formatMarker(withFields(parseMarker(text).fields ?? {}, {}))).toBe(text)
    })
  })
})

it('a marker that its published schema allows has no problems', () => {
  holds()(markerFields, (fields) => {
    const written = Object.entries(JSON.parse(JSON.stringify(fields)) as object)
    const allowed = written.filter(
      ([name, value]) => schemaFaults('marker.schema.json', { [name]: value }).length === 0,
    )
    const { problems } = parseMarker(JSON.stringify(Object.fromEntries(allowed)))
    // A text such as `$(id)` is allowed, and looks like a variable that bash did not fill in.
    expect(problems.filter(({ code }) => code !== 'unfilled')).toEqual([])
  })
})

import { expect, it } from 'vitest'
import { markerDisplayPath, markerKey } from '../../../src/marker/stored-marker.ts'
import { marker, taskFolder } from '../builders.ts'

it("a marker's path for people is relative to its root, and on one line", () => {
  expect(markerDisplayPath(taskFolder('259_x'))).toBe('specs/259_x/.postflight-pending')
  expect(markerDisplayPath(taskFolder('259_x'), '.postflight-abandoned')).toBe('specs/259_x/.postflight-abandoned')
  expect(markerDisplayPath(taskFolder('7_a\nb\u001b[2J'))).toBe('specs/7_a b[2J/.postflight-pending')
})

const LONG = 'x'.repeat(120)
const CREATED = { created: '2026-01-18T10:00:00Z' }

it.each([
  ['its id', { id: 'pf_abcdefgh1234', ...CREATED }, 'pf_abcdefgh1234'],
  ['its time and session, without an id of ours', { id: 'mine', session_id: 's1', ...CREATED }, '1768730400000 "s1"'],
  ['its time, without a session', CREATED, '1768730400000 ""'],
  ['one line, whatever its session', { session_id: 'a\nb', ...CREATED }, '1768730400000 "a\\nb"'],
  ['a session of 120 characters', { session_id: `${LONG}y`, ...CREATED }, `1768730400000 "${LONG}"`],
  ['nothing, without an id and a time', { session_id: 's1' }, undefined],
])('a marker is identified by %s', (_, fields, expected) => {
  expect(markerKey(marker(fields))).toBe(expected)
})

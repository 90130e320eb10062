import { expect, it } from 'vitest'
import { markerDisplayPath } from '../../../src/marker/stored-marker.ts'
import { taskFolder } from '../builders.ts'

it("a marker's path for people is relative to its root, and on one line", () => {
  expect(markerDisplayPath(taskFolder('259_x'))).toBe('specs/259_x/.postflight-pending')
  expect(markerDisplayPath(taskFolder('259_x'), '.postflight-abandoned')).toBe('specs/259_x/.postflight-abandoned')
  expect(markerDisplayPath(taskFolder('7_a\nb\u001b[2J'))).toBe('specs/7_a b[2J/.postflight-pending')
})

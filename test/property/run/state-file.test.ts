import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatState, isState, parseState } from '../../../src/run/machine/state-file.ts'
import { runWorld, startWorld } from '../../support/workflow-world.ts'
import { anyJson, holds } from '../arbitraries.ts'
import { anyWorld } from './arbitraries.ts'

describe('a state file', () => {
  it('with any text or any JSON is read, or reported as unusable', () => {
    holds()(
      fc.oneof(
        fc.string(),
        anyJson.map((value) => JSON.stringify(value)),
      ),
      (text) => {
        const read = parseState(text)
        if (!isState(read)) expect(read.detail).toEqual(expect.any(String))
      },
    )
  })

  it('that was cut at any place is reported as unusable', () => {
    holds(100)(anyWorld, fc.double({ min: 0, max: 0.999, noNaN: true }), (world, at) => {
      const { state } = runWorld(startWorld(world.ready.definition, world.before), world.agent, world.takenSteps)
      const text = formatState(state).trimEnd()
      expect(isState(parseState(text.slice(0, Math.floor(text.length * at))))).toBe(false)
    })
  })
})

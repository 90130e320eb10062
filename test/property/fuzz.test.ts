import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide, decisionCase, lineProblem, seedOf } from '../stress/tables/fuzz.ts'

/** A little of `test/stress/fuzz.test.ts`. */

describe('whatever a host sends and whatever a marker holds', () => {
  it('the decision is one good line, and the same line again', () => {
    fc.assert(
      fc.property(decisionCase, (one) => {
        const line = decide(one)
        expect(lineProblem(line)).toBeUndefined()
        expect(decide(one)).toBe(line)
      }),
      { numRuns: 500, seed: seedOf('decision') },
    )
  })
})

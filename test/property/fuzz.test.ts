import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decide, decisionCase, lineProblem, seedOf } from '../stress/tables/fuzz.ts'

/** A small part of `test/stress/fuzz.test.ts`. */

it('any payload and any marker give one valid line, and the same line again', () => {
  fc.assert(
    fc.property(decisionCase, (one) => {
      const line = decide(one)
      expect(lineProblem(line)).toBeUndefined()
      expect(decide(one)).toBe(line)
    }),
    { numRuns: 500, seed: seedOf('decision') },
  )
})

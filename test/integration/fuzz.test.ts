import fc from 'fast-check'
import { expect, it } from 'vitest'
import { processCase, runCases, seedOf } from '../stress/tables/fuzz.ts'

/** A small run of `test/stress/fuzz.test.ts`. */
it('the hook answers any input with one valid line and exit code 0, and with the same line in a copy of the project', async () => {
  const cases = fc.sample(processCase, { numRuns: 150, seed: seedOf('hook') })

  const { problems } = await runCases(cases, (index) => index % 2 === 0)

  expect(problems).toEqual([])
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { processCase, runCases, seedOf } from '../../stress/tables/fuzz.ts'
import { SOURCES } from '../../support/programs.ts'

/** A little of `test/stress/fuzz.test.ts`, without processes. */
it('whatever it is given, the hook answers one good line, and the same line on a copy', async () => {
  const cases = fc.sample(processCase, { numRuns: 150, seed: seedOf('hook') })
  const { problems } = await runCases(
    cases,
    (index) => index % 2 === 0,
    (_, options) => SOURCES.hook([], options),
  )
  expect(problems).toEqual([])
})

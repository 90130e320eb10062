import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { agreementCase, compareAll } from '../stress/tables/agreement.ts'
import { seedOf } from '../stress/tables/fuzz.ts'
import { makePackageCopy } from '../stress/tables/sandbox.ts'

const pack = makePackageCopy()
afterAll(() => pack.remove())

/** A small run of `test/stress/agreement.test.ts`. */
it('`explain` and the hook agree on every marker', async () => {
  const cases = fc.sample(agreementCase, { numRuns: 30, seed: seedOf('agreement') })

  expect((await compareAll(pack, cases)).differences).toEqual([])
})

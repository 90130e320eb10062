import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { RULES } from '../../src/stop/rules.ts'
import { partOfCount } from '../support/stress-fifth.ts'
import { agreementCase, compareAll } from './tables/agreement.ts'
import { seedOf } from './tables/fuzz.ts'
import { makePackageCopy } from './tables/sandbox.ts'

const ALL = 2000
const pack = makePackageCopy()
afterAll(() => pack.remove())

it('`explain` and the hook agree on every marker (2,000 projects and payloads)', async () => {
  const cases = fc.sample(agreementCase, { numRuns: partOfCount(ALL), seed: seedOf('agreement') })
  const { differences, rules } = await compareAll(pack, cases)
  console.info(`agreement: ${JSON.stringify(rules)}`)
  expect(differences).toEqual([])
  const all = [...Object.keys(RULES), 'null'].sort()
  // A part of the cases need not have them all.
  const isPart = cases.length < ALL
  expect(isPart ? all : Object.keys(rules).sort()).toEqual(isPart ? expect.arrayContaining(Object.keys(rules)) : all)
})

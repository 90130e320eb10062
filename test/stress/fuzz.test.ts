import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { partOfCount } from '../support/stress-fifth.ts'
import { decide, decisionCase, lineProblem, processCase, runCases, seedOf } from './tables/fuzz.ts'

describe('for any payload and any marker', () => {
  it('the decision is one valid line, and the same line again (100,000 cases)', () => {
    const numRuns = partOfCount(100_000)
    const seen = { block: 0 }
    fc.assert(
      fc.property(decisionCase, (one) => {
        const line = decide(one)
        expect(lineProblem(line)).toBeUndefined()
        if (!line.includes('"decision":"block"')) return
        seen.block += 1
        expect(decide(one)).toBe(line)
      }),
      { numRuns, seed: seedOf('decision'), endOnFailure: false },
    )
    console.info(`decision: ${seen.block} of ${numRuns} blocked`)
    expect(seen.block).toBeGreaterThan(partOfCount(1000))
  })

  it('the hook allows or blocks with one valid line and exit code 0, and answers the same on a copy (2,000 runs, most of them processes)', async () => {
    const seed = seedOf('hook')
    const cases = fc.sample(processCase, { numRuns: partOfCount(1600), seed })
    const { problems, runs, letters } = await runCases(cases, (index) => index % 4 === 0)
    console.info(`hook: ${runs} runs, ${JSON.stringify(letters)}`)
    expect(problems).toEqual([])
    expect(runs).toBeGreaterThanOrEqual(partOfCount(2000))
    expect(letters.block).toBeGreaterThan(partOfCount(100))
  })
})

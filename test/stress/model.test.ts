import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partOfCount } from '../support/stress-fifth.ts'
import { type Compiled, compilePreload } from './support/compile.ts'
import { seedOf } from './tables/fuzz.ts'
import { anySteps, checkLiveness, newModel } from './tables/model.ts'
import { asProcesses, inProcess, instrumentSources, withProject } from './tables/model-real.ts'

/**
 * Random sequences of stops, commands, plain bash, kills and time, compared with a model of docs/design.md ("Stops" and
 * "Counting blocked stops"): at most three blocks for a marker, none for another agent's, and no evidence is lost.
 */

let compiled: Compiled

beforeAll(() => {
  compiled = compilePreload()
})
afterAll(() => compiled.remove())

function add(total: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) total[name] = (total[name] ?? 0) + count
}

describe('the model and the program agree', () => {
  it('as processes, some of them killed', async () => {
    const total: Record<string, number> = {}
    await fc.assert(
      fc.asyncProperty(anySteps(25, false), async (steps) => {
        await withProject(async (root) => {
          const real = asProcesses(root, compiled.support('preload.js'))
          await fc.asyncModelRun(() => ({ model: newModel(), real }), steps)
          await checkLiveness(real)
          add(total, real.count)
        })
      }),
      { numRuns: partOfCount(40, 4), seed: seedOf('model of processes'), endOnFailure: true },
    )
    console.info(`model of processes: ${JSON.stringify(total)}`)
    // 40 runs have 75 blocks or more; a few runs may have none or many.
    expect(total.blocked).toBeGreaterThan(partOfCount(20, 40))
    expect(total.killed).toBeGreaterThan(partOfCount(20, 40))
  })

  it('in this process', async () => {
    instrumentSources()
    const total: Record<string, number> = {}
    let runs = 0
    await fc.assert(
      fc.asyncProperty(anySteps(80, true), async (steps) => {
        runs += 1
        await withProject(async (root) => {
          const real = inProcess(root)
          await fc.asyncModelRun(() => ({ model: newModel(), real }), steps)
          await checkLiveness(real)
          add(total, real.count)
        })
      }),
      { numRuns: partOfCount(2000), seed: seedOf('model'), endOnFailure: false },
    )
    console.info(`model: ${runs} runs, ${JSON.stringify(total)}`)
    expect(total.blocked).toBeGreaterThan(partOfCount(1000))
    expect(total.killed).toBeGreaterThan(partOfCount(1000))
  })
})

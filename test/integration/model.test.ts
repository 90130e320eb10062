import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Compiled, compilePreload } from '../stress/support/compile.ts'
import { seedOf } from '../stress/tables/fuzz.ts'
import { anySteps, checkLiveness, newModel } from '../stress/tables/model.ts'
import { asProcesses, inProcess, instrumentSources, withProject } from '../stress/tables/model-real.ts'

/** A small run of `test/stress/model.test.ts`: stops, commands, plain bash and kills, compared with a model of the loop guard. */

let compiled: Compiled

beforeAll(() => {
  compiled = compilePreload()
})
afterAll(() => compiled.remove())

it('the hook and the commands agree with the model, as processes', async () => {
  const total: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(anySteps(12, false), (steps) =>
      withProject(async (root) => {
        const real = asProcesses(root, compiled.support('preload.js'))
        await fc.asyncModelRun(() => ({ model: newModel(), real }), steps)
        await checkLiveness(real)
        for (const [name, count] of Object.entries(real.count)) total[name] = (total[name] ?? 0) + count
      }),
    ),
    { numRuns: 5, seed: seedOf('model of processes'), endOnFailure: true },
  )
  expect(total.processes).toBeGreaterThan(5)
})

it('the hook and the commands agree with the model, in this process', async ({ onTestFinished }) => {
  onTestFinished(instrumentSources())
  await fc.assert(
    fc.asyncProperty(anySteps(60, true), (steps) =>
      withProject(async (root) => {
        const real = inProcess(root)
        await fc.asyncModelRun(() => ({ model: newModel(), real }), steps)
        await checkLiveness(real)
      }),
    ),
    { numRuns: 40, seed: seedOf('model') },
  )
})

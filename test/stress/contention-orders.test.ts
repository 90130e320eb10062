import { afterAll, describe, expect, test } from 'vitest'
import { type Arena, createArena } from './support/contention.ts'
import { type Disturbance, findFlaws, SCENARIOS, type Scenario } from './support/contention-scenarios.ts'
import { traceOf } from './support/scheduler.ts'

/**
 * Several programs on one marker, with their file-system calls in any order: hundreds of orders of each scenario, drawn
 * from a seed. A failure shows the first flaw, with its seed and the calls that led to it.
 */

const ORDERS = Number(process.env.POSTFLIGHT_TEST_ORDERS ?? 60)
const ACTORS = 7
const arena = createArena(ACTORS)
afterAll(() => arena.close())

describe.each<[string, Disturbance, number]>([
  ['in any order', 'none', 1],
  ['with one of them killed anywhere', 'kill', 0.6],
  ['with one failing call of one of them', 'error', 0.6],
  ['with the clock set by hours at any call', 'clock', 0.4],
])('%s', (_, disturbance, share) => {
  test.each(SCENARIOS)('$name', async (scenario) => {
    await explore(arena, scenario, disturbance, Math.ceil(ORDERS * share))
  })
})

async function explore(where: Arena, scenario: Scenario, disturbance: Disturbance, orders: number): Promise<void> {
  const first = Number(process.env.POSTFLIGHT_TEST_SEED ?? 1)
  for (let seed = first; seed < first + orders; seed++) {
    const { flaws, run } = await findFlaws(where, scenario, seed, disturbance)
    const trace = flaws.length === 0 || run === undefined ? '' : traceOf(run.outcomes, where.folder)
    expect(flaws, `seed ${seed}\n${trace}`).toEqual([])
    // A pause for the test runner's own messages.
    if (seed % 25 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

import { afterAll, beforeAll, expect, it } from 'vitest'
import { SESSION } from './support/contention.ts'
import { createThreadRunner } from './support/fault-runner.ts'
import { type Measured, measureAll, newTally, type Tally } from './tables/fault-cases.ts'
import { POWER_CUT_PROGRAMS } from './tables/fault-programs.ts'
import { everyCut, randomCuts } from './tables/power-cuts.ts'

/**
 * The power is cut at each call of the hook and of every command that writes, and what was not synced is lost, in any
 * subset (`support/disk.ts`): no block is lost from its count, no file is half, and what a program reported as done is there.
 */

const SEED = Number(process.env.POSTFLIGHT_TEST_SEED ?? 1)
const threads = createThreadRunner(SESSION)
let programs: Measured[] = []
beforeAll(async () => {
  programs = await measureAll(threads, POWER_CUT_PROGRAMS)
}, 150_000)
afterAll(() => threads.close(), 60_000)

function report(what: string, { flaws, ...figures }: Tally, since: number): void {
  console.info(`power cuts: ${what}: ${threads.count() - since} runs, ${JSON.stringify(figures)}`)
  expect(flaws.length === 0 ? [] : [`${flaws.length} flaws`, ...flaws.slice(0, 40)]).toEqual([])
}

it('at each call of each program', async () => {
  const tally = newTally()
  const since = threads.count()
  await threads.runAll(everyCut(programs, { followEvery: 2, callEvery: 1, random: 8 }, SEED, tally))
  report(`at each call, seed ${SEED}`, tally, since)
  expect(tally.remains).toBeGreaterThan(2000)
})

it.each([
  ['a stop, the first continuation', 'folders that can be synced', false],
  ['a stop of a marker as plain bash writes it', 'folders that can be synced', false],
  ['a stop, the first continuation', 'folders that cannot be synced', true],
])('one after another, until the marker is gone: %s, with %s', async (name, folders, cannotSyncFolders) => {
  const tally = newTally()
  const since = threads.count()
  const measured = programs.find(({ program }) => program.name === name) as Measured
  await threads.runAll(randomCuts(measured, 300, SEED, tally, cannotSyncFolders))
  report(`one after another, seed ${SEED}, ${name}, ${folders}`, tally, since)
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { partOfCount } from '../support/stress-fifth.ts'
import { SESSION } from './support/contention.ts'
import { createThreadRunner } from './support/fault-runner.ts'
import { findNoFlaws, type Measured, measureAll } from './tables/fault-cases.ts'
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

it('at each call of each program', async () => {
  const cuts = await findNoFlaws(`cuts, seed ${SEED}`, threads, (tally) => everyCut(programs, SEED, tally), 5)
  expect(cuts.remains).toBeGreaterThan(partOfCount(2000))
})

it.each([
  ['a stop, the first continuation', 'folders that can be synced', false],
  ['a stop of a marker as plain bash writes it', 'folders that can be synced', false],
  ['a stop, the first continuation', 'folders that cannot be synced', true],
])('one after another, until the marker is gone: %s, with %s', async (name, folders, cannotSyncFolders) => {
  const measured = programs.find(({ program }) => program.name === name) as Measured
  await findNoFlaws(`cuts one after another, seed ${SEED}, ${name}, ${folders}`, threads, (tally) =>
    randomCuts(measured, 300, SEED, tally, cannotSyncFolders),
  )
})

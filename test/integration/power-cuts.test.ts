import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tickTask } from '../../src/run/store/task-files.ts'
import { SESSION } from '../stress/support/contention.ts'
import { createThreadRunner, type FaultRunner } from '../stress/support/fault-runner.ts'
import { instrument } from '../stress/support/instrument.ts'
import { type Measured, measureAll, newTally } from '../stress/tables/fault-cases.ts'
import { POWER_CUT_PROGRAMS } from '../stress/tables/fault-programs.ts'
import { everyCut, randomCuts } from '../stress/tables/power-cuts.ts'
import { createProject } from '../support/project.ts'

/** A part of `test/stress/power-cuts.test.ts`: what is not synced is lost. */

let threads: FaultRunner
let programs: Measured[] = []
beforeAll(async () => {
  threads = createThreadRunner(SESSION)
  programs = await measureAll(threads, POWER_CUT_PROGRAMS)
}, 150_000)
afterAll(() => threads.close(), 60_000)

it('a power cut at any call leaves no half file, loses no count of a block, and nothing that was reported as done', async () => {
  const tally = newTally()
  await threads.runAll(everyCut(programs, { followEvery: 20, callEvery: 5, random: 1 }, 1, tally))
  expect(tally.flaws).toEqual([])
  expect(tally.remains).toBeGreaterThan(300)
  expect(tally.blocks).toBeGreaterThan(20)
})

it.each([
  ['can', false],
  ['cannot', true],
])(
  'one marker never blocks more than three times, however often the power is cut: folders %s be synced',
  async (_, not) => {
    const tally = newTally()
    await threads.runAll(randomCuts(programs[0] as Measured, 10, 1, tally, not))
    expect(tally.flaws).toEqual([])
    expect(tally.cuts).toBeGreaterThan(20)
  },
)

it('a ticked task is on the disk before the state that counts it as done', () => {
  const project = createProject()
  project.write('specs/259_x/tasks.md', '- [ ] one\n- [ ] two\n')
  const calls: string[] = []
  const { end } = instrument([project.dir], (call, run) => {
    calls.push(`${call.name} ${path.basename(call.file)}`)
    return run()
  })
  try {
    tickTask(project.at('specs/259_x'), 'tasks.md', { text: 'two', item: 1 })
  } finally {
    end()
  }
  expect(project.read('specs/259_x/tasks.md')).toBe('- [ ] one\n- [x] two\n')
  expect(calls.slice(calls.indexOf('writeSync tasks.md'), -1)).toEqual(['writeSync tasks.md', 'fsyncSync tasks.md'])
})

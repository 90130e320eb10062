import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partOfCount } from '../support/stress-fifth.ts'
import { SESSION } from './support/contention.ts'
import { createProcessRunner, createThreadRunner } from './support/fault-runner.ts'
import { findNoFlaws, type Measured, measureAll } from './tables/fault-cases.ts'
import { everyError, everyKill, killsInTurn, randomKills } from './tables/fault-plans.ts'
import { FAULT_PROGRAMS } from './tables/fault-programs.ts'

/**
 * The hook and every command that writes, killed at each of their file-system calls, and with each of these calls failing:
 * each file reads as before or as after, the next run works, and no marker blocks more than three times.
 */

const SEED = Number(process.env.POSTFLIGHT_TEST_SEED ?? 1)

/** The programs for which all faults run as processes, too. In threads, all faults run for all programs. */
const AS_PROCESSES = /^(?:a stop, the first|create$)/

describe('in threads, from the sources', () => {
  const threads = createThreadRunner(SESSION)
  let programs: Measured[] = []
  beforeAll(async () => {
    programs = await measureAll(threads, FAULT_PROGRAMS)
    const calls = programs.reduce((sum, one) => sum + one.calls.length, 0)
    console.info(`faults: ${programs.length} programs, ${calls} calls`)
  }, 60_000)
  afterAll(() => threads.close(), 60_000)

  it('killed before, in the middle of and after each call', async () => {
    const { kills } = await findNoFlaws('kills in threads', threads, (tally) => everyKill(programs, tally))
    expect(kills).toBeGreaterThan(partOfCount(4000))
  })

  it('each call failing, once or from then on', async () => {
    const { errors } = await findNoFlaws('errors in threads', threads, (tally) => everyError(programs, tally, 5))
    expect(errors).toBeGreaterThan(partOfCount(20_000))
  })

  it.each(['a stop, the first continuation', 'a stop of a marker as plain bash writes it'])(
    'one marker whose stops are killed at one call after another, from each call on: %s',
    async (name) => {
      const measured = programs.find(({ program }) => program.name === name) as Measured
      await findNoFlaws(`one marker after the other, ${name}`, threads, (tally) => killsInTurn(measured, tally))
    },
  )

  it('one marker whose stops and other programs are killed anywhere', async () => {
    const [first] = programs as [Measured]
    await findNoFlaws(`random kills, seed ${SEED}`, threads, (tally) => randomKills(first, 400, SEED, tally))
  })
})

describe('as processes of the built files', () => {
  const processes = createProcessRunner(SESSION)
  let programs: Measured[] = []
  beforeAll(async () => {
    programs = await measureAll(processes, FAULT_PROGRAMS)
  }, 120_000)
  afterAll(() => processes.close(), 60_000)

  it('killed at each call of the programs that count, and at some calls of the others', async () => {
    await findNoFlaws('kills of processes', processes, (tally) =>
      everyKill(programs, tally, ({ program }, call, fault) =>
        AS_PROCESSES.test(program.name) ? fault !== 'kill-after' : fault === 'kill' && call % 17 === 16,
      ),
    )
  })

  it('calls failing', async () => {
    let count = 0
    await findNoFlaws('errors of processes', processes, (tally) =>
      everyError(programs, tally, 20, () => ++count % 47 === 0),
    )
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SESSION } from './support/contention.ts'
import { createProcessRunner, createThreadRunner, type FaultRunner } from './support/fault-runner.ts'
import { type Measured, measureAll, newTally, type Tally } from './tables/fault-cases.ts'
import { everyError, everyKill, killsInTurn, randomKills } from './tables/fault-plans.ts'
import { FAULT_PROGRAMS } from './tables/fault-programs.ts'

/**
 * The hook and every command that writes, killed at each of their file-system calls, and with each of these calls failing:
 * each file reads as before or as after, the next run works, and no marker blocks more than three times.
 */

const SEED = Number(process.env.POSTFLIGHT_TEST_SEED ?? 1)

/** The programs for which all faults run as processes, too. In threads, all faults run for all programs. */
const AS_PROCESSES = /^(?:a stop, the first|create$)/

function report(what: string, runner: FaultRunner, tally: Tally, since: number): void {
  const { flaws, ...figures } = tally
  console.info(
    `faults: ${what}: ${runner.count() - since} ${runner.kind === 'threads' ? 'runs in threads' : 'processes'}, ${JSON.stringify(figures)}`,
  )
  expect(flaws.length === 0 ? [] : [`${flaws.length} flaws`, ...flaws.slice(0, 40)]).toEqual([])
}

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
    const tally = newTally()
    const since = threads.count()
    await threads.runAll(everyKill(programs, tally))
    report('kills', threads, tally, since)
    expect(tally.kills).toBeGreaterThan(4000)
  })

  it('each call failing, once or from then on', async () => {
    const tally = newTally()
    const since = threads.count()
    await threads.runAll(everyError(programs, tally, 5))
    report('errors', threads, tally, since)
    expect(tally.errors).toBeGreaterThan(20_000)
  })

  it.each(['a stop, the first continuation', 'a stop of a marker as plain bash writes it'])(
    'one marker whose stops are killed at one call after another, from each call on: %s',
    async (name) => {
      const tally = newTally()
      const since = threads.count()
      const measured = programs.find(({ program }) => program.name === name) as Measured
      await threads.runAll(killsInTurn(measured, tally))
      report(`one marker after the other, ${name}`, threads, tally, since)
    },
  )

  it('one marker whose stops and other programs are killed anywhere', async () => {
    const tally = newTally()
    const since = threads.count()
    await threads.runAll(randomKills(programs[0] as Measured, 400, SEED, tally))
    report(`random kills, seed ${SEED}`, threads, tally, since)
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
    const tally = newTally()
    const since = processes.count()
    const [all, some] = [true, false].map((is) =>
      programs.filter(({ program }) => AS_PROCESSES.test(program.name) === is),
    )
    await processes.runAll(everyKill(all ?? [], tally, (_, fault) => fault !== 'kill-after'))
    await processes.runAll(everyKill(some ?? [], tally, (call, fault) => fault === 'kill' && call % 17 === 16))
    report('kills', processes, tally, since)
  })

  it('calls failing', async () => {
    const tally = newTally()
    const since = processes.count()
    let count = 0
    await processes.runAll(
      everyError(programs, tally, 20, () => {
        count += 1
        return count % 47 === 0
      }),
    )
    report('errors', processes, tally, since)
  })
})

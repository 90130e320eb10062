import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SESSION } from '../stress/support/contention.ts'
import { createProcessRunner, createThreadRunner, type FaultRunner } from '../stress/support/fault-runner.ts'
import { type Measured, measureAll, newTally } from '../stress/tables/fault-cases.ts'
import { everyError, everyKill, randomKills } from '../stress/tables/fault-plans.ts'
import { FAULT_PROGRAMS } from '../stress/tables/fault-programs.ts'

/** A part of `test/stress/faults.test.ts`: programs that are killed, or that fail, at some of their file-system calls. */

describe('in threads', () => {
  let threads: FaultRunner
  let programs: Measured[] = []
  beforeAll(async () => {
    threads = createThreadRunner(SESSION)
    programs = await measureAll(threads, FAULT_PROGRAMS)
  }, 60_000)
  afterAll(() => threads.close(), 60_000)

  it('every program that is killed at a call leaves each file as it was before or after the write', async () => {
    const tally = newTally()
    await threads.runAll(everyKill(programs, tally, (call) => call % 13 === 5))
    expect(tally.flaws).toEqual([])
    expect(tally.kills).toBeGreaterThan(300)
  })

  it('every program whose call fails does its work, or says what it could not write', async () => {
    const tally = newTally()
    // A different error at each call.
    await threads.runAll(everyError(programs, tally, 20, (call, kind) => call % 4 === 0 && kind === (call / 4) % 13))
    expect(tally.flaws).toEqual([])
    expect(tally.errors).toBeGreaterThan(500)
  })

  it('one marker never blocks more than three times, whichever process is killed', async () => {
    const tally = newTally()
    await threads.runAll(randomKills(programs[0] as Measured, 12, 1, tally))
    expect(tally.flaws).toEqual([])
    expect(tally.kills).toBeGreaterThan(100)
  })
})

describe('as processes', () => {
  let processes: FaultRunner
  let programs: Measured[] = []
  beforeAll(async () => {
    processes = createProcessRunner(SESSION)
    programs = await measureAll(
      processes,
      FAULT_PROGRAMS.filter(({ name }) => ['a stop, the second', 'clear'].includes(name)),
    )
  }, 60_000)
  afterAll(() => processes.close(), 60_000)

  it('every program survives kills and failing calls', async () => {
    const tally = newTally()
    await processes.runAll(everyKill(programs, tally, (call, fault) => fault === 'kill' && call % 12 === 11))
    await processes.runAll(everyError(programs, tally, 50, (call, kind) => call % 12 === 11 && kind === 0))
    expect(tally.flaws).toEqual([])
    expect(tally.kills).toBeGreaterThan(5)
  })
})

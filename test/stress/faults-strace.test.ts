import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SESSION } from './support/contention.ts'
import { createProcessRunner, type FaultRunner } from './support/fault-runner.ts'
import { canTamper, readTrace, type SystemCall, tampering, traced } from './support/strace.ts'
import { fail, kill, type Measured, measureAll, newTally } from './tables/fault-cases.ts'
import { putFiles } from './tables/fault-files.ts'
import { FAULT_PROGRAMS } from './tables/fault-programs.ts'

/** A part of `faults.test.ts` again, with faults in the system calls of processes of the built files. */

const canTrace = canTamper()
if (!canTrace) console.info('faults by strace: skipped, strace is missing or may not trace')

const PROGRAMS = ['a stop, the first continuation', 'a stop that abandons the marker', 'create', 'clear']
const CHANGING = /^(?:openat|write|fsync|rename|link|unlink|mkdir|rmdir|utimensat)/

describe.runIf(canTrace)('faults in system calls', () => {
  let processes: FaultRunner
  let programs: readonly { measured: Measured; calls: readonly SystemCall[] }[] = []
  beforeAll(async () => {
    processes = createProcessRunner(SESSION)
    const found = await measureAll(
      processes,
      FAULT_PROGRAMS.filter(({ name }) => PROGRAMS.includes(name)),
    )
    programs = await traceAll(processes, found)
  }, 120_000)
  afterAll(() => processes?.close(), 60_000)

  it('the preload sees every change that the system sees', () => {
    for (const { measured, calls } of programs) {
      const seen = calls.filter(({ name }) => CHANGING.test(name) && name !== 'openat').length
      // Some calls of Node, such as a copy, make none of these system calls, or several.
      const met = measured.calls.filter((call) =>
        /^(?:write|fsync|rename|link|unlink|mkdir|rmdir|lutimes)Sync \//.test(call),
      )
      expect(met.length, measured.program.name).toBe(seen)
    }
  })

  it('killed at each call that touches a file', async () => {
    const tally = newTally()
    const since = processes.count()
    const planned = programs.flatMap(({ measured, calls }) =>
      calls
        .filter(({ name }) => CHANGING.test(name) || name === 'close')
        .map((call) => ({ measured, words: tampering(call, 'signal=KILL') })),
    )
    await processes.runAll(
      planned.map(({ measured, words }) => (room) => {
        return kill(measured, room, { program: measured.program.run(room.project), tampering: words }, tally)
      }),
    )
    const { flaws, ...figures } = tally
    console.info(`faults by strace: kills: ${processes.count() - since} processes, ${JSON.stringify(figures)}`)
    expect(flaws).toEqual([])
    // The calls of Node's own start, before ours, differ a little from run to run.
    expect(tally.kills).toBeGreaterThan(planned.length * 0.8)
  })

  it('calls failing: no space for a write, an error or an interruption of a read', async () => {
    const tally = newTally()
    const since = processes.count()
    const planned = programs.flatMap(({ measured, calls }) =>
      calls
        .filter(({ name }) => name !== 'close')
        .map((call) => {
          const error = CHANGING.test(call.name) ? 'ENOSPC' : call.name === 'read' ? 'EINTR' : 'EIO'
          return { measured, words: tampering(call, `error=${error}`) }
        }),
    )
    await processes.runAll(
      planned.map(({ measured, words }, index) => (room) => {
        const start = { program: measured.program.run(room.project), tampering: words }
        return fail(measured, room, start, index % 10 === 0, tally)
      }),
    )
    const { flaws, ...figures } = tally
    console.info(`faults by strace: errors: ${processes.count() - since} processes, ${JSON.stringify(figures)}`)
    expect(flaws).toEqual([])
    expect(tally.errors).toBeGreaterThan(planned.length * 0.8)
  })
})

async function traceAll(runner: FaultRunner, programs: readonly Measured[]) {
  const traces: { measured: Measured; calls: readonly SystemCall[] }[] = []
  await runner.runAll(
    programs.map(
      (measured) =>
        function* (room) {
          putFiles(room.project, measured.before)
          yield traced(room, measured.program.run(room.project))
          traces.push({ measured, calls: readTrace(room) })
        },
    ),
  )
  return traces
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partOfCount } from '../support/stress-fifth.ts'
import { SESSION } from './support/contention.ts'
import { createProcessRunner, type FaultRunner } from './support/fault-runner.ts'
import { canTamper, readTrace, type SystemCall, tampering, traced } from './support/strace.ts'
import { fail, findNoFlaws, kill, type Measured, measureAll } from './tables/fault-cases.ts'
import { putFiles } from './tables/fault-files.ts'
import { FAULT_PROGRAMS } from './tables/fault-programs.ts'

/** A part of `faults.test.ts` again, with faults in the system calls of processes of the built files. */

const canTrace = canTamper()
if (!canTrace) console.info('faults by strace: skipped, strace is missing or may not trace')

const PROGRAMS = ['a stop, the first continuation', 'a stop that abandons the marker', 'create', 'clear']
const CHANGING = /^(?:openat|write|fsync|rename|link|unlink|mkdir|rmdir|utimensat)/

describe.runIf(canTrace)('faults in system calls', () => {
  let processes: FaultRunner
  let programs: readonly Measured[] = []
  const traces = new Map<Measured, readonly SystemCall[]>()
  beforeAll(async () => {
    processes = createProcessRunner(SESSION)
    const chosen = FAULT_PROGRAMS.filter(({ name }) => PROGRAMS.includes(name))
    programs = await measureAll(processes, chosen)
    await processes.runAll(
      programs.map(
        (measured) =>
          function* (room) {
            putFiles(room.project, measured.before)
            yield traced(room, measured.program.run(room.project))
            traces.set(measured, readTrace(room))
          },
      ),
    )
  }, 120_000)
  afterAll(() => processes?.close(), 60_000)

  const callsThat = (matches: (name: string) => boolean) =>
    [...traces].flatMap(([measured, calls]) =>
      calls.filter(({ name }) => matches(name)).map((call) => ({ measured, call })),
    )

  it('the preload sees every change that the system sees', () => {
    for (const [measured, calls] of traces) {
      const seen = calls.filter(({ name }) => CHANGING.test(name) && name !== 'openat').length
      // Some calls of Node, such as a copy, make none of these system calls, or several.
      const met = measured.calls.filter((call) =>
        /^(?:write|fsync|rename|link|unlink|mkdir|rmdir|lutimes)Sync \//.test(call),
      )
      expect(met.length, measured.program.name).toBe(seen)
    }
  })

  it('killed at each call that touches a file', async () => {
    const planned = callsThat((name) => CHANGING.test(name) || name === 'close')
    const { kills } = await findNoFlaws('kills by strace', processes, (tally) =>
      planned.map(({ measured, call }) => (room) => {
        const words = tampering(call, 'signal=KILL')
        return kill(measured, room, { program: measured.program.run(room.project), tampering: words }, tally)
      }),
    )
    // The calls of Node's own start, before ours, differ a little from run to run.
    expect(kills).toBeGreaterThan(partOfCount(planned.length) * 0.8)
  })

  it('calls failing: a used-up quota for a write, an error or an interruption of a read', async () => {
    const planned = callsThat((name) => name !== 'close')
    const { errors } = await findNoFlaws('errors by strace', processes, (tally) =>
      planned.map(({ measured, call }, index) => (room) => {
        const error = CHANGING.test(call.name) ? 'EDQUOT' : call.name === 'read' ? 'EINTR' : 'EIO'
        const start = { program: measured.program.run(room.project), tampering: tampering(call, `error=${error}`) }
        return fail(measured, room, start, index % 10 === 0, tally)
      }),
    )
    expect(errors).toBeGreaterThan(partOfCount(planned.length) * 0.8)
  })
})

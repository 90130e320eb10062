import { afterAll, describe, expect, test } from 'vitest'
import { SESSION } from './support/contention.ts'
import { ERROR_CODES } from './support/contention-scenarios.ts'
import { createThreadRunner } from './support/fault-runner.ts'
import { fail, isWrite, kill, type Measured, measure, newTally } from './tables/fault-cases.ts'
import { FAULT_PROGRAMS } from './tables/fault-programs.ts'

const threads = createThreadRunner(SESSION)
afterAll(() => threads.close())

test('try', async () => {
  const measured: Measured[] = []
  let t = performance.now()
  await threads.runAll(FAULT_PROGRAMS.map((program) => (room) => measure(program, room, (one) => measured.push(one))))
  for (const one of measured)
    console.log(`${one.program.name}: ${one.calls.length} ${one.outcome.stdout.slice(0, 60)} ${one.outcome.stderr}`)
  console.log(`measure ${performance.now() - t}`)
  t = performance.now()
  const tally = newTally()
  await threads.runAll(
    measured.flatMap((one) =>
      one.calls.flatMap((call, index) =>
        (['kill', ...(isWrite(call) ? (['kill-half'] as const) : []), 'kill-after'] as const).map(
          (fault) => (room) => kill(one, room, { program: one.program.run(room.project), at: index + 1, fault }, tally),
        ),
      ),
    ),
  )
  console.log(`kills ${performance.now() - t}`, { ...tally, flaws: tally.flaws.length }, threads.count())
  const fs = await import('node:fs')
  fs.writeFileSync('/tmp/flaws.kill', tally.flaws.join('\n'))
  t = performance.now()
  const errors = newTally()
  if (process.env.ERR)
    await threads.runAll(
      measured.flatMap((one) =>
        one.calls.flatMap((call, index) =>
          ERROR_CODES.flatMap((code) =>
            ([`error:${code}`, `errors:${code}`] as const).map(
              (fault) => (room) =>
                fail(one, room, { program: one.program.run(room.project), at: index + 1, fault }, true, errors),
            ),
          ),
        ),
      ),
    )
  console.log(`errors ${performance.now() - t}`, { ...errors, flaws: errors.flaws.length }, threads.count())
  fs.writeFileSync('/tmp/flaws.err', errors.flaws.join('\n'))
  expect(1).toBe(1)
})

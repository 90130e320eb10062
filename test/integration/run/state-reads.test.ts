/** The state of a run is read once by a stop, and again if it may have changed before the lock was free. */

import type { BigIntStats } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Around, instrument, original } from '../../stress/support/instrument.ts'
import { type Flow, IN_SESSION, IN_TASK, startFlow } from '../../support/flow.ts'
import { OTHER_SESSION, SESSION } from '../../support/payloads.ts'

describe('the state that a stop has read', () => {
  const STATE = `${IN_TASK}/workflow/state.json`

  /** A stop of a run whose state seems to be written `agoMs` before; `around` sees the calls about files. */
  async function stopAfter(agoMs: number, around: (project: Flow) => Around) {
    const project = await startFlow([{ id: 'p', prompt: 'p', artifact: '0.json' }], { env: IN_SESSION })
    let reads = 0
    const calls = around(project)
    const { end } = instrument([project.dir], (call, run) => {
      const isOfState = call.file === project.at(STATE)
      if (isOfState && call.name === 'openSync') reads += 1
      const result = calls(call, run)
      const stats = result as BigIntStats | undefined
      if (isOfState && call.name === 'lstatSync' && typeof stats?.ctimeMs === 'bigint') {
        Object.assign(stats, { ctimeMs: BigInt(Date.now() - agoMs) })
      }
      return result
    })
    try {
      return { answer: await project.stopped(), reads }
    } finally {
      end()
    }
  }

  it.each([
    ['is not read again under the lock', 60_000, 1],
    ['is read again if it changed less than a second ago: a clock may have stood still', 0, 2],
  ])('%s', async (_title, agoMs, times) => {
    const { answer, reads } = await stopAfter(agoMs, () => (_call, run) => run())
    expect(answer).toMatchObject({ decision: 'block' })
    expect(reads).toBe(times)
  })

  it('is read again if another process replaced it before the lock was free, by a text of the same length', async () => {
    let replaced = false
    const { answer } = await stopAfter(60_000, (project) => (call, run) => {
      if (!replaced && call.file.startsWith(project.at(IN_TASK, 'workflow')) && call.file.includes('lock')) {
        replaced = true
        const text = project.read(STATE)
        const other = text.replaceAll(SESSION, OTHER_SESSION.padEnd(SESSION.length, 'x').slice(0, SESSION.length))
        expect(other).not.toBe(text)
        original.writeFileSync?.(project.at(`${STATE}.new`), other)
        original.renameSync?.(project.at(`${STATE}.new`), project.at(STATE))
      }
      return run()
    })
    expect(replaced).toBe(true)
    expect(answer).toEqual({})
  })
})

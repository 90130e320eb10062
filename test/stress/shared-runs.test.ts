import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGitServer } from '../support/git-server.ts'
import { type ConnectionFault, type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts'
import { randomOf } from './support/scheduler.ts'
import { type Network, runHistory } from './support/shared-history.ts'

/**
 * A shared run on eight machines: starts, publishes, releases, takeovers and kills in random order, over a folder and over
 * HTTP with connections that are cut, delayed and doubled. Afterwards the log of the ref, and what each command reported,
 * must agree.
 */

const HISTORIES = Number(process.env.POSTFLIGHT_TEST_HISTORIES ?? 50)
const FIRST = Number(process.env.POSTFLIGHT_TEST_SEED ?? 1)
const STEPS = 14

async function expectSound(seed: number, network: Network): Promise<void> {
  const { calls, flaws } = await runHistory(seed, STEPS, network)
  const trace = calls.map(
    ({ machine, line, status, output }) => `${machine} ${line}: ${status}\n    ${output.replaceAll('\n', '\n    ')}`,
  )
  expect(flaws, `POSTFLIGHT_TEST_SEED=${seed} POSTFLIGHT_TEST_HISTORIES=2\n${trace.join('\n')}`).toEqual([])
  expect(calls.length).toBeGreaterThan(2)
}

const seeds = (share: number) =>
  Array.from({ length: Math.ceil(HISTORIES / 2) }, (_, index) => FIRST + 2 * index + share)

describe('a shared run over a folder', () => {
  test.each(seeds(0))('history %i', async (seed) => {
    await expectSound(seed, { urlOf: (remote) => `file://${remote}`, calm: async () => {} })
  })
})

describe('a shared run over HTTP, with faults', () => {
  let server: Awaited<ReturnType<typeof startGitServer>>
  let proxy: FaultyProxy
  beforeAll(async () => {
    server = await startGitServer('/')
    proxy = await startFaultyProxy(Number(new URL(server.urlOf('')).port))
  })
  afterAll(async () => {
    await proxy.close()
    await server.close()
  })

  test.each(seeds(1))('history %i', async (seed) => {
    const random = randomOf(seed * 7919)
    const fault = (): ConnectionFault | undefined => {
      const drawn = random()
      if (drawn < 0.08)
        return { kind: 'cut', side: random() < 0.5 ? 'client' : 'server', bytes: Math.floor(random() * 3_000) }
      if (drawn < 0.14) return { kind: 'delay', ms: random() * 400 }
      return drawn < 0.24 ? { kind: 'double' } : undefined
    }
    proxy.setFaults(fault)
    await expectSound(seed, {
      urlOf: (remote) => `http://127.0.0.1:${proxy.port}${remote}`,
      async calm() {
        proxy.setFaults(() => undefined)
        await proxy.settle()
      },
    })
  })
})

/** Codex runs only the hooks that its user trusts. Neither `install` nor these tests trust them by a hidden way. */

import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { say } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { HOOK_CLIENTS, TRUST_HOOKS } from '../hook-clients.ts'
import { dutiful, type HookedProject, hookedProject } from '../hooked.ts'
import type { Reply } from '../model.ts'

const CODEX = HOOK_CLIENTS.codex
const create = (task: number): Reply => CODEX.shell(`postflight create ${task} prove --operation research`)

async function listHooks({
  project: { dir, home, path },
}: HookedProject): Promise<{ key: string; currentHash: string }[]> {
  const [file = ''] = await CODEX.ensure()
  const server = spawn(file, ['app-server'], {
    cwd: dir,
    env: { PATH: path, HOME: home },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const send = (message: object): void => void server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } })
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const { id, result } = JSON.parse(line) as { id?: number; result?: { data: { hooks: never[] }[] } }
      if (id === 1) {
        send({ method: 'initialized' })
        send({ id: 2, method: 'hooks/list', params: { cwds: [dir] } })
      }
      if (id === 2) return result?.data.flatMap(({ hooks }) => hooks) ?? []
    }
    return []
  } finally {
    server.kill()
  }
}

function asksForTrust({ doctor }: HookedProject): boolean {
  return doctor().includes('Codex does not trust the hooks of')
}

describe.skipIf(hostsSkipped())('the hook in Codex', () => {
  it('is skipped until the user trusts it, and doctor reports it', async () => {
    const hooked = await hookedProject(CODEX)
    const untrusted = await hooked.run({ main: [create(1), say('Finished.')] }, { leaveOut: TRUST_HOOKS })
    const asked = asksForTrust(hooked)
    const hooks = await listHooks(hooked)
    const states = hooks.map(
      ({ key, currentHash }) => `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${currentHash}"\n`,
    )
    const trusted = await hooked.run(
      { main: dutiful(CODEX, create(2), say('Finished.')) },
      {
        leaveOut: TRUST_HOOKS,
        started: () => appendFileSync(join(hooked.project.home, '.codex/config.toml'), states.join('')),
      },
    )
    expect(untrusted.model.turns('main')).toHaveLength(2)
    expect(asked).toBe(true)
    expect(hooks).toHaveLength(4)
    expect(trusted.model.turns('main').length).toBeGreaterThan(2)
    expect(hooked.story()).toContain('block 1')
    expect(asksForTrust(hooked)).toBe(false)
  })
})

/** One host in the other's shell, which inherits its variables: each marker belongs to the agent that made it. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { say } from '../agents.ts'
import { bash } from '../claude-code/agents.ts'
import { clientEnvironment, runClaude } from '../claude-code/run-client.ts'
import { ensureClaudeCode, hostsSkipped } from '../client-cache.ts'
import { HOOK_CLIENTS } from '../hook-clients.ts'
import { dutiful, type HookedProject, hookedProject, reasonsIn } from '../hooked.ts'
import { type Model, startModel } from '../model.ts'

const CODEX = HOOK_CLIENTS.codex
const OUTER = 'postflight create 12 outer --operation "outer work"'
const INNER = 'postflight create 259 inner --operation "inner work"'
const PROMPT = 'ACTOR:inner go'

async function projectOfBoth(): Promise<HookedProject> {
  const hooked = await hookedProject(CODEX)
  hooked.postflight('install')
  onTestFinished(() => {
    hooked.postflight('uninstall')
  })
  return hooked
}

function heldFor(model: Model, actor: string): string[] {
  return reasonsIn(model.turns(actor).at(-1)).map((reason) => /^Task (\S+):/m.exec(reason)?.[1] ?? reason)
}

/** The host session of each marker when the hook blocked for it. */
function sessions(hooked: HookedProject): Record<string, string> {
  const blocks = hooked.journal().filter(({ event }) => event === 'block')
  return Object.fromEntries(blocks.map(({ task, host_session: session }) => [task, session]))
}

describe.skipIf(hostsSkipped())('a marker', () => {
  it("belongs to Codex in Claude Code's shell, and Claude Code's stays its own", async () => {
    const hooked = await projectOfBoth()
    const { dir, home, path } = hooked.project
    const codex = (await CODEX.ensure())[0]
    const claude = await ensureClaudeCode()
    let command = ''
    const model = await startModel({
      actors: {
        main: dutiful({ shell: bash }, bash(OUTER), () => bash(command), say('Outer done.')),
        inner: dutiful(CODEX, CODEX.shell(INNER), say('Inner done.')),
      },
    })
    onTestFinished(() => model.close())
    const run = { project: dir, home, path, model, prompt: PROMPT }
    CODEX.configure?.(run)
    command = `${[codex, ...CODEX.args(run)].map((word) => `'${word}'`).join(' ')} < /dev/null`
    const ran = await runClaude({ binary: claude, project: dir, home, path, model, prompt: 'go', env: CODEX.env(run) })
    expect(model.ranOut).toEqual([])
    expect(ran.exitCode, ran.stderr).toBe(0)
    expect(heldFor(model, 'inner')).toEqual(['259_inner'])
    expect(heldFor(model, 'main')).toEqual(['012_outer'])
    const owners = sessions(hooked)
    expect(owners['012_outer']).toBe(ran.sessionId)
    expect(owners['259_inner']).not.toBe(ran.sessionId)
    expect(owners['259_inner']).toMatch(/^[0-9a-f-]{36}$/)
    expect([...hooked.files('012_outer'), ...hooked.files('259_inner')]).toEqual([])
  })

  it("belongs to Claude Code in Codex's shell, and Codex's stays its own", async () => {
    const hooked = await projectOfBoth()
    const { home, path } = hooked.project
    const claude = await ensureClaudeCode()
    const words = [claude, '-p', PROMPT, '--output-format', 'json', '--allowedTools', 'Bash']
    const command = `${words.map((word) => `'${word}'`).join(' ')} < /dev/null`
    let inner: Readonly<Record<string, string>> = {}
    const { model } = await hooked.run(
      {
        main: dutiful(
          CODEX,
          CODEX.shell(OUTER),
          () => ({
            tools: [{ name: 'exec_command', input: { cmd: withVariables(command, inner), yield_time_ms: 30_000 } }],
          }),
          say('Outer done.'),
        ),
        inner: dutiful({ shell: bash }, bash(INNER), say('Inner done.')),
      },
      {
        started: (started) => {
          inner = clientEnvironment({ home, path, model: started })
        },
      },
    )
    expect(heldFor(model, 'inner')).toEqual(['259_inner'])
    expect(heldFor(model, 'main')).toEqual(['012_outer'])
    const owners = sessions(hooked)
    expect(new Set(Object.values(owners)).size).toBe(2)
    expect([...hooked.files('012_outer'), ...hooked.files('259_inner')]).toEqual([])
  })
})

/** The command with variables besides those that it inherits. */
function withVariables(command: string, variables: Readonly<Record<string, string>>): string {
  const added = Object.entries(variables).filter(([name]) => name !== 'PATH' && name !== 'HOME')
  return `mkdir -p "$HOME/tmp"; ${added.map(([name, value]) => `${name}='${value}'`).join(' ')} ${command}`
}

/** The guard as a person at the terminal of the real Claude Code sees it: the status line, and notifications. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ESCAPE, HAS_TERMINAL, plain, startCommandInTerminal } from '../../support/pseudo-terminal.ts'
import { ensureClaudeCode, hostsSkipped } from '../client-cache.ts'
import { killTree } from '../client-process.ts'
import { startModel } from '../model.ts'
import { bash, say } from './agents.ts'
import { type Actors, type GuardedProject, guardedProject } from './guarded.ts'
import { clientEnvironment } from './run-client.ts'

const binary = hostsSkipped() ? '' : await ensureClaudeCode()

const CREATE = 'postflight create 259 prove --operation research --step one --agent main'

/** Starts the client in a terminal, as a person does who has used it before and trusts the folder. */
async function inTerminal(
  { project, packageFolder }: GuardedProject,
  actors: Actors,
  env: Readonly<Record<string, string>> = {},
): Promise<{ output: () => string }> {
  const model = await startModel({ actors })
  onTestFinished(() => model.close())
  const known = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['not-a-key'], rejected: [] },
    projects: { [project.dir]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }
  writeFileSync(join(project.home, '.claude.json'), JSON.stringify(known))
  const launcher = join(packageFolder, 'hooks', 'postflight-hook')
  project.write(
    '.claude/settings.local.json',
    JSON.stringify({ statusLine: { type: 'command', command: `"${launcher}" StatusLine`, refreshInterval: 1 } }),
  )
  mkdirSync(join(project.home, 'tmp'), { recursive: true })
  const command = `stty cols 160 rows 50; exec "${binary}" --permission-mode default --allowedTools Bash -- go`
  const variables = clientEnvironment({ path: project.path, home: project.home, model, env })
  const terminal = startCommandInTerminal(
    command,
    project.dir,
    { ...variables, TERM: 'xterm-256color' },
    onTestFinished,
  )
  onTestFinished(() => killTree(terminal.pid, 'SIGKILL'))
  return terminal
}

const patient = { timeout: 60_000 }

describe.skipIf(hostsSkipped() || !HAS_TERMINAL)('at the terminal of Claude Code', () => {
  it('a marker that is given up is notified, and the status line shows it', async () => {
    const guarded = guardedProject()
    const stubborn = (): ReturnType<typeof say> => say('No.')
    const { output } = await inTerminal(
      guarded,
      { main: [bash(CREATE), stubborn(), stubborn(), stubborn(), stubborn()] },
      { POSTFLIGHT_NOTIFY: 'osc777' },
    )
    await expect.poll(() => guarded.story(), patient).toContain('cap 3')
    const { task = '' } = guarded.journal().find(({ event }) => event === 'cap') ?? {}
    await expect
      .poll(output, patient)
      .toContain(`${ESCAPE}]777;notify;postflight;postflight: task ${task} stopped without its postflight`)
    await expect.poll(() => plain(output()), patient).toContain('✗ 259 abandoned')
  })

  it('a wait is notified, and the status line shows it', async () => {
    const waits = [bash(CREATE), bash('postflight wait 259 --for "go-ahead to deploy"'), say('May I deploy?')]
    const asked = guardedProject()
    const told = await inTerminal(asked, { main: waits }, { POSTFLIGHT_NOTIFY: '1' })
    await expect
      .poll(told.output, patient)
      .toContain(`${ESCAPE}]9;postflight: task 259_prove waits for: go-ahead to deploy`)
    await expect.poll(() => plain(told.output()), patient).toContain('⏸ 259 waits: go-ahead to deploy')
  })
})

/** A new user who has only a clone, the README and Claude Code: three commands, and the first stop is blocked. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { initQuestion } from '../../../src/setup/settings-messages.ts'
import { startCommandInTerminal, type TerminalCommand } from '../../support/pseudo-terminal.ts'
import { ensureClaudeCode, hostsSkipped } from '../client-cache.ts'
import { startModel } from '../model.ts'
import { PACKAGE, readmeBlock } from '../package-copy.ts'
import { bash, commandsIn, delegate, dutiful, reasonsIn, say } from './agents.ts'
import { expectCleanEnd } from './guarded.ts'
import { createProject, type Project } from './project.ts'
import { runClaude } from './run-client.ts'

function cloneInto(folder: string): void {
  const names = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: PACKAGE })
  for (const name of names.toString().split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    cpSync(join(PACKAGE, name), join(folder, name))
  }
}

/** A machine on which nothing of ours is installed, with a project. The npm cache is the real one. */
function newMachine(): { project: Project; clone: string; env: Record<string, string> } {
  const project = createProject({ git: true })
  onTestFinished(() => project.remove())
  symlinkSync(project.dir, join(project.home, 'my-project'))
  const clone = join(project.base, 'postflight-guard')
  cloneInto(clone)
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
  const prefix = join(project.home, '.npm-global')
  // The way to the registry is the machine's.
  const network = Object.entries(process.env).filter(([name]) =>
    /proxy$|^NODE_EXTRA_CA_CERTS$|^npm_config_registry$/i.test(name),
  )
  const env = {
    ...(Object.fromEntries(network) as Record<string, string>),
    npm_config_userconfig: join(homedir(), '.npmrc'),
    PATH: [join(prefix, 'bin'), project.path, dirname(npm)].join(':'),
    HOME: project.home,
    npm_config_prefix: prefix,
    npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
    npm_config_update_notifier: 'false',
  }
  return { project, clone, env }
}

describe.skipIf(hostsSkipped())('a new user', () => {
  it('gets from nothing to the first blocked stop with the three commands of the README', async () => {
    const binary = await ensureClaudeCode()
    const { project, clone, env } = newMachine()
    const [first = '', second = '', third = ''] = readmeBlock('## Install').trim().split('\n')
    project.write('package.json', '{ "scripts": { "test": "test ! -e red" } }\n')
    project.write('src/a.js', 'module.exports = 1\n')
    const start = (command: string): TerminalCommand =>
      startCommandInTerminal(command, clone, { ...env, SHELL: '/bin/bash' }, onTestFinished)

    expect(await start(first).ended).toBe(0)
    const installed = performance.now()
    const init = start(second)
    // Enter at each question, once it is asked: entries, rules, ignored files, skill, definition of done.
    for (const asked of [1, 2, 3, 4, 5]) {
      await expect.poll(() => init.output().split(initQuestion('hook')), { timeout: 20_000 }).toHaveLength(asked + 1)
      init.type('\r')
    }
    expect(await init.ended, init.output()).toBe(0)
    const trust = start(`cd ~/my-project && ${third}`)
    await expect.poll(() => trust.output(), { timeout: 20_000 }).toContain('[y/N]')
    trust.type('y\r')
    expect(await trust.ended, trust.output()).toBe(0)

    const edit = [bash('echo "module.exports = 2" > src/a.js'), say('Done.')]
    const changes = await startModel({ actors: { main: [...edit, bash('postflight done'), say('Really done.')] } })
    onTestFinished(() => changes.close())
    const client = { binary, project: project.dir, home: project.home, path: env.PATH as string, prompt: 'go' }
    expectCleanEnd(changes, await runClaude({ ...client, model: changes }))
    const held = changes.requests.find(({ turn }) => reasonsIn(turn).length > 0)
    const ended = performance.now()
    expect(reasonsIn(held?.turn)).toEqual([expect.stringContaining('src/a.js\n')])

    const skill = readmeBlock('## In a skill').split(/\n(?=# Stage)/)[0] as string
    const model = await startModel({
      actors: { main: dutiful(bash(skill), delegate('worker'), say('Main is done.')), worker: [say('The report.')] },
    })
    onTestFinished(() => model.close())
    const ran = await runClaude({ ...client, model })
    const blocked = model.requests.find(({ turn }) => reasonsIn(turn).length > 0)

    expectCleanEnd(model, ran)
    expect(commandsIn(reasonsIn(blocked?.turn)[0] as string)).toHaveLength(4)
    expect(readdirSync(project.dir)).toContain('.claude')
    expect(readdirSync(join(project.dir, 'specs/259_prove_completeness'))).toEqual([])
    // The first command is mostly a download. Everything after it is ours.
    expect(ended - installed).toBeLessThan(20_000)
  }, 180_000)
})

/** The guard as a team's dev dependency: set up by `init`, used as the README says, cloned by a teammate, and removed. */

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { readmeBlock } from '../package-copy.ts'
import { bash, delegate, dutiful, reasonsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const EVERY_HOOK = { args: ['--include-hook-events'] } as const

/** The parts of the form that skills copy: before the sub-agent, after it, at the end. */
const [BEFORE = '', AFTER = '', END = ''] = readmeBlock('## In a skill').split(/\n(?=# Stage)/)

/** A git project that depends on the package, as `npm ci` leaves it, with nothing else on the agent's PATH. */
function teamProject(): GuardedProject & { git: (...words: string[]) => string } {
  const guarded = guardedProject({ git: true, packageIn: 'project', install: false, onPath: false })
  const { project } = guarded
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: project.dir, env: { PATH: project.path, HOME: project.home }, encoding: 'utf8' })
  mkdirSync(join(project.dir, 'node_modules/.bin'))
  symlinkSync('../postflight-guard/bin/postflight.js', join(project.dir, 'node_modules/.bin/postflight'))
  project.write('package.json', JSON.stringify({ devDependencies: { 'postflight-guard': '0.1.0' } }))
  project.write('.gitignore', 'node_modules/\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Depend on postflight-guard')
  return { ...guarded, git }
}

function init(guarded: GuardedProject): void {
  const run = guarded.postflight('init', '--yes')
  expect(run, run.stderr).toMatchObject({ status: 0 })
}

/** Does what a person does in the dialog of a new folder. Before that, a project's permission rules do not count. */
function trust({ project }: GuardedProject, folder: string): void {
  const trusted = { projects: { [folder]: { hasTrustDialogAccepted: true } } }
  writeFileSync(join(project.home, '.claude.json'), JSON.stringify(trusted))
}

describe.skipIf(hostsSkipped())('in a project that depends on the package', () => {
  it('all three stages of the README go through without a block, and without a question, once the folder is trusted', async () => {
    const guarded = teamProject()
    init(guarded)
    trust(guarded, guarded.project.dir)
    const commands = [BEFORE, AFTER, 'postflight step 259 2', 'npx --no-install postflight step 259 3', END]
    const refused = 'postflight create 260 other --check "npm test"'
    const { model } = await guarded.run(
      {
        main: [
          ...[bash(commands[0] as string), delegate('worker'), ...commands.slice(1).map(bash)],
          ...[bash(refused), say('Done.')],
        ],
        worker: [say('The report of the worker.')],
      },
      { allowedTools: 'Agent Skill' },
    )
    const results = model.turns('main').map(({ lastToolResult }) => lastToolResult)
    expect(results[1]).toContain('created')
    expect(results.slice(3, 7).join('\n')).toMatch(/✓ 1\.[\s\S]*✓ 2\.[\s\S]*✓ 3\.[\s\S]*cleared/)
    expect(results[7]).toContain('requested permissions')
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([])
    expect(guarded.story()).not.toContain('block 1')
  })

  it('in CI the job makes a marker for the session that it starts, as docs/ci.md says: its agent would be refused', async () => {
    const guarded = teamProject()
    init(guarded)
    const session = randomUUID()
    const owner = ['--agent', 'main', '--host-session', session]
    const created = guarded.postflight('create', '259', 'prove_completeness', ...owner, '--check', 'test -e done')
    expect(created, created.stderr).toMatchObject({ status: 0 })
    const { model } = await guarded.run(
      {
        main: dutiful(
          bash('postflight create 260 other --check "npm test"'),
          bash('postflight workflow start 261 third --definition flow.yaml'),
          bash('touch done'),
          say('Done.'),
        ),
      },
      {
        args: ['--session-id', session, '--permission-mode', 'bypassPermissions'],
        env: { IS_SANDBOX: '1' },
        allowedTools: 'Bash(postflight *) Bash(touch *)',
      },
    )
    const results = model.turns('main').map(({ lastToolResult }) => lastToolResult ?? '')
    expect(results[1]).toContain('requested permissions')
    expect(results[2]).toContain('requested permissions')
    expect(results.at(-1)).toContain('1 check passed')
    expect(guarded.story()).toEqual(['create', 'block 1', 'clear'])
    expect(guarded.postflight('status', '--exit-code').status).toBe(0)
  })

  it('a sub-agent finds the command too, and a session that continues later', async () => {
    const guarded = teamProject()
    init(guarded)
    const { ran, model } = await guarded.run({
      main: [delegate('worker'), say('Main is done.')],
      worker: [bash('postflight --version'), say('The report of the worker.')],
    })
    const later = await guarded.run(
      { main: [bash('cd /tmp && postflight --version'), say('Done.')] },
      { args: ['--resume', ran.sessionId as string] },
    )
    expect(model.turns('worker')[1]?.lastToolResult).toMatch(/^\d+\.\d+\.\d+$/)
    expect(later.model.turns('main')[1]?.lastToolResult).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('a teammate who has not installed the dependencies works without an error and without the guard', async () => {
    const guarded = teamProject()
    init(guarded)
    guarded.git('add', '.')
    guarded.git('commit', '--quiet', '-m', 'Set postflight-guard up')
    const clone = join(guarded.project.base, 'clone')
    guarded.git('clone', '--quiet', guarded.project.dir, clone)
    trust(guarded, clone)
    const { ran, model } = await guarded.run(
      {
        main: [bash('mkdir -p specs/259_x && touch specs/259_x/.postflight-pending'), delegate('worker'), say('Done.')],
        worker: [bash('echo postflight'), say('The report of the worker.')],
      },
      { ...EVERY_HOOK, cwd: clone },
    )
    expect(ran.result).toMatchObject({ result: 'Done.' })
    expect(ran.stderr).toBe('')
    expect(ran.notices).toEqual([])
    expect(ran.hooks.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['SessionStart', 'Stop', 'SubagentStop']),
    )
    expect(ran.hooks.map(({ exitCode, stdout, stderr }) => [exitCode, stdout, stderr])).toEqual(
      ran.hooks.map(() => [0, '', '']),
    )
    expect(reasonsIn(model.turns('worker').at(-1))).toEqual([])
  })

  it('uninstall leaves no trace, after a session', async () => {
    const guarded = teamProject()
    init(guarded)
    const status = (): string => guarded.git('status', '--short')
    const written = status()
    await guarded.run({ main: dutiful(bash(BEFORE), say('Main is done.')) })
    expect(guarded.story()).toEqual(expect.arrayContaining(['create', 'block 1', 'clear']))
    const run = guarded.postflight('uninstall')
    expect(written).not.toBe('')
    expect(run, run.stderr).toMatchObject({ status: 0 })
    expect(status()).toBe('')
  })
})

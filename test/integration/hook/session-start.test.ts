import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { observeUnfinished } from '../../../src/stop/observe-stop.ts'
import { startFlow } from '../../support/flow.ts'
import { OTHER_SESSION, SESSION, sessionStart, subagentStop } from '../../support/payloads.ts'
import { LAUNCHER } from '../../support/process.ts'
import {
  copyPackage,
  createProject,
  createSourceProject,
  type HookRun,
  hoursAgo,
  type Project,
  withMarker,
} from '../../support/project.ts'

const OWNED = { operation: 'research', cc_session_id: SESSION, agent_id: 'agent-a', reason: 'SECRET ORDER' }
const LAUNCHED = { words: ['SessionStart'] }

const contextOf = (run: HookRun): string | undefined => run.answer.hookSpecificOutput?.additionalContext

describe.concurrent('a session that starts', () => {
  it.each([
    ['startup', createProject],
    ['compact', createSourceProject],
  ])('by %s learns what is pending, and how to adopt or clear it', async (source, create) => {
    const project = create()
    project.marker('259_x', { ...OWNED, created: hoursAgo(3) })
    const before = project.snapshot()
    const run = await project.hook(sessionStart(source), LAUNCHED)
    expect(Object.keys(run.answer)).toEqual(['hookSpecificOutput'])
    expect(run.answer.hookSpecificOutput?.hookEventName).toBe('SessionStart')
    expect(contextOf(run)).toContain('- 259_x, research: pending, of this session, 3 h old')
    expect(contextOf(run)).toContain('postflight adopt <task>')
    expect(contextOf(run)).toContain('postflight clear <task>')
    expect(project.snapshot()).toEqual(before)
  })

  it('is notified of an abandoned postflight, even if nothing is pending', async () => {
    const project = withMarker(OWNED)
    for (let index = 0; index < 4; index++) await project.hook(subagentStop())
    const run = await project.hook(sessionStart('startup', { session_id: OTHER_SESSION }), LAUNCHED)
    expect(contextOf(run)).toContain('259_x, research: abandoned (gave up after 3 blocked stops), of another session')
  })

  it('knows how many markers it had no time to read', () => {
    const roots = [withMarker(OWNED).dir]
    expect(observeUnfinished({ roots, nowMs: Date.now(), deadline: 0 })).toMatchObject({ unfinished: [], unread: 1 })
    expect(observeUnfinished({ roots, nowMs: Date.now(), deadline: undefined })).toMatchObject({ unread: 0 })
  })

  // What the text says of each marker, and how long it may be, is in unit/stop/recovery.test.ts.
  it('gets the command with --root if its folder does not lead to the markers', async () => {
    const project = withMarker(OWNED)
    mkdirSync(project.at('../elsewhere/.git'), { recursive: true })
    const there = { cwd: project.at('../elsewhere'), env: { CLAUDE_PROJECT_DIR: project.dir } }
    const run = await project.hook(sessionStart('startup'), { ...LAUNCHED, ...there })
    expect(contextOf(run)).toContain(`postflight adopt --root ${project.dir} <task>`)
  })

  it('gets, if only a workflow runs, the command that continues it, and none that would be refused', async () => {
    const words = ['--host-session', OTHER_SESSION]
    const project = await startFlow([{ id: 'a', prompt: 'p', artifact: 'a.txt' }], { words })
    const context = contextOf(await project.hook(sessionStart('startup'), LAUNCHED))
    expect(context).not.toMatch(/postflight (?:adopt|clear)/)
    const named = [...(context ?? '').matchAll(/postflight (workflow) (\w+)/g)]
    expect(named.length).toBeGreaterThan(0)
    for (const [line, ...words] of named) {
      expect((await project.cli([...words, '7'], { env: { POSTFLIGHT_HOST_SESSION: SESSION } })).status, line).toBe(0)
    }
  })

  it('is notified of pending markers even without the launcher’s argument', async () => {
    expect(contextOf(await withMarker(OWNED).hook(sessionStart('startup')))).toContain('259_x')
  })
})

describe.concurrent('the agent’s shell, through the file that Claude Code runs before its commands,', () => {
  const shares = async (project: Project, program: string, env: Record<string, string> = {}): Promise<string> => {
    const file = join(project.base, 'session.sh')
    const options = { ...LAUNCHED, program: [program] as const, env: { CLAUDE_ENV_FILE: file, ...env } }
    await project.hook(sessionStart('startup'), options)
    return existsSync(file) ? file : ''
  }

  it.each(['package', 'it\'s $HOME `x` "y" \\z'])(
    'finds `postflight` of a package in a folder called %j',
    async (name) => {
      const project = createProject()
      const folder = copyPackage(join(project.base, name))
      const launcher = join(folder, 'hooks', 'postflight-hook')
      const linked = join(project.base, 'bin', 'linked')
      symlinkSync(launcher, linked)
      for (const program of [launcher, linked]) {
        const file = await shares(project, program)
        const run = await project.shell(`. '${file}' && command -v postflight && postflight --version`)
        expect(run).toMatchObject({ status: 0, stderr: '' })
        expect(run.stdout).toMatch(/^\S.*\/bin\/postflight\n\d+\.\d+/)
        expect(run.stdout.startsWith(join(folder, 'bin', 'postflight'))).toBe(true)
      }
    },
  )

  it('keeps the `postflight` that it has, however often a session starts', async () => {
    const project = createSourceProject()
    const own = join(project.base, 'bin', 'postflight')
    writeFileSync(own, '#!/bin/sh\necho own\n', { mode: 0o755 })
    await shares(project, LAUNCHER)
    const file = await shares(project, LAUNCHER)
    expect((await project.shell(`. '${file}' && postflight && echo "$PATH"`)).stdout).toBe(`own\n${project.env.PATH}\n`)
  })

  it('gets nothing from the hook of a plugin, whose folder the host adds, and nothing if the hook is off', async () => {
    const project = createSourceProject()
    expect(await shares(project, LAUNCHER, { CLAUDE_PLUGIN_ROOT: '/plugin' })).toBe('')
    expect(await shares(project, LAUNCHER, { POSTFLIGHT_DISABLE: '1' })).toBe('')
  })

  it('of droid has its session too, so that `wait` and `adopt` know it; droid names a plugin that does not exist', async () => {
    const project = createSourceProject()
    const env = { FACTORY_PROJECT_DIR: project.dir, CLAUDE_PLUGIN_ROOT: '/PLUGIN_ROOT_NOT_EXPANDED_ERROR' }
    const file = await shares(project, LAUNCHER, { ...env, session_id: SESSION, calling_session_id: 'main' })
    const lines = readFileSync(file, 'utf8').split('\n')
    const path = `export PATH='${project.env.PATH}:${join(LAUNCHER, '../../bin')}'`
    const names = ['SESSION', 'SUBAGENT'].map((name) => `export POSTFLIGHT_DROID_${name}=${SESSION}`)
    expect(lines).toEqual([...names, path, ''])
    expect(await shares(createSourceProject(), LAUNCHER, { ...env, CLAUDE_ENV_FILE: '', session_id: SESSION })).toBe('')
  })

  it('does without if that file cannot be written', async () => {
    const project = createSourceProject()
    const env = { CLAUDE_ENV_FILE: '/nowhere/session.sh' }
    const run = await project.hook(sessionStart('startup'), { ...LAUNCHED, program: [LAUNCHER], env })
    expect(run).toMatchObject({ stdout: '{}\n', stderr: '' })
  })
})

/** The plugin, from a folder and from marketplaces: nothing is in the settings' hooks, and `postflight` is not on the PATH. */

import { execFile } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { layOutPlugin } from '../../../scripts/plugin.ts'
import { startGitServer } from '../../support/git-server.ts'
import { ensureClaudeCode, hostsSkipped } from '../client-cache.ts'
import { PACKAGE } from '../package-copy.ts'
import { bash, delegate, dutiful, reasonsIn, say, useSkill } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'
import { clientEnvironment, transcriptNotices } from './run-client.ts'

const binary = hostsSkipped() ? '' : await ensureClaudeCode()

const CREATE =
  'postflight create 259 prove --skill lean --operation research --step "status update" --step "git commit"'
const TASK = '259_prove'
const REPORT = 'The whole report:\n- first finding\n- second finding'
const NAME = 'postflight-guard@postflight-guard'

interface WithPlugin {
  guarded: GuardedProject
  /** The client's arguments for the plugin. */
  args: string[]
}

interface Command {
  code: number
  stdout: string
  stderr: string
}

/** Runs a command of the client that is not a conversation. */
async function claude(guarded: GuardedProject, ...words: string[]): Promise<Command> {
  const { dir, home, path } = guarded.project
  // No model answers there: these commands ask none.
  const env = clientEnvironment({ path, home, model: { url: 'http://127.0.0.1:9' } })
  const running = promisify(execFile)(binary, words, { cwd: dir, env })
  running.child.stdin?.end()
  const { code, stdout, stderr } = await running.then(
    (ended) => ({ code: 0, ...ended }),
    (error: Command) => error,
  )
  return { code, stdout, stderr }
}

/** A project without any wiring, and the plugin in a folder beside it. */
function beforeInstall(): { guarded: GuardedProject; folder: string } {
  const guarded = guardedProject({ install: false })
  rmSync(join(guarded.project.bin, 'postflight'))
  const folder = join(guarded.project.base, 'the plugin')
  layOutPlugin(PACKAGE, folder)
  return { guarded, folder }
}

async function installFrom(guarded: GuardedProject, marketplace: string): Promise<void> {
  for (const words of [
    ['marketplace', 'add', marketplace],
    ['install', NAME],
  ]) {
    const done = await claude(guarded, 'plugin', ...words)
    expect(done, done.stderr || done.stdout).toMatchObject({ code: 0 })
  }
}

const FORMS: Readonly<Record<string, () => Promise<WithPlugin>>> = {
  'a folder': async () => {
    const { guarded, folder } = beforeInstall()
    return { guarded, args: ['--plugin-dir', folder] }
  },
  'a directory marketplace': async () => {
    const { guarded, folder } = beforeInstall()
    await installFrom(guarded, folder)
    return { guarded, args: [] }
  },
  'a git marketplace': async () => {
    const { guarded, folder } = beforeInstall()
    const server = await startGitServer(await committed(guarded, folder))
    onTestFinished(() => server.close())
    await installFrom(guarded, server.urlOf('plugin.git'))
    // The copied files must be enough.
    rmSync(folder, { recursive: true })
    return { guarded, args: [] }
  },
}

/** Commits a folder as the top of a repository. Returns the folder with the bare repository `plugin.git`. */
async function committed(guarded: GuardedProject, folder: string): Promise<string> {
  const { base, home, path } = guarded.project
  const work = join(base, 'work')
  cpSync(folder, work, { recursive: true })
  const git = (...words: string[]) => promisify(execFile)('git', words, { cwd: work, env: { PATH: path, HOME: home } })
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid']
  await git('init', '--quiet', '--initial-branch=main')
  await git('add', '.')
  await git(...identity, 'commit', '--quiet', '-m', 'The plugin')
  await git('clone', '--quiet', '--bare', work, join(base, 'served', 'plugin.git'))
  return join(base, 'served')
}

describe.skipIf(hostsSkipped())('the plugin', () => {
  it('passes the strict validation of the client', async () => {
    const { guarded, folder } = beforeInstall()
    const validated = await claude(guarded, 'plugin', 'validate', '--strict', folder)
    const manifest = join(folder, '.claude-plugin', 'plugin.json')
    const listed = await claude(guarded, 'plugin', 'validate', '--strict', manifest)
    expect(validated, validated.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining('Validation passed') })
    expect(listed, listed.stdout).toMatchObject({ code: 0 })
    for (const part of ['skills: postflight-guard:postflight', 'bin: postflight']) {
      expect(validated.stdout).toContain(part)
    }
    expect(validated.stdout.match(/bin: /g)).toHaveLength(1)
  })

  it('leaves no hook, no command and no setting when it is uninstalled', async () => {
    const { guarded, folder } = beforeInstall()
    const scene = () =>
      guarded.run(
        { main: [bash('command -v postflight || echo none'), say('Done.')] },
        { args: ['--include-hook-events'] },
      )
    await installFrom(guarded, folder)
    const installed = await scene()
    await claude(guarded, 'plugin', 'uninstall', NAME)
    await claude(guarded, 'plugin', 'marketplace', 'remove', 'postflight-guard')
    const uninstalled = await scene()
    expect(installed.ran.hooks.map(({ event }) => event)).toEqual(['SessionStart', 'PostToolUse', 'Stop'])
    expect(installed.model.turns('main')[1]?.lastToolResult).toBe(join(folder, 'bin', 'postflight'))
    expect(uninstalled.ran.hooks).toEqual([])
    expect(uninstalled.model.turns('main')[1]?.lastToolResult).toBe('none')
    const settings = readFileSync(join(guarded.project.home, '.claude', 'settings.json'), 'utf8')
    expect(settings).not.toContain('postflight')
  })

  it('tells the user at the start of a session that settings start the hook too, and how to end it', async () => {
    const { guarded, folder } = beforeInstall()
    const scene = async () => {
      await guarded.run({ main: [say('Done.')] }, { args: ['--plugin-dir', folder] })
      return transcriptNotices(guarded.project.home)
    }
    const once = await scene()
    const command = join(folder, 'hooks', 'postflight-hook')
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: `"${command}"` }] }] }
    guarded.project.write('.claude/settings.local.json', JSON.stringify({ hooks }))
    const twice = await scene()
    expect(once).toEqual([])
    expect(twice).toEqual([
      { hookEvent: 'SessionStart', content: expect.stringContaining('`postflight uninstall --scope local` ends it.') },
    ])
  })

  it.each(Object.entries(FORMS))(
    'from %s blocks main until its steps are ticked and its marker is cleared',
    async (_form, install) => {
      const { guarded, args } = await install()
      const { ran, model } = await guarded.run(
        { main: dutiful(bash(CREATE), delegate('worker'), say('The research is finished.')), worker: [say(REPORT)] },
        { args },
      )
      expect(model.turns('worker')).toHaveLength(1)
      const [reason = '', ...others] = reasonsIn(model.turns('main').at(-1))
      // Its command is on the PATH of the agent, so the reason names no other way to start it.
      expect(reason).toContain(`\nTick each one when it is done: postflight step ${TASK} <number>\n`)
      expect(reason).toContain(
        `\nWhen everything is done, clear the marker: postflight clear ${TASK}\nBlocked stop 1 of 3.`,
      )
      expect(others).toEqual([])
      expect(ran.result).toMatchObject({ result: 'The research is finished.' })
      expect(guarded.files(TASK)).toEqual([])
      expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'step', 'step', 'clear'])
    },
  )

  it('teaches the protocol by its skill, and its commands show and remove a marker', async () => {
    const { guarded, folder } = beforeInstall()
    const args = ['--plugin-dir', folder]
    // By a plain terminal, so that it blocks no main conversation.
    guarded.postflight('create', '259', 'prove')
    // The commands allow their own shell calls.
    const allowedTools = 'Read'
    const taught = await guarded.run({ main: [useSkill('postflight-guard:postflight'), say('Learnt.')] }, { args })
    const shown = await guarded.run(
      { main: [bash('postflight status'), say('Shown.')] },
      { args, allowedTools, prompt: '/postflight-guard:status' },
    )
    const cleared = await guarded.run(
      { main: [bash('postflight clear 259'), say('Removed.')] },
      { args, allowedTools, prompt: '/postflight-guard:clear 259' },
    )
    expect(taught.model.turns('main')[1]?.lastUserText).toContain('postflight step 259 "update status"')
    const [asked, status] = shown.model.turns('main')
    expect(asked?.lastUserText).toContain('tell me in a few lines what is pending')
    expect(status?.lastToolResult).toContain(TASK)
    expect(cleared.model.turns('main')[0]?.lastUserText).toContain('What I named: `259`')
    expect(guarded.files(TASK)).toEqual([])
  })
})

import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HookHostName } from '../../../src/hosts/hook-hosts.ts'
import {
  type CliRun,
  copyPackage,
  createDependentProject,
  createSourceProject,
  findingsOf,
  type JsonDocument,
  linkWorktree,
  type Project,
  type RunOptions,
} from '../../support/project.ts'

/** `install`, `uninstall` and `doctor` for Codex CLI, Copilot CLI, Qwen Code and Factory droid. */

const FILES = {
  codex: { project: '.codex/hooks.json', user: '.codex/hooks.json' },
  copilot: { project: '.claude/settings.json', user: '.copilot/hooks/postflight-guard.json' },
  qwen: { project: '.qwen/settings.json', user: '.qwen/settings.json' },
  droid: { project: '.factory/settings.json', user: '.factory/settings.json' },
} as const satisfies Record<HookHostName, Record<Scope, string>>

type Scope = 'project' | 'user'

const HOSTS = Object.keys(FILES) as HookHostName[]
const EVERY = HOSTS.flatMap((host) => [[host, 'project'] as const, [host, 'user'] as const])

function fileOf(project: Project, host: HookHostName, scope: Scope): string {
  return join(scope === 'project' ? project.dir : project.home, FILES[host][scope])
}

const install = (project: Project, host: string, ...words: string[]): Promise<CliRun> =>
  project.cli(['install', '--host', host, ...words])

const STOP = '"Stop": [{ "hooks": [{ "type": "command", "command": "echo" }] }]'

const hooksIn = (file: string): JsonDocument => JSON.parse(readFileSync(file, 'utf8')).hooks

function eventsIn(file: string): string[] {
  return Object.entries<{ matcher?: string }[]>(hooksIn(file)).flatMap(([event, groups]) =>
    groups.map(({ matcher }) => (matcher === undefined ? event : `${event} ${matcher}`)),
  )
}

const commandIn = (file: string): string => hooksIn(file).Stop[0].hooks[0].command

async function wrongIn(project: Project, options?: RunOptions): Promise<{ what: string; fix: string | null }[]> {
  const { wrong } = await findingsOf(project.cli, options)
  return wrong.filter(({ check }) => check === 'settings').map(({ what, fix }) => ({ what, fix }))
}

/** Writes the trust of Codex's user in the hooks of the project. */
function trustInCodex(project: Project): void {
  const states = ['subagent_stop', 'stop', 'session_start', 'post_tool_use'].map(
    (event) => `[hooks.state."${fileOf(project, 'codex', 'project')}:${event}:0:0"]\ntrusted_hash = "sha256:0"\n`,
  )
  project.write('../home/.codex/config.toml', states.join(''))
}

const GEMINI = '{"hooks": {"AfterAgent": [{"command": "/x/postflight-hook"}]}}'

describe.concurrent('install --host', () => {
  it.each(EVERY)('%s --scope %s writes a file that uninstall removes', async (host, scope) => {
    const project = createSourceProject()
    const file = fileOf(project, host, scope)
    const words = ['--host', host, '--scope', scope]
    const run = async (command: string) => (await project.cli([command, ...words, '--json'])).json()
    expect(await run('install')).toMatchObject({ file, changed: true, portable: false })
    expect(await run('install')).toMatchObject({ changed: false })
    expect(eventsIn(file)).toContain('Stop')
    expect(await run('uninstall')).toMatchObject({ file, changed: true, removed_file: true })
    expect(() => eventsIn(file)).toThrow('ENOENT')
  })

  it.each([
    ['qwen', '{"permissions":[]}'],
    ['qwen', '{\n  // mine\n  "permissions": [] // "Stop": [\n}\n'],
    ['droid', '{\n  // mine\n  "model": "x" // "Stop": [\n}\n'],
  ] as const)('%s keeps %j, and says that markers stay', async (host, text) => {
    const project = createSourceProject({ files: { [FILES[host].project]: text } })
    await project.cli(['install', '--scope', 'user'])
    expect(await wrongIn(project)).toEqual([])
    await install(project, host)
    expect(await wrongIn(project)).toEqual([])
    project.marker('259_x', {})
    expect((await project.cli(['uninstall', '--host', host])).stdout).toContain('Kept 1 marker in specs/')
    expect(project.read(FILES[host].project)).toBe(text)
  })

  it('registers the events and the shell tool of each host', async () => {
    const project = createSourceProject()
    for (const host of HOSTS) await install(project, host)
    const stops = ['SubagentStop', 'Stop', 'SessionStart', 'PostToolUse Bash']
    expect(eventsIn(fileOf(project, 'codex', 'project'))).toEqual(stops)
    expect(eventsIn(fileOf(project, 'qwen', 'project'))).toEqual([...stops, 'PreToolUse structured_output'])
    // Copilot reads Claude Code's settings, which also have an entry for returning sub-agents.
    expect(eventsIn(fileOf(project, 'copilot', 'project'))).toEqual([
      ...stops,
      'PostToolUse Agent|Skill',
      'PostToolUseFailure Bash',
      'PreToolUse StructuredOutput|SubagentHandback|task_complete',
    ])
    expect(eventsIn(fileOf(project, 'droid', 'project'))).toEqual(['Stop', 'SessionStart', 'PostToolUse Execute'])
  })

  it("names the project's own copy if the host tells hooks the project, and never for Codex", async () => {
    const { project, folder, cli } = createDependentProject()
    for (const host of HOSTS) await cli(`install --host ${host}`)
    const ofProject = '"$CLAUDE_PROJECT_DIR/node_modules/postflight-guard/hooks/postflight-hook"'
    for (const host of ['copilot', 'qwen', 'droid'] as const)
      expect(commandIn(fileOf(project, host, 'project'))).toContain(ofProject)
    const ofCodex = commandIn(fileOf(project, 'codex', 'project'))
    expect(ofCodex).toContain(`"${folder}/hooks/postflight-hook"`)
    expect(ofCodex).not.toContain('$')
  })

  it('says what the user must trust, and trusts nothing itself', async () => {
    const project = createSourceProject()
    const codex = await install(project, 'codex')
    expect(codex.stdout).toContain('type /hooks, and trust each entry')
    expect(codex.stdout).toContain('does not tell its hooks where the project is')
    const copilot = await install(project, 'copilot')
    expect(copilot.stdout).toContain('--trust-folder')
    expect(copilot.stdout).toContain('Claude Code and Copilot CLI both read this file')
    expect((await install(project, 'qwen')).stdout).not.toMatch(/trust/)
    expect(project.has('../home/.codex/config.toml')).toBe(false)
    // The user's own hooks always run there.
    expect((await install(createSourceProject(), 'copilot', '--scope', 'user')).stdout).not.toMatch(/trust/)
  })

  it("says that the removal of Copilot CLI's hook also removes Claude Code's", async () => {
    const project = createSourceProject()
    await project.cli(['install'])
    const uninstall = async () => (await project.cli(['uninstall', '--host', 'copilot'])).stdout
    expect(await uninstall()).toContain('Claude Code and Copilot CLI both read this file')
    expect(await uninstall()).not.toContain('both read')
  })

  it.each(['copilot', 'codex', 'opencode'])('--reactive is refused for %s, and nothing is written', async (host) => {
    const project = createSourceProject({ files: { 'rules.json': '[]' } })
    const stderr = expect.stringContaining(`--reactive is for Claude Code, not for --host ${host}`)
    expect(await install(project, host, '--reactive', 'rules.json')).toMatchObject({ status: 64, stderr })
    expect(Object.keys(project.snapshot())).toEqual(['rules.json', 'specs'])
  })

  it.each(HOSTS)('%s refuses a second scope, which would count each stop twice', async (host) => {
    const project = createSourceProject()
    await install(project, host)
    const stderr = expect.stringContaining(`postflight uninstall --host ${host} --scope project`)
    expect(await install(project, host, '--scope', 'user')).toMatchObject({ status: 1, stderr })
    expect((await install(project, host, '--scope', 'user', '--force')).status).toBe(0)
    expect((await wrongIn(project)).map(({ fix }) => fix)).toContain(`postflight uninstall --host ${host} --scope user`)
  })

  it('copilot refuses to repeat what it reads of Claude Code, and Claude Code what Copilot CLI has', async () => {
    const [project, other] = [createSourceProject(), createSourceProject()]
    await project.cli(['install', '--scope', 'local'])
    const run = await install(project, 'copilot', '--scope', 'user')
    expect(run.stderr).toContain('the hook is already in .claude/settings.local.json')
    await install(other, 'copilot', '--scope', 'user')
    const stderr = expect.stringContaining('--host copilot --scope user')
    for (const words of [['install'], ['init', '--yes']])
      expect(await other.cli(words)).toMatchObject({ status: 1, stderr })
  })

  it('follows the variables that name the folder of the user', async () => {
    const project = createSourceProject()
    const [codex, copilot, qwen] = ['codex', 'copilot', 'qwen'].map((name) => join(project.base, name))
    const env = { CODEX_HOME: codex as string, COPILOT_HOME: copilot as string, QWEN_HOME: qwen as string }
    for (const host of ['codex', 'copilot', 'qwen'])
      await project.cli(['install', '--host', host, '--scope', 'user'], { env })
    expect(eventsIn(join(env.CODEX_HOME, 'hooks.json'))).toContain('Stop')
    expect(eventsIn(join(env.COPILOT_HOME, 'hooks/postflight-guard.json'))).toContain('Stop')
    expect(eventsIn(join(env.QWEN_HOME, 'settings.json'))).toContain('Stop')
  })

  it.each([
    ...['codex', 'qwen', 'droid'].map((host) => [host, 'local', 'use user or project'] as const),
    ['gemini', 'project', 'use one of claude, opencode, codex, copilot, qwen, droid'] as const,
  ])('%s --scope %s is refused, with those that there are', async (host, scope, named) => {
    const run = await install(createSourceProject(), host, '--scope', scope)
    expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining(named) })
  })
})

describe.concurrent('doctor finds', () => {
  it('the hook of Copilot CLI right, also where install does not write it', async () => {
    const project = createSourceProject()
    await install(project, 'copilot')
    expect(await wrongIn(project)).toEqual([])
    const file = '.github/hooks/x/guard.json'
    const settings = fileOf(project, 'copilot', 'project')
    const bash = commandIn(settings)
    project.write(file, readFileSync(settings, 'utf8'))
    const ofCopilot = ['--host', 'copilot', '--scope', 'project']
    const fix = `postflight install --force ${ofCopilot.join(' ')}`
    expect((await wrongIn(project)).map((one) => one.fix)).toEqual([fix])
    expect((await project.cli(['install', '--force', ...ofCopilot])).stdout).toContain(`Removed ${file}`)
    await project.cli(['uninstall'])
    project.write(file, JSON.stringify({ hooks: { Stop: [{ type: 'command', bash }] } }))
    expect(await wrongIn(project)).toMatchObject([{ what: expect.stringContaining('for some of its events only') }])
    const stderr = expect.stringContaining('`postflight uninstall --host copilot --scope project`')
    for (const words of [[], ofCopilot, ['--host', 'copilot', '--scope', 'user']])
      expect(await project.cli(['install', ...words])).toMatchObject({ status: 1, stderr })
    expect((await project.cli(['uninstall'])).stdout).toContain(`${file}: \`postflight uninstall --host copilot\``)
    expect((await project.cli(['uninstall', ...ofCopilot])).stdout).toBe(`Removed ${file}: it held nothing else\n`)
  })

  it.each(['hooks.json', 'hooks/hooks.json'])('that droid ignores its settings for the hooks in %s', async (name) => {
    const project = createSourceProject()
    await install(project, 'droid')
    const mine = `{\n  ${STOP}\n}\n`
    project.write(`.factory/${name}`, mine)
    const [wrong] = await wrongIn(project)
    expect(wrong).toMatchObject({ what: expect.stringContaining(`because it reads ${project.at('.factory', name)}`) })
    await project.cli((wrong?.fix ?? '').split(' ').slice(1))
    expect(await wrongIn(project)).toEqual([])
    expect(project.has('.factory/settings.json')).toBe(false)
    expect(JSON.parse(project.read(`.factory/${name}`)).Stop).toHaveLength(2)
    await project.cli(['uninstall', '--host', 'droid'])
    expect(project.read(`.factory/${name}`)).toBe(mine)
  })

  it("that install names the user's own hooks, which droid reads no longer", async () => {
    const others = `{ "hooks": { ${STOP}, "SessionStart": [], "Notification": [] } }`
    const files = { '.factory/hooks.json': `{ ${STOP} }`, '.factory/settings.json': others }
    const project = createSourceProject({ files })
    const words = ['install', '--host', 'droid', '--scope', 'project']
    const note =
      /^Factory droid ignores the SessionStart hooks in .*settings\.json from now on: move them to .*hooks\.json$/m
    for (const more of [['--dry-run'], []]) expect((await project.cli([...words, ...more])).stdout).toMatch(note)
    expect((await project.cli(words)).stdout).not.toContain('ignores')
    expect(project.read('.factory/settings.json')).toBe(others)
  })

  it('nothing wrong in a file of Codex that also has events at its top, which only droid reads', async () => {
    const project = createSourceProject({ files: { '.codex/hooks.json': '{ "Stop": [{ "hooks": [] }] }' } })
    await install(project, 'codex')
    expect(eventsIn(project.at('.codex/hooks.json'))).toContain('Stop')
  })

  it('entries that are not complete, and install completes them', async () => {
    const project = createSourceProject()
    await project.shell('git init --quiet')
    await install(project, 'droid')
    const settings = JSON.parse(project.read('.factory/settings.json'))
    delete settings.hooks.PostToolUse
    project.write('.factory/settings.json', JSON.stringify(settings))
    // Without --skip, `init` would add Claude Code's hook, or refuse to.
    const fixes = ['postflight install --host droid --scope project', expect.stringContaining('init --yes --skip hook')]
    expect((await findingsOf(project.cli)).wrong.map(({ fix }) => fix)).toEqual(fixes)
    await install(project, 'droid')
    expect(await wrongIn(project)).toEqual([])
  })

  it.each([
    ['qwen', '{"hooks": "/x/postflight-hook"'],
    ['droid', '\ufeff{ "a": "/x/postflight-hook" }'],
    ['codex', '{ "a": "/x/postflight-hook" } // mine'],
  ] as const)('a file with the hook that %s cannot read: %j', async (host, text) => {
    const project = createSourceProject({ files: { [FILES[host].project]: text } })
    await project.cli(['install'])
    const what = expect.stringContaining(FILES[host].project)
    const fix = expect.stringMatching(/until then .+ may ignore all of it/)
    expect((await wrongIn(project))[0]).toEqual({ what, fix })
  })

  it.each([
    ['{ "Stop": [] }', 'hooks.json'],
    [`// "hooks": {\n{ ${STOP} }`, 'hooks.json'],
    ...['', `\ufeff{ ${STOP} }`, `{ "hooks": { ${STOP} } }`, `{\n// ${STOP}\n}`, '{ "Notification": [{}] }'].map(
      (text) => [text, 'settings.json'],
    ),
  ])('nothing wrong if droid has %j in hooks.json, and the hook in %s', async (text, file) => {
    const files = { '.factory/hooks.json': text, '.factory/hooks/hooks.json': `{ ${STOP} }` }
    const project = createSourceProject({ files })
    await install(project, 'droid')
    expect(await wrongIn(project)).toEqual([])
    expect(project.read(`.factory/${file}`)).toContain('postflight-hook')
  })

  it('that the hook is not installed where only hosts have it in which it does not work', async () => {
    const project = createSourceProject({ files: { '.gemini/settings.json': GEMINI } })
    expect((await wrongIn(project)).map(({ what }) => what)).toEqual([
      expect.stringContaining('not installed'),
      expect.stringContaining('Gemini CLI is not supported'),
    ])
  })

  it('hooks that Codex does not trust yet', async () => {
    const project = createSourceProject({ git: false })
    await install(project, 'codex')
    const untrusted = await wrongIn(project)
    trustInCodex(project)
    const what = expect.stringMatching(/^Codex does not trust the hooks of .+hooks\.json, .+\(.*Stop.*\), so it skips/)
    expect(untrusted).toEqual([{ what, fix: 'open Codex in the project, type /hooks, and trust each entry' }])
    expect(await wrongIn(project)).toEqual([])
    const trust = join(project.home, '.codex/config.toml')
    renameSync(trust, join(project.base, 'trust.toml'))
    symlinkSync(join(project.base, 'trust.toml'), trust)
    expect(await wrongIn(project)).toEqual([])
    // In a linked worktree Codex reads the main checkout's file, if there is such a folder.
    const cwd = await linkWorktree(project)
    expect(await wrongIn(project, { cwd })).toEqual([])
    const stderr = expect.stringContaining(`Codex CLI reads the hooks of the main checkout ${project.dir}, and only if`)
    expect(await project.cli(['install', '--host', 'codex'], { cwd })).toMatchObject({ status: 64, stderr })
    rmSync(join(cwd, '.codex'), { recursive: true })
    expect(await wrongIn(project, { cwd })).toMatchObject([{ what: expect.stringContaining('not installed') }])
  })

  it('that Copilot CLI runs no hook, or not those of one file', async () => {
    const project = createSourceProject({
      files: { '.github/hooks/a.json': '{ "disableAllHooks": true, "hooks": {} }' },
    })
    await install(project, 'copilot', '--scope', 'user')
    project.write('../home/.claude/settings.json', '{ "disableAllHooks": true }')
    expect(await wrongIn(project)).toEqual([])
    const own = fileOf(project, 'copilot', 'user')
    const text = readFileSync(own, 'utf8')
    for (const file of ['.claude/settings.json', '.claude/settings.local.json', '.github/copilot/settings.json']) {
      project.write(file, '{ "disableAllHooks": true }')
      const what = expect.stringContaining(`${file} sets disableAllHooks, so Copilot CLI runs no hook`)
      expect(await wrongIn(project)).toMatchObject([{ what }])
      project.write(file, '{}')
    }
    writeFileSync(own, text.replace('{', '{ "disableAllHooks": true,'))
    const what = `${own} sets disableAllHooks, so Copilot CLI runs no hook`
    expect((await wrongIn(project)).map((one) => one.what)).toEqual([what])
    project.write('.github/hooks/a.json', text)
    expect(JSON.stringify(await wrongIn(project))).not.toContain(' runs ')
  })

  it.each([
    ['qwen', '.qwen', '{ "disableAllHooks": true /* "x" */ }', 'disableAllHooks'],
    ['droid', '.factory', '{ "hooks": { "showHookOutput": true, "hooksDisabled": true } } // mine', 'hooksDisabled'],
  ])('that %s runs no hook', async (host, folder, settings, name) => {
    const project = createSourceProject()
    await install(project, host)
    project.write(`../home/${folder}/settings.json`, settings)
    const what = expect.stringContaining(`home/${folder}/settings.json sets ${name}`)
    expect(await wrongIn(project)).toMatchObject([{ what }])
    await project.cli(['install', '--host', host, '--scope', 'user', '--force'])
    expect(await wrongIn(project)).toMatchObject([{ what }, { what: expect.stringContaining('runs the hook of each') }])
  })

  it('the hook in hosts where it does not work', async () => {
    const project = createSourceProject()
    await project.cli(['install'])
    project.write('.gemini/settings.json', GEMINI)
    project.write('../home/.gemini/settings.json', '{}')
    project.write('../home/.kimi-code/config.toml', '[[hooks]]\ncommand = "/x/postflight-hook"\n')
    expect((await wrongIn(project)).map(({ what }) => what)).toEqual([
      expect.stringContaining('Gemini CLI is not supported'),
      expect.stringContaining('Kimi Code is not supported'),
    ])
    rmSync(project.at('.gemini/settings.json'))
    rmSync(join(project.home, '.kimi-code/config.toml'))
    // Kimi Code reads only the one in the home folder.
    project.write('.kimi-code/config.toml', '[[hooks]]\ncommand = "/x/postflight-hook"\n')
    expect(await wrongIn(project)).toEqual([])
  })

  it("the project's own copy, whatever copy looks", async () => {
    const { project, folder, cli } = createDependentProject()
    const packageFolder = copyPackage(join(project.base, 'other'))
    await cli('install --host qwen')
    expect(await wrongIn(project, { packageFolder })).toEqual([])
    chmodSync(join(folder, 'hooks/postflight-hook'), 0o644)
    expect((await wrongIn(project, { packageFolder }))[0]?.what).toContain("starts the project's own copy")
  })
})

import fs from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CommandContext } from '../../../src/project/command-context.ts'
import { hookCommand } from '../../../src/setup/install/our-hooks.ts'
import { SESSION, sessionStart, subagentStop } from '../../support/payloads.ts'
import { LAUNCHER, NOBODY, PACKAGE } from '../../support/process.ts'
import {
  claudeHookEnv,
  copyPackage,
  createDependentProject,
  createProject,
  createSourceProject,
  findingsOf,
  type JsonDocument,
  type Project,
} from '../../support/project.ts'

const SETTINGS = '.claude/settings.json'
const EXAMPLE = fs.readFileSync(join(PACKAGE, 'settings.example.json'), 'utf8')

function projectWith(settings: string): Project {
  return createSourceProject({ files: { [SETTINGS]: settings } })
}

const settingsWith = (command: string): string =>
  JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })

/** The hooks in settings: their events and commands. */
function hooksIn(text: string): [event: string, command: string][] {
  const settings = JSON.parse(text) as { hooks?: Record<string, { hooks: { command: string }[] }[]> }
  return Object.entries(settings.hooks ?? {}).flatMap(([event, groups]) =>
    groups.flatMap(({ hooks }) => hooks.map(({ command }): [string, string] => [event, command])),
  )
}

const commandsOf = (text: string): string[] => hooksIn(text).map(([, command]) => command)

const ourEventsIn = (text: string): string[] =>
  hooksIn(text)
    .flatMap(([event, command]) => (command.includes('postflight-hook') ? [event] : []))
    .sort()

/** The settings without our entries, and without lists that held nothing else. */
function withoutOurs(text: string): JsonDocument {
  const settings = JSON.parse(text) as JsonDocument
  for (const [event, groups] of Object.entries<JsonDocument[]>(settings.hooks ?? {})) {
    settings.hooks[event] = groups.filter((group) => !JSON.stringify(group).includes('postflight-hook'))
    if (settings.hooks[event].length === 0) delete settings.hooks[event]
  }
  if (settings.hooks !== undefined && Object.keys(settings.hooks).length === 0) delete settings.hooks
  return settings
}

const EVENTS = 'PostToolUse PostToolUse PostToolUseFailure PreToolUse SessionStart Stop SubagentStop'.split(' ')

const TABS =
  '{\n\t"unknown": { "deep": [1, 2.5e3, null, true, "ü🚀\\u0041"] },\n\t"hooks": {\n\t\t"SubagentStop": [\n\t\t\t{ "hooks": [ { "type": "command", "command": "x", "timeout": 5 } ] }\n\t\t]\n\t}\n}\n'

/** Settings in some layouts; unit/setup/claude-hooks.test.ts and property/setup have more. */
const LAYOUTS: Record<string, string> = {
  'an empty file': '',
  'tabs, other hooks and unknown keys': TABS,
  'CRLF line ends, and empty hooks': '{\r\n  "env": { "A": "b" },\r\n  "hooks": {}\r\n}\r\n',
  'a byte-order mark': '\ufeff{\n  "env": {}\n}\n',
}

/** The layouts that an `uninstall` after an `install` leaves as they were, to the byte: they have no empty lists. */
const RESTORED = ['tabs, other hooks and unknown keys', 'a byte-order mark']

const windowsCommand = (project: Project, packageFolder: string) =>
  hookCommand({ packageFolder, platform: 'win32' } as CommandContext, 'project', project.dir)

describe.concurrent('install', () => {
  it('writes settings.example.json if there are no settings and the project has the package', async () => {
    const { project, cli } = createDependentProject()
    const run = await cli('install')
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.stdout).toContain('Installed the hook in .claude/settings.json')
    expect(project.read(SETTINGS)).toBe(EXAMPLE)
    expect(Object.keys(project.snapshot('.claude'))).toEqual(['settings.json'])
  })

  it('writes commands that a host can start', async () => {
    const { project, cli } = createDependentProject({ name: 'a project – mit "Umläuten"' })
    await cli('install')
    const [subagent, , start] = commandsOf(project.read(SETTINGS))
    project.marker('259_x', { cc_session_id: SESSION, agent_id: 'agent-a' })
    const env = claudeHookEnv(project, SESSION)
    fs.mkdirSync(project.at('src'))
    const cwd = project.at('src')
    const held = await project.hook(subagentStop(), { program: ['sh', '-c', String(subagent)], cwd, env })
    const told = await project.hook(sessionStart('startup'), { program: ['sh', '-c', String(start)], env })
    expect(held.answer.decision).toBe('block')
    expect(told.answer.hookSpecificOutput?.additionalContext).toContain('259_x')
  })

  it('writes the full path if the package is elsewhere, and says that it is a path on this machine', async () => {
    const project = createSourceProject()
    fs.mkdirSync(project.at('node_modules'))
    fs.symlinkSync(PACKAGE, project.at('node_modules/postflight-guard'))
    expect((await project.cli(['install'])).stdout).toMatch(/a path on this machine.*--scope local\n$/)
    expect(commandsOf(project.read(SETTINGS))).toContain(`[ ! -f "${LAUNCHER}" ] || exec "${LAUNCHER}"`)
  })

  it('writes the path of the link if a package manager links the package from a store, in the project or a workspace', async () => {
    const linked = async (folder: string, store: string): Promise<string> => {
      const project = createSourceProject({ files: { 'package.json': '{"dependencies":{"postflight-guard":"1"}}' } })
      const packageFolder = copyPackage(project.at(store))
      fs.mkdirSync(project.at(folder, 'node_modules'), { recursive: true })
      fs.symlinkSync(packageFolder, project.at(folder, 'node_modules/postflight-guard'))
      for (const host of ['claude', 'codex']) await project.cli(['install', '--host', host], { packageFolder })
      expect(project.read('.codex/hooks.json')).not.toMatch(/\.pnpm|store/)
      return project.read(SETTINGS)
    }
    const store = 'node_modules/.pnpm/postflight-guard@0.1.0/node_modules/postflight-guard'
    expect(await linked('', store)).toBe(EXAMPLE)
    expect(await linked('', '../store/postflight-guard')).toBe(EXAMPLE)
    expect(await linked('packages/$a', store)).toBe(EXAMPLE.replaceAll('DIR/', 'DIR/packages/\\\\$a/'))
  })

  it('writes commands that silently do nothing for people who have not installed the dependencies', async () => {
    const { project, folder, cli } = createDependentProject()
    await cli('install')
    const windows = windowsCommand(project, folder)
    const commands = [...commandsOf(project.read(SETTINGS)), windows.command, `${windows.command} SessionStart`]
    project.marker('259_x', { cc_session_id: SESSION, agent_id: 'agent-a' })
    fs.rmSync(project.at('node_modules'), { recursive: true })
    for (const command of commands) {
      const run = await project.shell(command, {
        input: JSON.stringify({ cwd: project.dir, ...subagentStop() }),
        env: claudeHookEnv(project, SESSION),
      })
      expect(run, command).toMatchObject({ status: 0, stdout: '', stderr: '' })
    }
  })

  it('writes a command for Windows that starts the hook by Node alone', async () => {
    const { project, folder } = createDependentProject({ name: 'a project – with blanks' })
    const { command, portable } = windowsCommand(project, folder)
    project.marker('259_x', { cc_session_id: SESSION, agent_id: 'agent-a' })
    const env = claudeHookEnv(project, SESSION)
    expect((await project.hook(subagentStop(), { program: ['sh', '-c', command], env })).answer.decision).toBe('block')
    expect(portable).toBe(true)
  })

  it('writes a command that works from a package in a folder with any name', async () => {
    const project = createSourceProject()
    const packageFolder = copyPackage(join(project.base, 'a $HOME it\'s `tick` quo"te back\\slash ü'))
    project.marker('259_x', { reason: 'pending' })
    await project.cli(['install', '--scope', 'local'], { packageFolder })
    const [command] = commandsOf(project.read('.claude/settings.local.json'))
    const run = await project.hook(subagentStop(), { program: ['sh', '-c', command as string] })
    expect(run.answer.decision).toBe('block')
  })

  it.each([
    ['project', '.claude/settings.json'],
    ['local', '.claude/settings.local.json'],
    ['user', '../home/.claude/settings.json'],
  ])('writes to the settings of the scope %s', async (scope, file) => {
    const project = createSourceProject()
    const run = await project.cli(['install', '--scope', scope, '--json'])
    expect(run.json()).toMatchObject({ changed: true, dry_run: false, backup: null, file: project.at(file) })
    expect(ourEventsIn(project.read(file))).toEqual(EVENTS)
    const others = ['.claude/settings.json', '.claude/settings.local.json', '../home/.claude/settings.json']
    expect(others.filter((other) => project.has(other))).toEqual([file])
  })

  it('writes no path of the project to the user’s settings, which are where CLAUDE_CONFIG_DIR puts them', async () => {
    const { project, cli } = createDependentProject()
    await cli('install --scope user', { env: { CLAUDE_CONFIG_DIR: project.at('config') } })
    expect(project.read('config/settings.json')).toContain('hooks/postflight-hook')
    expect(project.read('config/settings.json')).not.toContain('CLAUDE_PROJECT_DIR')
    expect(project.snapshot('../home')).toEqual({})
  })

  it('writes to the project’s settings from a folder below it, and with --root', async () => {
    const project = createSourceProject({ specs: false })
    fs.mkdirSync(project.at('src', 'deep'), { recursive: true })
    const other = createSourceProject()
    await project.cli(['install'], { cwd: project.at('src', 'deep') })
    await project.cli(['install', '--root', other.dir])
    expect(project.has(SETTINGS)).toBe(true)
    expect(other.has(SETTINGS)).toBe(true)
  })

  it('writes nothing with --dry-run, and shows what it would write', async () => {
    const { project, cli } = createDependentProject()
    const before = project.snapshot()
    expect((await cli('install --dry-run')).stdout).toBe(`Would install the hook in .claude/settings.json\n${EXAMPLE}`)
    expect(project.snapshot()).toEqual(before)
  })
})

describe.concurrent.each(Object.entries(LAYOUTS))('with settings of this layout: %s', (layout, before) => {
  const body = (text: string): string => text.replace(/^\ufeff/, '').trim() || '{}'

  it('install adds our entries once, with a backup, and changes nothing else; uninstall removes them, and the backup unless it differs', async () => {
    const project = projectWith(before)
    const { backup } = (await project.cli(['install', '--json'])).json()
    expect(fs.readFileSync(backup, 'utf8')).toBe(before)
    const after = project.read(SETTINGS)
    expect((await project.cli(['install'])).stdout).toContain('already')
    expect(ourEventsIn(body(after))).toEqual(EVENTS)
    expect(withoutOurs(body(after))).toEqual(withoutOurs(body(before)))
    expect(project.read(SETTINGS)).toBe(after)
    const planned = await project.cli(['uninstall', '--dry-run'])
    const run = await project.cli(['uninstall'])
    expect(run).toMatchObject({ status: 0, stdout: planned.stdout.replaceAll('Would remove', 'Removed') })
    const text = project.read(SETTINGS)
    expect(text === before).toBe(RESTORED.includes(layout))
    expect(withoutOurs(body(text))).toEqual(withoutOurs(body(before)))
    expect(fs.existsSync(backup)).toBe(text !== before)
  })

  it('uninstall removes only our entries if the file has changed since', async () => {
    const project = projectWith(before)
    await project.cli(['install'])
    project.write(SETTINGS, project.read(SETTINGS).replace('{', '{"added": true,'))
    await project.cli(['uninstall'])
    const text = body(project.read(SETTINGS))
    expect(ourEventsIn(text)).toEqual([])
    expect(withoutOurs(text)).toEqual({ added: true, ...withoutOurs(body(before)) })
  })
})

describe.concurrent('a script of the user’s own with the name of our launcher', () => {
  /** The commands that start it. `SCRIPT` is its path. */
  const FORMS = [
    '"SCRIPT"',
    '[ ! -f "SCRIPT" ] || exec "SCRIPT"',
    '$CLAUDE_PROJECT_DIR/.claude/hooks/postflight-hook',
    'postflight-hook',
    'timeout 3 /x/hooks/postflight-hook | tee -a log',
  ]

  it.each(FORMS)('stays where install, uninstall and doctor find it: %s', async (form) => {
    const project = createSourceProject()
    const script = project.write('.claude/hooks/postflight-hook', '#!/bin/sh\necho mine\n', 0o755)
    const env = { PATH: `${dirname(script)}:${project.env.PATH}` }
    const command = form.replaceAll('SCRIPT', script)
    const before = settingsWith(command)
    project.write(SETTINGS, before)
    const snapshot = project.snapshot()
    const none = await project.cli(['uninstall'], { env })
    expect(none.stdout).toBe('The hook is not in .claude/settings.json or .claude/settings.local.json\n')
    expect(project.snapshot()).toEqual(snapshot)
    expect((await project.cli(['doctor'], { env })).stdout).toContain('the hook is not installed')
    await project.cli(['install'], { env })
    expect(commandsOf(project.read(SETTINGS))).toContain(command)
    project.write(SETTINGS, project.read(SETTINGS).replace('{', '{ "added": 1, '))
    await project.cli(['uninstall'], { env })
    expect(project.read(SETTINGS)).toBe(before.replace('{', '{ "added": 1, '))
  })

  it('stays even if a copy of the package is beside its folder; the script of a package manager does not', async () => {
    const project = createSourceProject()
    const own = project.write('tools/hooks/postflight-hook', '#!/bin/sh\n', 0o755)
    project.write('tools/postflight-guard/package.json', '{"name":"postflight-guard"}')
    const other = project.write('tools/.bin/postflight-hook', '#!/bin/sh\n', 0o755)
    project.write('node_modules/postflight-guard/package.json', '{"name":"postflight-guard"}')
    const installed = project.write('node_modules/.bin/postflight-hook', '#!/bin/sh\n', 0o755)
    const hooks = [own, other, installed].map((command) => ({ type: 'command', command }))
    project.write(SETTINGS, JSON.stringify({ hooks: { Stop: [{ hooks }] } }))
    await project.cli(['uninstall'])
    expect(commandsOf(project.read(SETTINGS))).toEqual([own, other])
  })

  it('stays in the settings of another host and as a plugin of OpenCode', async () => {
    const project = createSourceProject()
    const script = project.write('tools/hooks/postflight-hook', '#!/bin/sh\n', 0o755)
    const plugin = project.write('dist/opencode/postflight-guard.mjs', 'export default {}\n')
    const files = {
      '.codex/hooks.json': settingsWith(script),
      'opencode.json': JSON.stringify({ plugin: [`file://${plugin}`, './dist/opencode/postflight-guard.mjs'] }),
    }
    for (const [name, text] of Object.entries(files)) project.write(name, text)
    for (const host of ['codex', 'opencode']) {
      await project.cli(['install', '--host', host])
      await project.cli(['uninstall', '--host', host])
    }
    for (const [name, text] of Object.entries(files)) expect(project.read(name)).toBe(text)
  })
})

it('several processes of install at once write our entries once, and of uninstall remove them', async () => {
  const project = createProject()
  project.write(SETTINGS, TABS)
  for (const [command, events] of [
    ['install', EVENTS],
    ['uninstall', []],
  ] as const) {
    const runs = await Promise.all(Array.from({ length: 5 }, () => project.cli([command])))
    expect(runs.map(({ status, stderr }) => [status, stderr])).toEqual(Array(5).fill([0, '']))
    expect(ourEventsIn(project.read(SETTINGS))).toEqual(events)
  }
})

describe.concurrent('install and uninstall refuse, and write nothing', () => {
  it.each([
    ['{"a": 1,}', 1, 9],
    ['{\n  // a comment\n  "a": 1\n}', 2, 3],
  ])('settings that are not JSON: %j, at line %i, column %i', async (text, line, column) => {
    const project = projectWith(text)
    for (const command of ['install', 'uninstall']) {
      const run = await project.cli([command, '--json'])
      expect(run.status).toBe(65)
      expect(run.stderr).toContain(`${project.at(SETTINGS)}:${line}:${column}: `)
      expect(run.stderr).toMatch(/^[^\n]+\n$/)
      expect(run.json().error.code).toBe('settings-not-json')
    }
    expect(project.snapshot('.claude')).toEqual({ 'settings.json': text })
  })

  it.each([
    ...['"permissions":null', '"permissions":{"ask":{}}', '"permissions":{"deny":"x"}'],
    ...['"disableAllHooks":"false"', '"env":[]', '"enabledPlugins":null'],
  ])('settings with a value that makes Claude Code ignore all of them: %s', async (wrong) => {
    const text = settingsWith(LAUNCHER).replace('{', `{${wrong},`)
    const project = projectWith(text)
    const key = wrong.slice(0, wrong.indexOf(':') - 1)
    const refused = { status: 65, stderr: expect.stringMatching(new RegExp(`${key}(\\.\\w+)?" must be`)) }
    for (const command of ['install', 'uninstall']) expect(await project.cli([command])).toMatchObject(refused)
    expect((await findingsOf(project.cli)).wrong[0]?.what).toContain(key)
    expect(project.read(SETTINGS)).toBe(text)
  })

  it.each([
    ['{,', 'invalid JSON'],
    [Buffer.from('\ufeff{}', 'utf16le'), 'cannot be read (not UTF-8)'],
  ])('local settings that may hold the hook: %j', async (text, fault) => {
    const { cli, at, snapshot } = createSourceProject()
    await cli(['init', '--yes', '--scope', 'local'])
    fs.writeFileSync(at('.claude/settings.local.json'), text)
    const before = snapshot()
    expect(await cli(['uninstall'])).toMatchObject({ status: 65, stderr: expect.stringContaining(fault) })
    expect(snapshot()).toEqual(before)
  })

  it.each([
    ['claude', SETTINGS, '{"hooks":', '}'],
    ['opencode', 'opencode.jsonc', '[', ']'],
  ])('settings of %s that are nested 50,000 levels deep: %s, %s', async (host, file, opening, closing) => {
    const project = createProject()
    const text = opening.repeat(50_000) + (opening === '[' ? '' : '1') + closing.repeat(50_000)
    project.write(file, text)
    for (const command of ['install', 'uninstall']) {
      const run = await project.cli([command, '--host', host])
      expect(run).toMatchObject({ status: 65, stdout: '' })
      expect(run.stderr).toContain(`${project.at(file)}: its JSON is nested more than 500 levels deep.`)
    }
    const doctor = await project.cli(['doctor'])
    expect(doctor).toMatchObject({ status: 1, stderr: '' })
    expect(doctor.stdout).toContain(`${project.at(file)}: its JSON is nested more than 500 levels deep.`)
    expect(project.read(file)).toBe(text)
  })

  it.each(['.claude', SETTINGS])('project settings through %s that is a link out of the project', async (name) => {
    const project = createSourceProject()
    const outside = join(project.base, 'outside')
    fs.mkdirSync(outside)
    if (name === '.claude') fs.symlinkSync(outside, project.at('.claude'))
    else {
      project.write('../outside/file.json', '{}')
      fs.mkdirSync(project.at('.claude'))
      fs.symlinkSync(join(outside, 'file.json'), project.at(SETTINGS))
    }
    const before = project.snapshot('../outside')
    const refused = { status: 65, stderr: expect.stringContaining('leads out of the project') }
    expect(await project.cli(['install'])).toMatchObject(refused)
    expect(await project.cli(['init', '--yes', '--scope', 'project'])).toMatchObject(refused)
    if (name === '.claude') expect(await project.cli(['install', '--scope', 'local'])).toMatchObject(refused)
    expect(project.snapshot('../outside')).toEqual(before)
  })

  it('project settings that are a folder, or a link to nothing', async () => {
    const folder = createSourceProject()
    fs.mkdirSync(folder.at(SETTINGS), { recursive: true })
    const dangling = createSourceProject()
    fs.mkdirSync(dangling.at('.claude'))
    fs.symlinkSync('nowhere.json', dangling.at(SETTINGS))
    expect((await folder.cli(['install'])).status).toBe(65)
    expect((await dangling.cli(['install'])).status).toBe(65)
    expect(dangling.snapshot('.claude')).toEqual({ 'settings.json': 'link to nowhere.json' })
  })

  it.each(['--scope', '--host'])('an unknown %s', async (option) => {
    const project = createSourceProject()
    const run = await project.cli(['install', option, 'emacs'])
    expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining('"emacs"') })
    expect(project.snapshot()).toEqual({ specs: 'folder' })
  })
})

describe.concurrent('settings that are a link or have narrow permissions', () => {
  it.each([
    ['project', SETTINGS, '../config/claude.json'],
    ['local', '.claude/settings.local.json', '../config/claude.json'],
    ['user', '../home/.claude/settings.json', '../../dotfiles/claude.json'],
  ])(
    'of the scope %s lose our entries in the link’s target and get them again, and stay a link',
    async (scope, file, to) => {
      const project = createSourceProject()
      await project.cli(['install', '--scope', scope])
      const target = join(dirname(file), to)
      fs.mkdirSync(dirname(project.at(target)), { recursive: true })
      fs.renameSync(project.at(file), project.at(target))
      fs.symlinkSync(to, project.at(file))
      const before = project.snapshot('..')
      const planned = await project.cli(['uninstall', '--scope', scope, '--dry-run'])
      expect(planned.stdout).toContain('Would remove the hook from')
      expect(project.snapshot('..')).toEqual(before)
      const run = await project.cli(['uninstall', '--scope', scope, '--json'])
      expect(run.json()).toMatchObject({ changed: true, removed_file: false })
      expect(JSON.parse(project.read(target))).toEqual({})
      expect((await project.cli(['install', '--scope', scope])).status).toBe(0)
      expect(fs.readlinkSync(project.at(file))).toBe(to)
      expect(ourEventsIn(project.read(target))).toEqual(EVENTS)
    },
  )

  it('are not changed by uninstall if the link leads out of the project or nowhere', async () => {
    const project = createSourceProject()
    await project.cli(['install'])
    fs.renameSync(project.at(SETTINGS), join(project.base, 'claude.json'))
    fs.symlinkSync('../../claude.json', project.at(SETTINGS))
    fs.symlinkSync('nowhere.json', project.at('.claude/settings.local.json'))
    const before = project.snapshot('..')
    const runs = [await project.cli(['uninstall']), await project.cli(['uninstall', '--scope', 'local'])]
    expect(runs.map((run) => run.status)).toEqual([65, 65])
    expect(runs[0]?.stderr).toContain('a link that leads out of the project')
    expect(runs[1]?.stderr).toContain('a broken link')
    expect(project.snapshot('..')).toEqual(before)
  })

  it('keep their permissions and their owner; the backup has the same permissions', async () => {
    const project = createSourceProject()
    fs.chmodSync(project.write(SETTINGS, '{}\n'), 0o600)
    // Only root may change a file's owner.
    if (process.getuid?.() === 0) fs.chownSync(project.at(SETTINGS), NOBODY, NOBODY)
    const { uid, gid } = fs.statSync(project.at(SETTINGS))
    const run = await project.cli(['install', '--json'])
    expect([project.at(SETTINGS), run.json().backup].map((file) => fs.statSync(file).mode & 0o777)).toEqual([
      0o600, 0o600,
    ])
    expect(fs.statSync(project.at(SETTINGS))).toMatchObject({ uid, gid })
  })
})

describe.concurrent('uninstall', () => {
  it.each(['{}\n', ''])('keeps a settings file that was there before, with nothing in it: %j', async (text) => {
    const project = projectWith(text)
    await project.cli(['install'])
    expect((await project.cli(['uninstall', '--json'])).json()).toMatchObject({ changed: true, removed_file: false })
    expect(project.read(SETTINGS)).toBe('{}\n')
  })

  it('removes the entries of another copy of the package', async () => {
    const { project, cli } = createDependentProject()
    await cli('install')
    project.write(SETTINGS, project.read(SETTINGS).replace('{', '{ "kept": 1,'))
    await project.cli(['uninstall'])
    expect(JSON.parse(project.read(SETTINGS))).toEqual({ kept: 1 })
  })

  it('names the other scopes that still have entries', async () => {
    const project = createSourceProject()
    for (const scope of ['project', 'local', 'user']) await project.cli(['install', '--force', '--scope', scope])
    const still = (file: string, scope: string, root = ''): string =>
      `The hook is still in ${file}: \`postflight uninstall${root} --scope ${scope}\` removes it\n`
    const local = still('.claude/settings.local.json', 'local')
    const user = still(`${project.home}/.claude/settings.json`, 'user')
    expect((await project.cli(['uninstall', '--dry-run'])).stdout).toContain(local + user)
    const first = await project.cli(['uninstall', '--root', '.'])
    expect(first.stdout).toContain(still('.claude/settings.local.json', 'local', ' --root .'))
    const second = await project.cli(['uninstall', '--scope', 'local'])
    expect(second.stdout).toContain(user)
    expect(second.stdout).not.toContain(local)
    expect((await project.cli(['uninstall', '--scope', 'user'])).stdout).not.toContain('still in')
  })

  it.each(['', '.'])('never takes the current folder for the user’s home, where HOME is %j', async (HOME) => {
    const project = createProject()
    const before = project.snapshot()
    const run = await project.cli(['install', '--scope', 'user', '--dry-run', '--json'], { env: { HOME } })
    expect(run.json().file).toBe(join(userInfo().homedir, '.claude/settings.json'))
    expect(project.snapshot()).toEqual(before)
  })

  it.each([
    ['CLAUDE_CONFIG_DIR', 'claude'],
    ['CODEX_HOME', 'codex'],
    ['XDG_CONFIG_HOME', 'opencode'],
  ])('refuses the user’s scope if %s is relative: it would write into the current folder', async (name, host) => {
    const project = createSourceProject()
    const before = project.snapshot()
    const run = await project.cli(['install', '--scope', 'user', '--host', host], { env: { [name]: 'mine' } })
    expect(run).toMatchObject({ status: 73, stderr: expect.stringContaining('must be an absolute path): set it') })
    expect(project.snapshot()).toEqual(before)
  })

  it('keeps each earlier text of the settings, and a backup that somebody else wrote', async () => {
    const project = projectWith('{"a":1}')
    await project.cli(['install'])
    project.write(`${SETTINGS}.postflight-backup.7`, '{"forged":true}')
    project.write(SETTINGS, '{"b":2}')
    await project.cli(['install'])
    expect(project.read(`${SETTINGS}.postflight-backup.2`)).toBe('{"b":2}')
    await project.cli(['uninstall'])
    expect(project.read(SETTINGS)).toBe('{"b":2}')
    expect(project.has(`${SETTINGS}.postflight-backup.7`)).toBe(true)
  })

  it('uninstall keeps a backup that it cannot read', async () => {
    const project = projectWith('{"a":1}')
    await project.cli(['install'])
    fs.writeFileSync(project.at(`${SETTINGS}.postflight-backup`), Buffer.of(0xff))
    expect((await project.cli(['uninstall'])).stdout).toContain('Kept the backup')
    expect(project.read(SETTINGS)).toBe('{"a":1}')
  })
})

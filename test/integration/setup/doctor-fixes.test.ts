import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SESSION, stop } from '../../support/payloads.ts'
import { CLI, canRun } from '../../support/process.ts'
import {
  claudeHookEnv,
  copyPackage,
  createDependentProject,
  createSourceProject,
  type DependentProject,
  type Finding,
  findingsOf,
  hoursAgo,
  type JsonDocument,
} from '../../support/project.ts'

/**
 * Each finding of `doctor`: something makes it, and its fix removes it. If doctor finds nothing, Claude Code must run one
 * hook at a stop of that project, and that hook must block it.
 */

const SETTINGS = '.claude/settings.json'
const LOCAL = '.claude/settings.local.json'
const USER = '../home/.claude/settings.json'
const RUNNING = 'specs/.postflight/running'

/** A project that depends on the package, as `npm ci` leaves it. */
function withPackage(): DependentProject {
  const wired = createDependentProject()
  wired.project.write('.gitignore', 'node_modules/\n')
  mkdirSync(wired.project.at('node_modules/.bin'))
  symlinkSync('../postflight-guard/bin/postflight.js', wired.project.at('node_modules/.bin/postflight'))
  return wired
}

function git({ project }: DependentProject, ...words: string[]): void {
  execFileSync('git', words, { cwd: project.dir, env: { ...project.env, GIT_CONFIG_NOSYSTEM: '1' } })
}

/** The same, set up by `init`; with `repository`, in one that git itself knows. */
async function initialized(repository = false): Promise<DependentProject> {
  const wired = withPackage()
  if (repository) git(wired, 'init', '--quiet')
  await wired.cli('init --yes')
  return wired
}

/** The hooks that Claude Code would run at a stop, with its settings in this order: their commands, and variables for them. */
function stopHooks({ project }: DependentProject): { commands: string[]; env: Record<string, string> } {
  const all = [USER, SETTINGS, LOCAL].flatMap((name): JsonDocument[] =>
    project.has(name) ? [JSON.parse(project.read(name))] : [],
  )
  const isOff = all.findLast(({ disableAllHooks }) => disableAllHooks !== undefined)?.disableAllHooks === true
  const commands = all.flatMap(({ hooks }) =>
    (hooks?.Stop ?? []).flatMap((group: JsonDocument) => group.hooks.map(({ command }: JsonDocument) => command)),
  )
  return {
    commands: isOff ? [] : [...new Set<string>(commands)],
    env: Object.assign({}, ...all.map((settings) => settings.env)),
  }
}

/** Applies a fix: commands are run, and the row does the manual parts. */
async function follow({ cli, project }: DependentProject, fix: string): Promise<void> {
  const [first = ''] = fix.split(/, or | \(its/)
  for (const command of first.split(' && ')) {
    const words = command.replace(/^npx --no-install /, '').split(' ')
    if (words[0] === 'postflight') expect((await cli(words.slice(1))).status, command).toBe(0)
    else expect(await project.shell(command), command).toMatchObject({ status: 0 })
  }
}

type Action = (wired: DependentProject, fix?: string) => unknown

function remove(name: string): Action {
  return ({ project }) => rmSync(project.at(name), { recursive: true })
}
function write(name: string, text: string): Action {
  return ({ project }) => project.write(name, text)
}
function rewrite(name: string, edit: (text: string) => string): Action {
  return ({ project }) => project.write(name, edit(project.has(name) ? project.read(name) : '{}'))
}
function marker(fields: string | Record<string, unknown>): Action {
  return ({ project }) => project.marker('007_x', fields)
}
function rename(from: string, to: string): Action {
  return ({ folder }) => renameSync(join(folder, from), join(folder, to))
}
const set = (name: string, values: object): Action =>
  rewrite(name, (text) => JSON.stringify({ ...JSON.parse(text), ...values }))
const replaced = (from: string | RegExp, to: string): Action => rewrite(SETTINGS, (text) => text.replaceAll(from, to))
const init: Action = ({ cli }) => cli('init', { answers: Array(5).fill('y') })
const clear: Action = ({ cli }) => cli('clear 7')

const OFF = { env: { POSTFLIGHT_DISABLE: '1' } }
const ENABLED = { enabledPlugins: { 'postflight-guard@x': true } }
const PLUGIN = { ...ENABLED, extraKnownMarketplaces: { x: {} } }

const withoutStop = rewrite(SETTINGS, (text) =>
  JSON.stringify(JSON.parse(text), (key, value) => (key === 'Stop' ? undefined : value)),
)

const stopTwice = rewrite(SETTINGS, (text) => {
  const { hooks, ...others } = JSON.parse(text)
  return JSON.stringify({ ...others, hooks: { ...hooks, Stop: [...hooks.Stop, ...hooks.Stop] } })
})

const startFlow = async ({ project, cli }: DependentProject): Promise<void> => {
  const phases = [{ id: 'a', prompt: 'p', artifact: 'a.txt', max_attempts: 1 }]
  project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
  await cli('workflow start 8 flow --definition flow.json')
}

/** The name, the cause of the finding, its words, and the action for a fix that people do by hand. */
type Row = [name: string, make: Action, what: RegExp, byHand?: Action | undefined]

/** Findings after which no stop is blocked, or each one costs too much. */
const WIRING: readonly Row[] = [
  ['no hook', remove(SETTINGS), /not installed in any settings/, init],
  ['disableAllHooks', set(LOCAL, { disableAllHooks: true }), /sets disableAllHooks/, remove(LOCAL)],
  ['the hook switched off', set(USER, OFF), /POSTFLIGHT_DISABLE=1 is set in .*settings\.json/, remove(USER)],
  [
    'a second place with another command',
    async (wired) => {
      const other = copyPackage(join(wired.project.base, 'other'))
      await wired.project.cli(['install', '--scope', 'local', '--force'], { packageFolder: other })
    },
    /installed more than once/,
  ],
  ['the plugin too', set(USER, PLUGIN), /more than once, in .*s\.json and the plugin postflight-guard@x/, remove(USER)],
  ['entries for some events only', withoutStop, /some of its events only/],
  ['an entry with another timeout', replaced('"timeout": 10', '"timeout": 30'), /has entries that differ/],
  ['an entry twice', stopTwice, /lists the hook more than once/],
  ['an old Stop entry', replaced(' Stop"', '"'), /has an entry for Stop of an earlier version/],
  ['an old SessionStart entry', replaced(' SessionStart"', '"'), /has an entry for SessionStart of an earlier version/],
  ['an entry of another command', replaced(/\[ ! -f [^\]]* \] \|\| exec /g, ''), /starts the hook by another command/],
  ['an entry of another copy', replaced('$CLAUDE_PROJECT_DIR/node_modules', '/elsewhere'), /starts another copy/],
  ['no JSON in settings', replaced(/^/g, '// mine\n'), /s\.json:1:1: invalid JSON/, replaced('// mine\n', '')],
  ['a launcher without x', ({ folder }) => chmodSync(join(folder, 'hooks/postflight-hook'), 0o644), /not executable/],
  ['a missing bundle', rename('dist/hook.js', 'gone.js'), /hook\.js is missing/, rename('gone.js', 'dist/hook.js')],
  [
    'a broken bundle',
    ({ folder }) => {
      renameSync(join(folder, 'dist/hook.js'), join(folder, 'gone.js'))
      writeFileSync(join(folder, 'dist/hook.js'), 'not a program(')
    },
    /the hook does not answer/,
    rename('gone.js', 'dist/hook.js'),
  ],
]

/** Findings about the project, whose hook works. */
const PROJECT: readonly Row[] = [
  [
    'a shell hook that looks for the same markers',
    (wired) => {
      wired.project.write('.claude/hooks/guard.sh', 'find specs -name .postflight-pending\n')
      const command = 'bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh 2>/dev/null || echo "{}"'
      set(LOCAL, { hooks: { SubagentStop: [{ hooks: [{ type: 'command', command }] }] } })(wired)
    },
    /looks for the same markers, so one stop of a sub-agent counts twice/,
    ({ cli }, fix = '') => cli(fix.split(' ').slice(1), { answers: ['y'] }),
  ],
  ['a marker that does not parse', marker('{"reason": '), /is not JSON/],
  ['a marker of another shape', marker('[]'), /not an object/],
  ['a folder as marker', write('specs/7_x/.postflight-pending/a', ''), /be read \(a folder\)/, remove('specs/7_x')],
  ['an abandoned marker', write('specs/007_x/.postflight-abandoned', '{}'), /abandoned/, clear],
  ['an expired marker', marker({ created: hoursAgo(30) }), /blocks no stop/],
  ['a marker pending for days', marker({ cc_session_id: SESSION, created: hoursAgo(72) }), /pending for 3 days/, clear],
  ['a misplaced marker', write('docs/.postflight-pending', ''), /where the hook does not look/, remove('docs')],
  [
    'a stalled run',
    async (wired) => {
      await startFlow(wired)
      await wired.cli('workflow next 8')
      await wired.cli('workflow next 8')
    },
    /specs\/008_flow: .*stalled/,
  ],
  ['a run without its run file', (at) => startFlow(at).then(() => remove(RUNNING)(at)), /its run file is missing/],
]

/** Findings about what git says. */
const REPOSITORY: readonly Row[] = [
  ['missing lines in .gitignore', write('.gitignore', 'node_modules/\n'), /git does not ignore/],
  [
    'a marker and the settings of a person that git tracks',
    async (wired) => {
      await wired.cli('uninstall')
      await wired.cli('init --yes --scope local')
      await wired.cli(['create', '7', 'x', '--host-session', SESSION])
      git(wired, 'add', '--force', 'specs/007_x', LOCAL)
    },
    /git tracks \.claude\/settings\.local\.json, specs\/007_x\/\.postflight-pending,/,
  ],
]

describe.concurrent('doctor finds', () => {
  it('nothing after init, in a repository of git, and a stop is held once', async () => {
    const wired = await initialized(true)
    expect(await findingsOf(wired.cli)).toMatchObject({ status: 0, wrong: [] })
    const { commands, env } = stopHooks(wired)
    expect(commands).toHaveLength(1)
    wired.project.marker('990_asked', { cc_session_id: SESSION, agent_id: 'main' })
    const { answer } = await wired.project.hook(stop(), {
      program: ['sh', '-c', String(commands[0])],
      env: { ...claudeHookEnv(wired.project, SESSION), ...env },
    })
    expect(answer.decision).toBe('block')
    wired.project.write('.gitignore', `${wired.project.read('.gitignore')}!specs/**\n`)
    const fix = expect.stringContaining('check-ignore --no-index')
    expect((await findingsOf(wired.cli)).wrong).toContainEqual(expect.objectContaining({ check: 'git', fix }))
  })

  it.each<Row>([...WIRING, ...PROJECT, ...REPOSITORY])(
    '%s, and its fix removes that',
    async (name, make, what, byHand) => {
      const wired = await initialized(REPOSITORY.some(([one]) => one === name))
      const wiring = stopHooks(wired)
      await make(wired)
      const before = await findingsOf(wired.cli)
      expect(before, before.stdout).toMatchObject({ status: 1, wrong: [{ what: expect.stringMatching(what) }] })
      const fix = before.wrong[0]?.fix ?? ''
      expect(fix).not.toBe('')
      await (byHand === undefined ? follow(wired, fix) : byHand(wired, fix))
      expect(await findingsOf(wired.cli)).toMatchObject({ status: 0, wrong: [] })
      // The test above shows that this wiring holds a stop, and doctor asks the hook itself.
      expect(stopHooks(wired)).toEqual(wiring)
    },
  )

  it('no fault in a shell hook without ours, and its fix for .gitignore leaves that hook', async () => {
    const wired = withPackage()
    git(wired, 'init', '--quiet')
    const SubagentStop = [{ hooks: [{ type: 'command', command: 'find specs -name .postflight-pending' }] }]
    set(LOCAL, { hooks: { SubagentStop } })(wired)
    const before = wired.project.read(LOCAL)
    const { wrong } = await findingsOf(wired.cli)
    await wired.cli('init', { answers: ['n', 'n', 'y', 'n'] })
    expect(wrong).toMatchObject(['settings', 'git'].map((check) => ({ check, fix: 'postflight init' })))
    expect((await findingsOf(wired.cli)).wrong).toEqual([wrong[0]])
    expect(wired.project.read(LOCAL)).toBe(before)
  })

  it('missing lines in .gitignore, and its fix names the command that undoes them, whatever scope has the hook', async () => {
    const { project, ...wired } = withPackage()
    git({ project, ...wired }, 'init', '--quiet')
    const before = project.snapshot()
    await project.cli(['install'])
    const fix = (await findingsOf(project.cli)).wrong.find(({ check }) => check === 'git')?.fix ?? ''
    const { stdout } = await project.cli(fix.split(' ').slice(1))
    const [, undo = ''] = /undo all of it: postflight (.*)/.exec(stdout) ?? []
    expect((await project.cli(undo.split(' '))).status).toBe(0)
    expect(project.snapshot()).toEqual(before)
  })

  it('the faults of another project, with fixes that act there', async () => {
    const wired = await initialized(true)
    const { project } = wired
    project.marker('007_x', '[]')
    git(wired, 'add', '--force', 'specs/007_x')
    await startFlow(wired)
    for (const name of [RUNNING, '.gitignore', SETTINGS]) remove(name)(wired)
    const elsewhere = createSourceProject()
    const { wrong } = await findingsOf((words) => elsewhere.cli([...words, '--root', project.dir]))
    expect(wrong).toHaveLength(5)
    for (const { fix } of wrong) expect(fix).toContain(project.dir)
  })

  it('POSTFLIGHT_DISABLE=1 in the environment, and settings that say otherwise win', async () => {
    const wired = await initialized()
    const found = await findingsOf(wired.cli, OFF)
    set(LOCAL, { env: { POSTFLIGHT_DISABLE: '' } })(wired)
    const what = expect.stringContaining('set in the environment')
    expect(found).toMatchObject({ status: 1, wrong: [{ what, fix: 'unset POSTFLIGHT_DISABLE' }] })
    expect((await findingsOf(wired.cli, OFF)).status).toBe(0)
  })

  it('that the settings of an organization forbid the hook, or have it themselves', async () => {
    const start = ['unshare -m', 'unshare -rm'].find((one) => canRun(`${one} mount -t tmpfs tmpfs /etc`))
    const { project } = await initialized()
    const { hooks } = JSON.parse(project.read(SETTINGS))
    const rows: readonly (readonly [file: string, settings: object, found: RegExp])[] = [
      ['.json', { disableAllHooks: true }, /✗ .*managed-settings\.json forbids other hooks/],
      ['.d/1.json', { permissions: 'postflight', allowManagedHooksOnly: true }, /✗ .*\.d\/1\.json forbids other hooks/],
      ['.json', { strictPluginOnlyCustomization: ['hooks'] }, /✗ .*managed-settings\.json forbids other hooks/],
      ['.json', OFF, /✗ POSTFLIGHT_DISABLE=1 is set in .*managed-settings\.json/],
      ['.d/2.json', { hooks, allowManagedHooksOnly: true }, /✓ your organization installs the hook, in .*2\.json/],
    ]
    project.write(SETTINGS, '{ "disableAllHooks": true }')
    for (const [name, settings, found] of start === undefined ? [] : rows) {
      const file = `/etc/claude-code/managed-settings${name}`
      project.write('a', JSON.stringify(settings))
      const run = `mount -t tmpfs tmpfs /etc && install -D a ${file} && (node ${CLI} doctor; node ${CLI} create 7 x)`
      const { stdout, stderr } = await project.shell(`CLAUDE_CODE_SESSION_ID=s exec ${start} sh -c '${run}'`)
      expect(stdout).toMatch(found)
      expect(stderr.includes('no settings file of Claude Code starts the hook')).toBe(!('hooks' in settings))
    }
    if (start === undefined) return
    const withBoth = (second: string) => {
      const place = `install -D a /etc/claude-code/managed-settings.json; install -D ${second} /etc/claude-code/managed-settings.d/b.json`
      const commands = `node ${CLI} doctor; node ${CLI} install --scope local`
      return project.shell(`exec ${start} sh -c 'mount -t tmpfs tmpfs /etc; ${place}; ${commands}'`)
    }
    const text = JSON.stringify({ hooks })
    project.write('a', text)
    expect((await withBoth('a')).stdout).not.toContain('more than once')
    for (const other of [text.replaceAll('$CLAUDE_PROJECT_DIR', '/other'), JSON.stringify(PLUGIN)]) {
      project.write('b', other)
      const { stdout, stderr } = await withBoth('b')
      expect(stdout).toContain('→ ask your administrator to leave only one of them')
      expect(stderr).toContain('twice. Keep that one, or use --force')
    }
  })

  it('disableAllHooks only if it counts: the settings that Claude Code reads last', async () => {
    const wired = await initialized()
    set(USER, { disableAllHooks: true })(wired)
    for (const command of ['init --yes', 'install'])
      expect((await wired.cli(command)).stdout).toContain('sets disableAllHooks, so Claude Code runs no hook')
    set(LOCAL, { disableAllHooks: false })(wired)
    expect((await findingsOf(wired.cli)).wrong).toEqual([])
    expect(stopHooks(wired).commands).toHaveLength(1)
  })

  it('a command that the agent’s shell does not find, and a link on the PATH fixes that', async () => {
    const project = createSourceProject()
    const packageFolder = copyPackage(join(project.base, 'a package'))
    await project.cli(['install', '--host', 'qwen'], { packageFolder })
    const wrong = async (env = {}): Promise<Finding[]> => (await findingsOf(project.cli, { packageFolder, env })).wrong
    expect(await wrong()).toMatchObject([{ check: 'cli', fix: `npm install --global '${packageFolder}'` }])
    symlinkSync(join(packageFolder, 'bin/postflight'), join(project.base, 'bin/postflight'))
    expect(await wrong()).toEqual([])
    const yarn = { npm_config_user_agent: 'yarn/4.18.1', BERRY_BIN_FOLDER: join(project.base, 'bin') }
    expect(await wrong(yarn)).toHaveLength(1)
    expect((await project.cli(['adopt', '7'], { packageFolder, env: yarn, answers: [] })).stderr).toMatch(/`yarn /)
  })

  it('the command only if an agent finds it too: npx puts it on the PATH of doctor alone', async () => {
    const wired = await initialized()
    const env = {
      PATH: `${wired.project.at('node_modules/.bin')}:${wired.project.env.PATH}`,
      npm_config_user_agent: 'npm/11.0.0',
    }
    await wired.cli('uninstall')
    await wired.cli('install --host qwen')
    expect((await wired.cli('doctor', { env })).stdout).toContain('finds the command as `npx --no-install postflight`')
  })

  it('the project’s own entry right, whatever copy it is run from, and never replaces it by a path of this machine', async () => {
    const wired = await initialized()
    const other = copyPackage(join(wired.project.base, 'other'))
    const fromOther = { packageFolder: other }
    expect(await findingsOf(wired.cli, fromOther)).toMatchObject({ status: 0, wrong: [] })
    replaced('$CLAUDE_PROJECT_DIR', '$\u007bCLAUDE_PROJECT_DIR}')(wired)
    expect(await findingsOf(wired.cli, fromOther)).toMatchObject({ status: 0, wrong: [] })
    withoutStop(wired)
    const { wrong } = await findingsOf(wired.cli, fromOther)
    expect(wrong.map(({ fix }) => fix)).toEqual(['npx --no-install postflight install --scope project'])
    rmSync(wired.folder, { recursive: true })
    wired.project.write('package-lock.json', '{}')
    expect((await findingsOf(wired.cli, fromOther)).wrong.map(({ fix }) => fix)).toEqual(['npm ci'])
  })

  it('the plugin alone right', async () => {
    const wired = withPackage()
    set(USER, ENABLED)(wired)
    expect((await findingsOf(wired.cli)).wrong[0]?.what).toContain('does not know its marketplace')
    set(USER, PLUGIN)(wired)
    expect(await findingsOf(wired.cli)).toMatchObject({ status: 0, wrong: [] })
  })

  it('and says once how a person types the fixes if only npx finds the command, as others do in a terminal', async () => {
    const { project, cli } = withPackage()
    const notes = async (words: string, answers?: string[], cwd = project.dir): Promise<number> =>
      String(Object.values(await cli(words, { answers, cwd }))).split('Type `npx postflight`').length - 1
    const noted = ['doctor', 'history 7', 'adopt 7', 'workflow status 7', 'adopt 7 --root ..']
    for (const words of noted) expect(await notes(words, [])).toBe(1)
    for (const words of ['inspect', 'adopt 7 --json', 'completion bash']) expect(await notes(words, [])).toBe(0)
    expect([await notes('doctor'), await notes('adopt 7')]).toEqual([1, 0])
    // As pnpm does for a workspace.
    rmSync(project.at('node_modules/.bin'), { recursive: true })
    project.write('packages/a/node_modules/.bin/postflight', '#!/bin/sh\n', 0o755)
    expect([await notes('doctor'), await notes('doctor', [], project.at('packages/a'))]).toEqual([0, 1])
  })
})

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SESSION, stop } from '../../support/payloads.ts'
import {
  claudeHookEnv,
  copyPackage,
  createSourceProject,
  hoursAgo,
  type JsonDocument,
  type Project,
  type RunOptions,
} from '../../support/project.ts'

/**
 * Each finding of `doctor`: something makes it, and its fix removes it. If doctor finds nothing, a stop in that project
 * must be blocked, exactly once: the test runs the hooks as Claude Code does.
 */

const SETTINGS = '.claude/settings.json'
const LOCAL = '.claude/settings.local.json'
const USER = '../home/.claude/settings.json'

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly what: string
  readonly fix: string | null
}

/** A git project that depends on the package, as `npm ci` leaves it. */
interface Wired {
  readonly project: Project
  /** The package's folder. */
  readonly folder: string
  readonly cli: (words: readonly string[], options?: RunOptions) => Promise<{ status: number | null; stdout: string }>
  readonly git: (...words: string[]) => string
}

function withPackage(): Wired {
  const project = createSourceProject()
  const env = { ...project.env, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: project.dir, env, encoding: 'utf8' })
  rmSync(project.at('.git'), { recursive: true })
  git('init', '--quiet')
  project.write('.gitignore', 'node_modules/\n')
  const folder = copyPackage(project.at('node_modules/postflight-guard'))
  mkdirSync(project.at('node_modules/.bin'))
  symlinkSync('../postflight-guard/bin/postflight.js', project.at('node_modules/.bin/postflight'))
  return { project, folder, git, cli: (words, options) => project.cli(words, { packageFolder: folder, ...options }) }
}

/** The same, set up by `init`. */
async function initialized(): Promise<Wired> {
  const wired = withPackage()
  await wired.cli(['init', '--yes'])
  return wired
}

async function doctor(
  { cli }: Wired,
  options?: RunOptions,
): Promise<{ status: number | null; wrong: Finding[]; stdout: string }> {
  const { status, stdout } = await cli(['doctor', '--json'], options)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { status, stdout, wrong: findings.filter(({ ok }) => !ok) }
}

/**
 * How many hooks block a stop of the main conversation: those that Claude Code would run, with its settings, in this
 * order.
 */
async function holders({ project }: Wired): Promise<number> {
  const all = [USER, SETTINGS, LOCAL].flatMap((name): JsonDocument[] => {
    try {
      return [JSON.parse(project.read(name))]
    } catch {
      return []
    }
  })
  if (all.findLast(({ disableAllHooks }) => disableAllHooks !== undefined)?.disableAllHooks === true) return 0
  const env = Object.assign({}, ...all.map((settings) => settings.env ?? {}))
  const commands = all.flatMap((settings) =>
    (settings.hooks?.Stop ?? []).flatMap((group: JsonDocument) =>
      group.hooks.map((hook: { command: string }) => hook.command),
    ),
  )
  project.marker('990_asked', { cc_session_id: SESSION, agent_id: 'main' })
  const answers = []
  for (const command of new Set<string>(commands)) {
    const run = await project.shell(command, {
      input: JSON.stringify({ cwd: project.dir, ...stop() }),
      env: { ...claudeHookEnv(project, SESSION), ...env },
    })
    answers.push(run.stdout)
  }
  rmSync(project.at('specs/990_asked'), { recursive: true })
  return answers.filter((answer) => answer.includes('"block"')).length
}

/** Applies a fix: commands are run, and the row does the manual parts. */
async function follow({ cli, project }: Wired, fix: string): Promise<void> {
  const [first = ''] = fix.split(/, or | \(its/)
  for (const command of first.split(' && ')) {
    const words = command.replace(/^npx --no-install /, '').split(' ')
    if (words[0] === 'postflight') expect((await cli(words.slice(1))).status, command).toBe(0)
    else expect(await project.shell(command), command).toMatchObject({ status: 0 })
  }
}

const change = ({ project }: Wired, name: string, edit: (settings: JsonDocument) => void): void => {
  const settings = project.has(name) ? JSON.parse(project.read(name)) : {}
  edit(settings)
  project.write(name, JSON.stringify(settings))
}

const startFlow = async ({ project, cli }: Wired): Promise<void> => {
  const phases = [{ id: 'a', prompt: 'p', artifact: 'a.txt', max_attempts: 1 }]
  project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
  await cli(['workflow', 'start', '8', 'flow', '--definition', 'flow.json'])
}

/** The name, the cause of the finding, its words, and the action for a fix that people do by hand. */
type Row = [
  name: string,
  make: (wired: Wired) => unknown,
  what: RegExp,
  byHand?: ((wired: Wired, fix: string) => unknown) | undefined,
]

/** Findings after which no stop is blocked, or each one costs too much. */
const WIRING: readonly Row[] = [
  ['no hook', ({ project }) => rmSync(project.at(SETTINGS)), /not installed in any settings/],
  [
    'disableAllHooks',
    (wired) => change(wired, LOCAL, (settings) => Object.assign(settings, { disableAllHooks: true })),
    /sets disableAllHooks/,
    ({ project }) => rmSync(project.at(LOCAL)),
  ],
  [
    'POSTFLIGHT_DISABLE=1 in the settings of the user',
    (wired) => change(wired, USER, (settings) => Object.assign(settings, { env: { POSTFLIGHT_DISABLE: '1' } })),
    /POSTFLIGHT_DISABLE=1 is set in .*settings\.json/,
    ({ project }) => rmSync(project.at(USER)),
  ],
  [
    'a second place with another command',
    async (wired) => {
      const other = copyPackage(join(wired.project.base, 'other'))
      await wired.project.cli(['install', '--scope', 'local', '--force'], { packageFolder: other })
    },
    /installed more than once/,
  ],
  [
    'the plugin beside the settings',
    (wired) =>
      change(wired, USER, (settings) => Object.assign(settings, { enabledPlugins: { 'postflight-guard@x': true } })),
    /installed more than once, in .*settings\.json and the plugin postflight-guard@x/,
    ({ project }) => rmSync(project.at(USER)),
  ],
  [
    'entries for some events only',
    (wired) => change(wired, SETTINGS, ({ hooks }) => delete hooks.Stop),
    /some of its events only/,
  ],
  [
    'an entry for Stop from before it looked for a definition of done',
    ({ project }) => project.write(SETTINGS, project.read(SETTINGS).replaceAll(' Stop"', '"')),
    /has an entry for Stop of an earlier version/,
  ],
  [
    'an entry for SessionStart from before it looked for a definition of done',
    ({ project }) => project.write(SETTINGS, project.read(SETTINGS).replaceAll(' SessionStart"', '"')),
    /has an entry for SessionStart of an earlier version/,
  ],
  [
    'an entry with another command',
    ({ project }) => project.write(SETTINGS, project.read(SETTINGS).replace(/\[ ! -f [^\]]* \] \|\| exec /g, '')),
    /starts the hook by another command/,
  ],
  [
    'an entry of another copy',
    ({ project }) =>
      project.write(SETTINGS, project.read(SETTINGS).replaceAll('$CLAUDE_PROJECT_DIR/node_modules', '/elsewhere')),
    /starts another copy/,
  ],
  [
    'settings that do not parse',
    ({ project }) => project.write(SETTINGS, `// mine\n${project.read(SETTINGS)}`),
    /invalid JSON/,
    ({ project }) => project.write(SETTINGS, project.read(SETTINGS).replace('// mine\n', '')),
  ],
  [
    'a launcher that is not executable',
    ({ folder }) => chmodSync(join(folder, 'hooks/postflight-hook'), 0o644),
    /is not executable/,
  ],
  [
    'a missing bundle',
    ({ folder }) => renameSync(join(folder, 'dist/hook.js'), join(folder, 'dist/gone.js')),
    /hook\.js is missing/,
    ({ folder }) => renameSync(join(folder, 'dist/gone.js'), join(folder, 'dist/hook.js')),
  ],
]

/** Findings about the project, whose hook works. */
const PROJECT: readonly Row[] = [
  [
    'a shell hook that looks for the same markers',
    (wired) => {
      wired.project.write('.claude/hooks/guard.sh', 'find specs -name .postflight-pending\n')
      const command = 'bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh 2>/dev/null || echo "{}"'
      const SubagentStop = [{ hooks: [{ type: 'command', command }] }]
      change(wired, LOCAL, (settings) => Object.assign(settings, { hooks: { SubagentStop } }))
    },
    /looks for the same markers, so one stop of a sub-agent counts twice/,
    ({ cli }, fix) => cli(fix.split(' ').slice(1), { answers: ['y'] }),
  ],
  [
    'missing lines in .gitignore',
    ({ project }) => project.write('.gitignore', 'node_modules/\n'),
    /git does not ignore/,
  ],
  [
    'a marker that git tracks',
    async ({ git, cli }) => {
      await cli(['create', '7', 'x', '--host-session', SESSION])
      git('add', '--force', 'specs/007_x')
    },
    /git tracks specs\/007_x\/\.postflight-pending/,
  ],
  ['a marker that does not parse', ({ project }) => project.marker('007_x', '{"reason": '), /is not JSON/],
  ['a marker of another shape', ({ project }) => project.marker('007_x', '[]'), /not an object/],
  [
    'an abandoned marker',
    ({ project }) => project.write('specs/007_x/.postflight-abandoned', '{}'),
    /abandoned/,
    ({ cli }) => cli(['clear', '7']),
  ],
  ['an expired marker', ({ project }) => project.marker('007_x', { created: hoursAgo(30) }), /blocks no stop/],
  [
    'a marker that is pending for days',
    ({ project }) => project.marker('007_x', { cc_session_id: SESSION, created: hoursAgo(72) }),
    /pending for 3 days/,
    ({ cli }) => cli(['clear', '7']),
  ],
  [
    'a marker where the hook does not look',
    ({ project }) => project.write('docs/.postflight-pending', ''),
    /where the hook does not look/,
    ({ project }) => rmSync(project.at('docs'), { recursive: true }),
  ],
  [
    'a stalled run',
    async (wired) => {
      await startFlow(wired)
      await wired.cli(['workflow', 'next', '8'])
      await wired.cli(['workflow', 'next', '8'])
    },
    /specs\/008_flow: .*stalled/,
  ],
  [
    'a run without its run file',
    async (wired) => {
      await startFlow(wired)
      rmSync(wired.project.at('specs/.postflight/running'), { recursive: true })
    },
    /its run file is missing/,
  ],
]

describe.concurrent('doctor finds', () => {
  it('nothing after init, and a stop is held once', async () => {
    const wired = await initialized()

    const { status, wrong } = await doctor(wired)

    expect({ status, wrong }).toEqual({ status: 0, wrong: [] })
    expect(await holders(wired)).toBe(1)
  })

  it.each<Row>([...WIRING, ...PROJECT])('%s, and its fix removes that', async (_name, make, what, byHand) => {
    const wired = await initialized()
    await make(wired)

    const before = await doctor(wired)
    const found = before.wrong.filter((finding) => what.test(finding.what))
    expect(found, before.stdout).toHaveLength(1)
    expect(before).toMatchObject({ status: 1, wrong: found })
    await (byHand === undefined ? follow(wired, found[0]?.fix ?? '') : byHand(wired, found[0]?.fix ?? ''))
    const after = await doctor(wired)

    expect({ status: after.status, wrong: after.wrong }).toEqual({ status: 0, wrong: [] })
    expect(await holders(wired)).toBe(1)
  })

  it.each<Row>(WIRING)('%s, where a stop is not held once', async (_name, make) => {
    const wired = await initialized()
    await make(wired)

    expect((await doctor(wired)).status).toBe(1)
  })

  it('POSTFLIGHT_DISABLE=1 in the environment, and settings that say otherwise win', async () => {
    const wired = await initialized()
    const off = { env: { POSTFLIGHT_DISABLE: '1' } }

    const { status, wrong } = await doctor(wired, off)
    change(wired, LOCAL, (settings) => Object.assign(settings, { env: { POSTFLIGHT_DISABLE: '' } }))

    expect(status).toBe(1)
    expect(wrong).toMatchObject([
      { what: expect.stringContaining('set in the environment'), fix: 'unset POSTFLIGHT_DISABLE' },
    ])
    expect((await doctor(wired, off)).status).toBe(0)
  })

  it('disableAllHooks only where it counts: the settings that Claude Code reads last', async () => {
    const wired = await initialized()
    change(wired, USER, (settings) => Object.assign(settings, { disableAllHooks: true }))
    change(wired, LOCAL, (settings) => Object.assign(settings, { disableAllHooks: false }))

    expect((await doctor(wired)).wrong).toEqual([])
    expect(await holders(wired)).toBe(1)
  })

  it('a command that the agent’s shell does not find, and a link on the PATH fixes that', async () => {
    const project = createSourceProject()
    const packageFolder = copyPackage(join(project.base, 'a package'))
    await project.cli(['install', '--host', 'qwen'], { packageFolder })
    const wrong = async (): Promise<Finding[]> =>
      (await project.cli(['doctor', '--json'], { packageFolder })).json().findings.filter(({ ok }: Finding) => !ok)

    const found = await wrong()
    symlinkSync(join(packageFolder, 'bin/postflight'), join(project.base, 'bin/postflight'))

    expect(found).toMatchObject([{ check: 'cli', fix: `npm install --global '${packageFolder}'` }])
    expect(await wrong()).toEqual([])
  })

  it('the command only where an agent finds it too: npx puts it on the PATH of doctor alone', async () => {
    const wired = await initialized()
    const env = {
      PATH: `${wired.project.at('node_modules/.bin')}:${wired.project.env.PATH}`,
      npm_config_user_agent: 'npm/11.0.0',
    }
    await wired.cli(['uninstall'])
    await wired.cli(['install', '--host', 'qwen'])

    const run = await wired.cli(['doctor'], { env })

    expect(run.stdout).toContain('finds the command as `npx --no-install postflight`')
  })

  it('the project’s own entry right, whatever copy it is run from, and never replaces it by a path of this machine', async () => {
    const wired = await initialized()
    const other = copyPackage(join(wired.project.base, 'other'))
    const fromOther = { packageFolder: other }

    const installed = await doctor(wired, fromOther)
    change(wired, SETTINGS, ({ hooks }) => delete hooks.Stop)
    const incomplete = await doctor(wired, fromOther)
    rmSync(wired.folder, { recursive: true })
    wired.project.write('package-lock.json', '{}')
    const missing = await doctor(wired, fromOther)

    expect(installed).toMatchObject({ status: 0, wrong: [] })
    expect(incomplete.wrong.map(({ fix }) => fix)).toEqual(['npx --no-install postflight install --scope project'])
    expect(missing.wrong.map(({ fix }) => fix)).toEqual(['npm ci'])
  })

  it('advises settings that are not shared where the project does not depend on the package', async () => {
    const project = createSourceProject()

    const { findings } = (await project.cli(['doctor', '--json'])).json()

    expect(findings.find(({ ok }: Finding) => !ok).fix).toBe('postflight install --scope local')
  })

  it('the plugin alone right', async () => {
    const wired = withPackage()
    change(wired, USER, (settings) => Object.assign(settings, { enabledPlugins: { 'postflight-guard@x': true } }))
    wired.project.write('.gitignore', 'node_modules/\nspecs/**/.postflight*\n*.postflight-backup\n')

    const { status, wrong } = await doctor(wired)

    expect({ status, wrong }).toEqual({ status: 0, wrong: [] })
  })

  it('and says how a person types the fixes where the command is not on the PATH', async () => {
    const wired = withPackage()

    const { stdout } = await wired.cli(['doctor'])

    expect(stdout).toMatch(/→ postflight install\n[\s\S]*Type `npx postflight`/)
  })
})

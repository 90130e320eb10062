import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CLAIMS_FOLDER } from '../../../src/kernel/files.ts'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { type ProcessResult, runProcess } from '../../support/process.ts'
import {
  copyPackage,
  createSourceProject,
  hoursAgo,
  type JsonDocument,
  type Project,
  withoutPrivileges,
} from '../../support/project.ts'

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly what: string
  readonly fix: string | null
}

/** A project with the package in its node_modules. */
interface Wired {
  readonly project: Project
  readonly folder: string
  /** Runs the package's own CLI. */
  readonly cli: (...words: string[]) => Promise<ProcessResult>
}

function withPackage(): Wired {
  const project = createSourceProject()
  const packageFolder = copyPackage(project.at('node_modules/postflight-guard'))
  return { project, folder: packageFolder, cli: (...words) => project.cli(words, { packageFolder }) }
}

/** The same, as processes of the copy's own files. */
function withBuiltPackage(): Wired {
  const { project, folder } = withPackage()
  const script = join(folder, 'bin', 'postflight.js')
  const cli = (...words: string[]) =>
    runProcess(process.execPath, [script, ...words], { cwd: project.dir, env: project.env })
  return { project, folder, cli }
}

async function findingsOf(cli: Wired['cli']): Promise<{ status: number | null; wrong: Finding[]; all: Finding[] }> {
  const run = await cli('doctor', '--json')
  const all = (JSON.parse(run.stdout) as { findings: Finding[] }).findings
  return { status: run.status, all, wrong: all.filter((finding) => !finding.ok) }
}

describe.concurrent('doctor', () => {
  it.each([
    ['', withPackage],
    [' (processes of the package)', withBuiltPackage],
  ])('finds nothing wrong if the hook is installed%s', async (_how, make) => {
    const { cli, project } = make()
    await cli('install')

    const { status, wrong, all } = await findingsOf(cli)

    expect({ status, wrong }).toEqual({ status: 0, wrong: [] })
    expect(all.map((finding) => [finding.check, finding.what])).toEqual([
      ['settings', `the hook is installed in ${project.at('.claude/settings.json')}`],
      ['hook', 'the hook runs (it answered {})'],
      ['cli', "the hook adds `postflight` to the PATH of the agent's shell when a session starts"],
      ['root', `the root is ${project.dir}`],
    ])
  })

  it('says what to do where the hook is not installed', async () => {
    const { cli } = withPackage()

    const { status, wrong } = await findingsOf(cli)

    expect(status).toBe(1)
    expect(wrong).toEqual([
      {
        check: 'settings',
        ok: false,
        what: 'the hook is not installed in any settings file of Claude Code',
        fix: 'postflight install',
      },
    ])
  })

  it('finds nothing wrong before the first specs/ exists', async () => {
    const { cli, project } = withPackage()
    await cli('install')
    rmSync(project.at('specs'), { recursive: true })

    const { status, all } = await findingsOf(cli)

    expect(status).toBe(0)
    expect(all.find((finding) => finding.check === 'root')?.what).toContain('yet')
  })

  it('prints each finding with its fix for people', async () => {
    const { cli } = withPackage()

    const { stdout } = await cli('doctor')

    expect(stdout).toContain(
      '✗ the hook is not installed in any settings file of Claude Code\n  → postflight install\n',
    )
  })

  it.each([
    [
      'a hook that is installed twice',
      async ({ cli }: Wired) => {
        await cli('install', '--scope', 'project')
        await cli('install', '--scope', 'local', '--force')
      },
      /installed more than once, in .*settings\.json and .*settings\.local\.json/,
    ],
    [
      'a hook that is installed for some events only',
      async ({ cli, project }: Wired) => {
        await cli('install')
        const settings = JSON.parse(project.read('.claude/settings.json')) as JsonDocument
        delete settings.hooks.Stop
        project.write('.claude/settings.json', JSON.stringify(settings))
      },
      /lists the hook for some of its events only/,
    ],
    [
      'a hook from before it handed over reports',
      async ({ cli, project }: Wired) => {
        await cli('install')
        const settings = JSON.parse(project.read('.claude/settings.json')) as JsonDocument
        settings.hooks.PostToolUse.pop()
        project.write('.claude/settings.json', JSON.stringify(settings))
      },
      /lists the hook for some of its events only/,
    ],
    [
      'a hook from before it judged structured answers',
      async ({ cli, project }: Wired) => {
        await cli('install')
        const settings = JSON.parse(project.read('.claude/settings.json')) as JsonDocument
        delete settings.hooks.PreToolUse
        project.write('.claude/settings.json', JSON.stringify(settings))
      },
      /lists the hook for some of its events only/,
    ],
    [
      'another copy of the hook',
      async ({ project }: Wired) => {
        const hooks = [{ hooks: [{ type: 'command', command: '/elsewhere/postflight-guard/hooks/postflight-hook' }] }]
        project.write('.claude/settings.json', JSON.stringify({ hooks: { Stop: hooks, SubagentStop: hooks } }))
      },
      /starts another copy: \/elsewhere/,
    ],
    [
      'broken settings',
      async ({ project }: Wired) => {
        project.write('.claude/settings.json', '{"hooks": {\n  nonsense')
      },
      /settings\.json:2:3: invalid JSON/,
    ],
    [
      'a launcher that is not executable',
      async ({ cli, folder }: Wired) => {
        await cli('install')
        chmodSync(join(folder, 'hooks', 'postflight-hook'), 0o644)
      },
      /postflight-hook is not executable/,
    ],
    [
      'a missing bundle',
      async ({ cli, folder }: Wired) => {
        await cli('install')
        rmSync(join(folder, 'dist', 'hook.js'))
      },
      /hook\.js is missing/,
    ],
    [
      'a broken bundle',
      async ({ cli, folder }: Wired) => {
        await cli('install')
        writeFileSync(join(folder, 'dist', 'hook.js'), 'not a program(')
      },
      /the hook does not answer/,
    ],
    [
      'an abandoned marker',
      async ({ cli, project }: Wired) => {
        await cli('install')
        project.write('specs/259_x/.postflight-abandoned', '{}')
      },
      /specs\/259_x\/\.postflight-abandoned: abandoned, its postflight was never done/,
    ],
    [
      'an expired marker',
      async ({ cli, project }: Wired) => {
        await cli('install')
        project.marker('259_x', { created: hoursAgo(30) })
      },
      /unowned and 30 h old/,
    ],
    [
      'a marker that is pending for days',
      async ({ cli, project }: Wired) => {
        await cli('install')
        project.marker('259_x', { cc_session_id: SESSION, created: hoursAgo(72) })
      },
      /pending for 3 days/,
    ],
    [
      'a marker that cannot be read',
      async ({ cli, project }: Wired) => {
        await cli('install')
        mkdirSync(project.at('specs/259_x/.postflight-pending'), { recursive: true })
      },
      /cannot be read \(a folder\)/,
    ],
    [
      'a marker where the hook does not look',
      async ({ cli, project }: Wired) => {
        await cli('install')
        project.marker('259_x/deeper', {})
        project.write('docs/.postflight-pending', '')
      },
      /is where the hook does not look/,
    ],
  ])('finds %s, with a fix', async (_what, prepare, expected) => {
    const made = withPackage()
    await prepare(made)

    const { status, wrong } = await findingsOf(made.cli)

    expect(status).toBe(1)
    expect(wrong.map((finding) => finding.what).join('\n')).toMatch(expected)
    expect(wrong.every((finding) => finding.fix !== null && finding.fix !== '')).toBe(true)
  })

  it.each([
    ['a task folder', 'specs/007_x', 'specs/007_x/.postflight-pending: pending, but specs/007_x'],
    ['the folder of its claims', `specs/007_x/${CLAIMS_FOLDER}`, `specs/007_x/${CLAIMS_FOLDER}`],
    ['the task folder of a workflow', 'specs/008_flow', 'specs/008_flow: the workflow "flow" is running'],
    ["a workflow's folder", 'specs/008_flow/workflow', 'specs/008_flow/workflow cannot be written'],
  ])(
    'finds %s that cannot be written, so that no stop can be blocked, and writes nothing',
    async (_what, folder, said) => {
      const project = createSourceProject()
      project.marker('007_x', { cc_session_id: SESSION })
      project.write(`specs/007_x/${CLAIMS_FOLDER}/.gitignore`, '*\n')
      const phases = [{ id: 'a', prompt: 'p', artifact: 'a.txt' }]
      project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
      await project.cli(['workflow', 'start', '8', 'flow', '--definition', 'flow.json'])
      const user = withoutPrivileges(project)
      const asUser = (...words: string[]) =>
        runProcess(process.execPath, [user.cli, ...words], { cwd: project.dir, env: project.env, uid: user.uid })
      const aboutMarkers = ({ all }: { all: Finding[] }): Finding[] =>
        all.filter(({ check }) => check === 'marker' || check === 'workflow')
      const fine = aboutMarkers(await findingsOf(asUser))
      chmodSync(project.at(folder), 0o555)
      const before = project.snapshot('specs')

      const found = aboutMarkers(await findingsOf(asUser)).filter(({ ok }) => !ok)

      expect(project.snapshot('specs')).toEqual(before)
      chmodSync(project.at(folder), 0o755)
      expect(fine.map(({ ok }) => ok)).toEqual([true, true])
      expect(found).toHaveLength(1)
      expect(found[0]?.what).toContain(said)
      expect(found[0]?.what).toContain('cannot be written to (EACCES)')
      expect(found[0]?.fix).toContain(`chmod u+wx ${project.at(folder)}`)
    },
  )

  it.each([
    ['a link', (specs: string) => symlinkSync('/tmp', specs)],
    ['a file', (specs: string) => writeFileSync(specs, '')],
  ])('finds %s in the place of specs/, which create refuses', async (kind, make) => {
    const { cli, project } = withPackage()
    await cli('install')
    rmSync(project.at('specs'), { recursive: true })
    make(project.at('specs'))

    const { status, wrong } = await findingsOf(cli)

    const what = `${project.at('specs')} is ${kind}, but must be a real folder`
    expect(status).toBe(1)
    expect(wrong).toEqual([expect.objectContaining({ check: 'root', what, fix: expect.stringContaining('rename') })])
    expect((await project.cli(['create', '7', 'x'])).stderr).toContain(what)
  })

  it('does not suggest create where create refuses to make specs/', async () => {
    const project = createSourceProject({ git: false, specs: false })
    rmSync(join(project.home, '.git'), { recursive: true })

    const { all } = await findingsOf((...words) => project.cli(words, { cwd: project.home }))

    const root = all.find(({ check }) => check === 'root')
    expect(root).toMatchObject({ ok: true, what: expect.stringContaining('is not a project') })
    expect(root?.what).not.toContain('create')
    expect((await project.cli(['create', '7', 'x'], { cwd: project.home })).stderr).toContain(
      'does not look like a project',
    )
  })

  it('names the folder of --root where it has no specs/ yet', async () => {
    const { cli, project } = withPackage()
    mkdirSync(project.at('new/.git'), { recursive: true })

    const { all } = await findingsOf((...words) => cli(...words, '--root', 'new'))

    expect(all.find(({ check }) => check === 'root')?.what).toContain(`no specs/ at or above ${project.at('new')} yet`)
  })

  it('that cannot read specs/ reports that, and not that it cannot write', async () => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/007_x'))
    const user = withoutPrivileges(project)
    chmodSync(project.at('specs'), 0)
    const run = await runProcess(process.execPath, [user.cli, 'doctor'], {
      cwd: project.dir,
      env: project.env,
      uid: user.uid,
    })
    chmodSync(project.at('specs'), 0o755)

    expect(run.stdout).toContain('specs cannot be searched (EACCES)')
    expect(run.stdout).toMatch(/specs\/workflow cannot be read \(EACCES\)/)
    expect(run.stdout + run.stderr).not.toContain('cannot write')
  })

  it('lists markers without a problem too', async () => {
    const { cli, project } = withPackage()
    await cli('install')
    project.marker('001_a', { cc_session_id: SESSION, created: hoursAgo(1) })
    project.marker('002_b', { stop_hook_active: true })

    const { status, all } = await findingsOf(cli)

    expect(status).toBe(0)
    expect(all.filter((finding) => finding.check === 'marker').map((finding) => finding.what)).toEqual([
      'specs/001_a/.postflight-pending: pending',
      'specs/002_b/.postflight-pending: bypassed, the next stop removes it',
    ])
  })

  it('starts the hook without using a continuation in any root', async () => {
    const { cli, project } = withPackage()
    await cli('install')
    project.marker('001_unowned', { reason: 'pending' })
    project.marker('002_bypassed', { stop_hook_active: true })
    project.marker('003_old', { created: hoursAgo(30) })
    const before = project.snapshot('specs')

    const { all } = await findingsOf(cli)
    await project.cli(['doctor'], { cwd: project.home, env: { CLAUDE_PROJECT_DIR: project.dir } })
    await project.cli(['doctor'], { cwd: project.home, env: { POSTFLIGHT_ROOT: project.dir } })

    expect(all).toContainEqual(expect.objectContaining({ check: 'hook', ok: true }))
    expect(project.snapshot('specs')).toEqual(before)
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
  })
})

describe.concurrent('a hook that is installed more than once', () => {
  const settingsOf = ({ wrong }: { wrong: Finding[] }): Finding[] => wrong.filter(({ check }) => check === 'settings')

  it.each([
    [['project', 'local'], ['local']],
    [['local', 'user'], ['local']],
    [['user', 'project'], ['project']],
    [
      ['local', 'user', 'project'],
      ['project', 'local'],
    ],
  ])(
    'in the settings of %j is found, with the commands that leave one: uninstall in %j',
    async (scopes, superfluous) => {
      const project = createSourceProject()
      for (const scope of scopes) await project.cli(['install', '--scope', scope, '--force'])
      const cli = (...words: string[]) => project.cli(words)

      const { status, wrong } = await findingsOf(cli)

      const files: Record<string, string> = {
        user: join(project.home, '.claude/settings.json'),
        project: project.at('.claude/settings.json'),
        local: project.at('.claude/settings.local.json'),
      }
      expect(status).toBe(1)
      expect(wrong).toEqual([
        {
          check: 'settings',
          ok: false,
          what: expect.stringMatching(
            /^the hook is installed more than once, in .*: Claude Code runs the same command once, but /,
          ),
          fix: superfluous.map((scope) => `postflight uninstall --scope ${scope}`).join(' && '),
        },
      ])
      for (const scope of scopes) expect(wrong[0]?.what).toContain(files[scope])
      for (const scope of superfluous) await cli('uninstall', '--scope', scope)
      expect(await findingsOf(cli)).toMatchObject({ status: 0, wrong: [] })
    },
  )

  it('with different commands is found, with a warning that each one runs', async () => {
    const { cli, project } = withPackage()
    await cli('install')
    await cli('install', '--scope', 'user', '--force')

    expect(settingsOf(await findingsOf(cli))).toEqual([
      {
        check: 'settings',
        ok: false,
        what: `the hook is installed more than once, in ${project.at('.claude/settings.json')} and ${join(project.home, '.claude/settings.json')}: the host runs each of them, so one stop counts several times`,
        // The entry that a team shares stays.
        fix: 'postflight uninstall --scope user',
      },
    ])
  })

  it('as this copy and as another one is found, and this copy stays', async () => {
    const project = createSourceProject()
    await project.cli(['install', '--scope', 'local'])
    const hooks = [{ hooks: [{ type: 'command', command: '/elsewhere/postflight-guard/hooks/postflight-hook' }] }]
    project.write('.claude/settings.json', JSON.stringify({ hooks: { Stop: hooks } }))

    const wrong = settingsOf(await findingsOf((...words) => project.cli(words)))

    // Never both `install` and `uninstall` for one scope.
    expect(wrong.map(({ fix }) => fix)).toEqual(['postflight uninstall --scope project'])
  })

  it('in one file is found, and install repairs it', async () => {
    const { cli, project } = withPackage()
    await cli('install')
    const settings = JSON.parse(project.read('.claude/settings.json')) as JsonDocument
    settings.hooks.SubagentStop.push(...settings.hooks.SubagentStop)
    project.write('.claude/settings.json', JSON.stringify(settings))

    expect(settingsOf(await findingsOf(cli))).toEqual([
      {
        check: 'settings',
        ok: false,
        what: `${project.at('.claude/settings.json')} lists the hook more than once`,
        fix: 'postflight install --scope project',
      },
    ])
    await cli('install')
    expect(settingsOf(await findingsOf(cli))).toEqual([])
  })

  it('is not found where two scopes share a file: the project is the home folder, or one file is a link to the other', async () => {
    const home = createSourceProject()
    const inHome = (...words: string[]) => home.cli(words, { cwd: home.home })
    await inHome('install', '--scope', 'user')
    const linked = createSourceProject()
    const inLinked = (...words: string[]) => linked.cli(words)
    await inLinked('install')
    symlinkSync('settings.json', linked.at('.claude/settings.local.json'))

    for (const cli of [inHome, inLinked]) {
      const { all, wrong } = await findingsOf(cli)
      expect(wrong).toEqual([])
      expect(all.filter(({ check }) => check === 'settings')).toHaveLength(1)
    }
  })
})

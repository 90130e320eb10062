import fs, { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { CLAIMS_FOLDER } from '../../../src/kernel/files.ts'
import type { CommandContext } from '../../../src/project/command-context.ts'
import { checkHook } from '../../../src/setup/doctor/host-findings.ts'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { PACKAGE, runProcess } from '../../support/process.ts'
import {
  createDependentProject,
  createSourceProject,
  type Finding,
  findingsOf,
  hoursAgo,
  type Project,
  withMarker,
  withoutPrivileges,
} from '../../support/project.ts'

const SETTINGS = '.claude/settings.json'

describe.concurrent('doctor', () => {
  it.each(['the sources', 'the built files'])('finds nothing wrong if the hook is installed: %s', async (which) => {
    const { cli, folder, project } = createDependentProject()
    await cli('install')
    const options = { cwd: project.dir, env: project.env }
    const built = (words: readonly string[]) =>
      runProcess(process.execPath, [join(folder, 'bin/postflight.js'), ...words], options)
    const { status, wrong, all } = await findingsOf(which === 'the sources' ? cli : built)
    expect({ status, wrong }).toEqual({ status: 0, wrong: [] })
    expect(all.map((finding) => [finding.check, finding.what])).toEqual([
      ['settings', `the hook is installed in ${project.at(SETTINGS)}`],
      ['hook', 'the hook runs (it answered {})'],
      ['cli', "the hook adds `postflight` to the PATH of the agent's shell when a session starts"],
      ['root', `the root is ${project.dir}`],
    ])
    const below = await project.cli(['doctor'], { cwd: project.at('specs'), env: project.env })
    expect(below.stdout).toContain(`installed in ${project.at(SETTINGS)}, for sessions that start in ${project.dir}\n`)
  })

  it('finds nothing wrong before the first specs/ exists, and names the folder of --root', async () => {
    const { cli, project } = createDependentProject()
    await cli('install')
    rmSync(project.at('specs'), { recursive: true })
    const { status, all } = await findingsOf(cli)
    expect(status).toBe(0)
    expect(all.find((finding) => finding.check === 'root')?.what).toContain('yet')
    mkdirSync(project.at('new/.git'), { recursive: true })
    const other = (await findingsOf((words) => cli([...words, '--root', 'new']))).all
    const wanted = `no specs/ at or above ${project.at('new')} yet`
    expect(other.find(({ check }) => check === 'root')?.what).toContain(wanted)
  })

  it('finds each folder that cannot be written, so that no stop can be blocked, and writes nothing', async () => {
    const project = withMarker({ cc_session_id: SESSION }, '007_x')
    project.write(`specs/007_x/${CLAIMS_FOLDER}/.gitignore`, '*\n')
    project.write('flow.json', JSON.stringify({ name: 'flow', phases: [{ id: 'a', prompt: 'p', artifact: 'a.txt' }] }))
    await project.cli(['workflow', 'start', '8', 'flow', '--definition', 'flow.json'])
    const user = withoutPrivileges(project)
    const aboutMarkers = async (): Promise<Finding[]> => {
      const { all } = await findingsOf((words) =>
        runProcess(process.execPath, [user.cli, ...words], { cwd: project.dir, env: project.env, uid: user.uid }),
      )
      return all.filter(({ check }) => check === 'marker' || check === 'workflow')
    }
    const before = project.snapshot('specs')
    expect((await aboutMarkers()).map(({ ok }) => ok)).toEqual([true, true])
    for (const [folder, said] of [
      ['specs/007_x', 'specs/007_x/.postflight-pending: pending, but specs/007_x'],
      [`specs/007_x/${CLAIMS_FOLDER}`, `specs/007_x/${CLAIMS_FOLDER}`],
      ['specs/008_flow', 'specs/008_flow: the workflow "flow" is running'],
      ['specs/008_flow/workflow', 'specs/008_flow/workflow cannot be written'],
    ] as const) {
      chmodSync(project.at(folder), 0o555)
      const found = (await aboutMarkers()).filter(({ ok }) => !ok)
      expect(project.snapshot('specs'), folder).toEqual(before)
      chmodSync(project.at(folder), 0o755)
      expect(found, folder).toHaveLength(1)
      expect(found[0]?.what).toContain(said)
      expect(found[0]?.what).toContain('cannot be written to (EACCES)')
      expect(found[0]?.fix).toContain(`chmod u+wx ${project.at(folder)}`)
    }
  })

  it.each([
    ['a link', (specs: string) => symlinkSync('/tmp', specs)],
    ['a file', (specs: string) => writeFileSync(specs, '')],
  ])('finds %s in the place of specs/, which create refuses', async (kind, make) => {
    const { cli, project } = createDependentProject()
    await cli('install')
    rmSync(project.at('specs'), { recursive: true })
    make(project.at('specs'))
    const { status, wrong } = await findingsOf(cli)
    const what = `${project.at('specs')} is ${kind}, but must be a real folder`
    expect(status).toBe(1)
    expect(wrong).toEqual([expect.objectContaining({ check: 'root', what, fix: expect.stringContaining('rename') })])
    expect((await project.cli(['create', '7', 'x'])).stderr).toContain(what)
  })

  it('like init, does not suggest create if create refuses to make specs/', async () => {
    const project = createSourceProject({ git: false, specs: false })
    rmSync(join(project.home, '.git'), { recursive: true })
    const inHome = (words: readonly string[], env = {}) => project.cli(words, { cwd: project.home, env })
    const { all } = await findingsOf(inHome)
    const root = all.find(({ check }) => check === 'root')
    expect(root).toMatchObject({ ok: true, what: expect.stringContaining('is not a project') })
    expect(root?.what).not.toContain('create')
    expect((await inHome(['init', '--yes'])).stdout).toContain("Try it in a project's folder: ")
    symlinkSync(project.home, join(project.base, 'link'))
    const env = { HOME: join(project.base, 'link') }
    expect((await inHome(['create', '7', 'x'], env)).stderr).toContain('does not look like a project')
  })

  it('that cannot read specs/ reports that, and not that it cannot write', async () => {
    const project = createSourceProject()
    const names = ['specs/007_x', 'specs/.postflight', '.github/hooks/x']
    for (const name of names) mkdirSync(project.at(name), { recursive: true })
    const user = withoutPrivileges(project)
    chmodSync(project.at('specs'), 0)
    chmodSync(project.at('.github/hooks'), 0o444)
    const options = { cwd: project.dir, env: project.env, uid: user.uid }
    const asUser = (command: string) => runProcess(process.execPath, [user.cli, command], options)
    const [run, logs] = await Promise.all([asUser('doctor'), asUser('logs')])
    for (const name of ['specs', '.github/hooks']) chmodSync(project.at(name), 0o755)
    expect(run.stdout).toContain('specs cannot be searched (EACCES)')
    expect(run.stdout).toMatch(/specs\/workflow cannot be read \(EACCES\)/)
    expect(logs.stderr).toMatch(/specs\/.postflight cannot be read \(EACCES\)/)
    const statusWithout = async (name: string) => {
      chmodSync(project.at(name), 0)
      const { stdout } = await asUser('status')
      chmodSync(project.at(name), 0o755)
      return stdout
    }
    expect(await statusWithout('specs/.postflight')).toContain('specs/.postflight cannot be searched (EACCES)')
    await project.cli(['create', '7', '--agent', 'main'], { env: { POSTFLIGHT_HOST_SESSION: SESSION } })
    expect((await asUser('doctor')).stdout).toContain('.postflight/journal.jsonl cannot be written to (EACCES), so')
    expect(await statusWithout('specs/007_x')).toMatch(/^✗ \S+\/007_x cannot be searched \(EACCES\)[^\n]*\n$/)
    expect(JSON.stringify([run, logs])).not.toContain('cannot write')
  })

  it('reports a launcher on noexec, and why the hook does not answer if its PATH has no node, although Bun has one for doctor', () => {
    const PATH = createSourceProject().at('bun-node-0')
    mkdirSync(PATH)
    symlinkSync(process.execPath, join(PATH, 'node'))
    const find = (environment: object) =>
      checkHook({ packageFolder: PACKAGE, platform: 'linux', environment } as CommandContext)
    expect(find({ PATH })).toMatchObject([{ ok: true }])
    const access = vi.spyOn(fs, 'accessSync').mockThrowOnce(new Error('EACCES'))
    expect(find({ PATH }), 'on noexec').toMatchObject([{ fix: expect.stringContaining('noexec') }, { ok: true }])
    access.mockThrowOnce(new Error('EACCES'))
    const stat = vi.spyOn(fs, 'statSync').mockReturnValue({ isFile: () => true, mode: 0o744 } as fs.Stats)
    expect(find({ PATH }), 'of another user').toMatchObject([{ fix: expect.stringContaining('chmod') }, { ok: true }])
    for (const mock of [access, stat]) mock.mockRestore()
    const what = expect.stringMatching(/the hook does not answer .*ENOENT/)
    expect(find({ PATH, npm_config_user_agent: 'bun/1.4.5' })).toMatchObject([{ ok: false, what }])
  })

  it('lists markers without a problem too', async () => {
    const { cli, project } = createDependentProject()
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
    const { cli, project } = createDependentProject()
    await cli('install')
    project.marker('001_unowned', { reason: 'pending' })
    project.marker('002_bypassed', { stop_hook_active: true })
    project.marker('003_old', { created: hoursAgo(30) })
    const before = project.snapshot('specs')
    expect((await findingsOf(cli)).all).toContainEqual(expect.objectContaining({ check: 'hook', ok: true }))
    await project.cli(['doctor'], { cwd: project.home, env: { CLAUDE_PROJECT_DIR: project.dir } })
    await project.cli(['doctor'], { cwd: project.home, env: { POSTFLIGHT_ROOT: project.dir } })
    expect(project.snapshot('specs')).toEqual(before)
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
  })
})

describe.concurrent('a hook that is installed more than once', () => {
  const finding = (what: unknown, fix: string) => ({ check: 'settings', ok: false, what, fix })
  const places = (project: Project): Record<string, string> => ({
    user: join(project.home, SETTINGS),
    project: project.at(SETTINGS),
    local: project.at('.claude/settings.local.json'),
  })

  it.each([
    ['project local', 'local'],
    ['local user', 'local'],
    ['user project', 'project'],
    ['local user project', 'project local'],
  ])(
    'in the settings of %s is found, with the commands that leave one: uninstall in %s',
    async (scopes, superfluous) => {
      const project = createSourceProject()
      for (const scope of scopes.split(' ')) await project.cli(['install', '--scope', scope, '--force'])
      const { status, wrong } = await findingsOf(project.cli)
      expect(status).toBe(1)
      const what = /^the hook is installed more than once, in .*: Claude Code runs the same command once, but /
      const fixes = superfluous.split(' ').map((scope) => `postflight uninstall --scope ${scope}`)
      expect(wrong).toEqual([finding(expect.stringMatching(what), fixes.join(' && '))])
      for (const scope of scopes.split(' ')) expect(wrong[0]?.what).toContain(places(project)[scope])
      for (const scope of superfluous.split(' ')) await project.cli(['uninstall', '--scope', scope])
      expect(await findingsOf(project.cli)).toMatchObject({ status: 0, wrong: [] })
    },
  )

  it('with different commands is found, with a warning that each one runs; the entry that a team shares stays', async () => {
    const { cli, project } = createDependentProject()
    await cli('install')
    await cli('install --scope user --force')
    const { user, project: shared } = places(project)
    const what = `the hook is installed more than once, in ${shared} and ${user}: the host runs each of them, so one stop counts several times`
    expect((await findingsOf(cli)).wrong).toEqual([finding(what, 'postflight uninstall --scope user')])
  })

  it('as this copy and as another one is found, and this copy stays', async () => {
    const project = createSourceProject()
    await project.cli(['install', '--scope', 'local'])
    const hooks = [{ hooks: [{ type: 'command', command: '/elsewhere/postflight-guard/hooks/postflight-hook' }] }]
    project.write(SETTINGS, JSON.stringify({ hooks: { Stop: hooks } }))
    const { wrong } = await findingsOf(project.cli)
    const fixes = wrong.filter(({ check }) => check === 'settings').map(({ fix }) => fix)
    // Never both `install` and `uninstall` for one scope.
    expect(fixes).toEqual(['postflight uninstall --scope project'])
  })

  it('is not found if two scopes share a file: the project is the home folder, or one file is a link to the other', async () => {
    const home = createSourceProject()
    const inHome = (words: readonly string[]) => home.cli(words, { cwd: home.home })
    await inHome(['install', '--scope', 'user'])
    const linked = createSourceProject()
    await linked.cli(['install'])
    symlinkSync('settings.json', linked.at('.claude/settings.local.json'))
    for (const cli of [inHome, linked.cli]) {
      const { all, wrong } = await findingsOf(cli)
      expect(wrong).toEqual([])
      expect(all.filter(({ check }) => check === 'settings')).toHaveLength(1)
    }
  })
})

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freeCommands } from '../../../src/cli/commands/command-list.ts'
import { rulesOf } from '../../../src/setup/permission-rules.ts'
import { CLI } from '../../support/process.ts'
import {
  copyPackage,
  createDependentProject,
  createProject,
  createSourceProject,
  type DependentProject,
  type Project,
} from '../../support/project.ts'
import { HAS_TERMINAL, startInTerminal } from '../../support/pseudo-terminal.ts'

const RULES = rulesOf(freeCommands(), true)

const WIDE = { columns: 80, rows: 60 }
const patient = { timeout: 15_000 }
const SETTINGS = '.claude/settings.json'
const LOCAL = '.claude/settings.local.json'
const SKILL = '.claude/skills/postflight/SKILL.md'

function withPackage(files: Readonly<Record<string, string>> = {}, specs = true): DependentProject {
  const wired = createDependentProject({ specs })
  for (const [name, text] of Object.entries(files)) wired.project.write(name, text)
  return wired
}

async function initialized(line = 'init --yes'): Promise<DependentProject> {
  const wired = withPackage()
  await wired.cli(line)
  return wired
}

function filesOf(project: Project): Record<string, string> {
  return Object.fromEntries(Object.entries(project.snapshot()).filter(([name]) => !name.startsWith('node_modules')))
}

describe.concurrent('init', () => {
  it('writes the hook, permission rules, lines for git and a skill, and says how to undo it', async () => {
    const { project, cli } = withPackage()
    const run = await cli('init --yes')
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.stdout).toContain('npx postflight uninstall --scope project')
    expect(run.stdout.trimEnd().split('\n').at(-1)).toMatch(/^Try it now: /)
    const settings = JSON.parse(project.read(SETTINGS))
    const events = 'SubagentStop Stop SessionStart PostToolUse PostToolUseFailure PreToolUse'
    expect(Object.keys(settings.hooks).join(' ')).toBe(events)
    expect(settings.permissions).toEqual({ allow: RULES.allow, ask: RULES.ask })
    expect(project.read('.gitignore')).toContain('specs/**/.postflight-*\n')
    expect(project.read(SKILL)).toMatch(/^---\nname: postflight\n[\s\S]*npx --no-install postflight/)
  })

  it.each([
    ['nothing before', {}],
    [
      'settings, a .gitignore and a skill before',
      {
        [SETTINGS]: '{\n    "permissions": {\n        "allow": ["Bash(ls *)"]\n    }\n}',
        '.gitignore': 'node_modules',
        '.claude/skills/other/SKILL.md': '---\nname: other\n---\n',
      },
    ],
  ])('writes nothing the second time, and uninstall leaves no trace of it: %s', async (_what, files) => {
    const { project, cli } = withPackage(files)
    const before = filesOf(project)
    await cli('init --yes')
    const after = filesOf(project)
    expect(after).not.toEqual(before)
    const again = await cli('init --yes --json')
    expect(again.json()).toMatchObject({ changed: false, parts: Array(4).fill({ state: 'done' }) })
    expect(filesOf(project)).toEqual(after)
    await cli('uninstall')
    expect(filesOf(project)).toEqual(before)
  })

  it('leaves no trace either if install came before, or the settings have changed since', async () => {
    const { project, cli } = withPackage({ [SETTINGS]: '{"model": "opus"}\n' })
    const before = filesOf(project)
    await cli('install')
    await cli('init --yes')
    await cli('uninstall')
    expect(filesOf(project)).toEqual(before)
    await cli('init --yes')
    project.write(SETTINGS, project.read(SETTINGS).replace('"opus"', '"sonnet"'))
    const run = await cli('uninstall')
    expect(JSON.parse(project.read(SETTINGS))).toEqual({ model: 'sonnet' })
    // The backup holds the old text, which differs from the present one.
    expect(run.stdout).toContain(`Kept the backup ${SETTINGS}.postflight-backup`)
    await cli('init --yes')
    project.write('specs/done.yaml', '')
    project.marker('004_x', {})
    expect((await cli('uninstall')).stdout).toMatch(/done.yaml, .*\nKept 1 marker in specs\/, and git no longer/)
  })

  it('leaves permission rules that were there before, with init and without', async () => {
    const { project, cli } = await initialized()
    const { permissions } = JSON.parse(project.read(SETTINGS))
    await cli('uninstall')
    const [kept, other] = permissions.allow as [string, string]
    project.write(SETTINGS, JSON.stringify({ permissions }))
    const all = filesOf(project)

    const none = await cli('uninstall')
    const count = RULES.allow.length + RULES.ask.length
    const keptRules = (what: string, it: string): string =>
      `Kept ${what} about postflight in ${SETTINGS}, because no record says that \`postflight init\` added ${it}. To remove ${it}, edit "permissions" in that file\n`
    expect(none.stdout).toBe(
      `The hook is not in ${SETTINGS} or ${LOCAL}\n${keptRules(`${count} permission rules`, 'them')}`,
    )
    expect(filesOf(project)).toEqual(all)
    const own = { allow: [kept], ask: ['Bash(git push *)'] }
    project.write(SETTINGS, JSON.stringify({ permissions: own }))
    const before = filesOf(project)
    await cli('init --yes')
    expect(JSON.parse(project.read(SETTINGS)).permissions.allow).toContain(other)
    expect((await cli('uninstall')).stdout).toContain(keptRules('a permission rule', 'it'))
    expect(filesOf(project)).toEqual(before)

    await cli('init --yes')
    await cli('init --yes')
    project.write(SETTINGS, project.read(SETTINGS).replace('{', '{"model":"opus",'))
    await cli('uninstall')

    expect(JSON.parse(project.read(SETTINGS))).toEqual({ model: 'opus', permissions: own })
    expect(project.has(`${SETTINGS}.postflight-rules`)).toBe(false)
  })

  it('shares the record of its rules with the settings: a teammate’s uninstall removes them', async () => {
    const { project, cli } = await initialized()
    rmSync(project.at(`${SETTINGS}.postflight-backup`), { force: true })
    expect((await cli('uninstall')).stdout).toContain(`Removed ${SETTINGS}`)
    expect(project.has('.claude')).toBe(false)
    await cli('init --yes')
    rmSync(project.at(SETTINGS))
    await cli('uninstall')
    expect(project.has('.claude')).toBe(false)
  })

  it('writes nothing with --dry-run, and shows every rule', async () => {
    const { project, cli } = withPackage()
    const before = filesOf(project)
    const run = await cli('init --dry-run')
    expect(run.status).toBe(0)
    for (const rule of [...RULES.allow, ...RULES.ask]) expect(run.stdout).toContain(rule)
    expect(filesOf(project)).toEqual(before)
  })

  it.each([
    { answers: 'n n n n', written: [] },
    { answers: ' no N Y', written: [SETTINGS, SKILL] },
    { answers: 'n yes  x', written: ['.gitignore', SETTINGS] },
    { answers: 'maybe n n banana y x n', written: ['.gitignore'] },
    { answers: 'y y y', written: [] },
  ])('asks about each part, and writes only after the last answer: "$answers"', async ({ answers, written }) => {
    const { project, cli } = withPackage()
    const run = await cli('init', { answers: answers.split(' ') })
    expect(run.status).toBe(0)
    expect(run.stdout).toContain('Nothing is written before the last answer')
    expect(['.gitignore', SETTINGS, SKILL].filter((name) => project.has(name))).toEqual(written)
  })

  it('shows the entries, the rules, the lines and the skill before it asks about them', async () => {
    const { stdout } = await withPackage().cli('init', { answers: ['n', 'n', 'n', 'n'] })
    const [hook, rules, lines, skill] = stdout.split('Write this? [Y/n]')
    const entries = ['SubagentStop: ', 'Stop: ', 'SessionStart: ', 'PostToolUse Bash Bash(*postflight*): ']
    for (const entry of entries) expect(hook).toContain(`  ${entry}`)
    for (const rule of [...RULES.allow, ...RULES.ask]) expect(rules).toContain(rule)
    expect(lines).toContain('  specs/**/.postflight-*')
    expect(skill).toContain('plugin/skills/postflight/SKILL.md')
  })

  it.each(['hook', 'permissions', 'gitignore', 'skill'])('leaves out %s with --skip', async (part) => {
    const { project, cli } = await initialized(`init --yes --skip ${part}`)
    const settings = JSON.parse(project.read(SETTINGS))
    expect({
      hook: settings.hooks !== undefined,
      permissions: settings.permissions !== undefined,
      gitignore: project.has('.gitignore'),
      skill: project.has(SKILL),
    }).toEqual({ hook: true, permissions: true, gitignore: true, skill: true, [part]: false })
    await cli('uninstall')
    expect(filesOf(project)).toEqual({ specs: 'folder' })
  })

  describe('the entry of a shell hook', () => {
    const GUARD = '.claude/hooks/guard.sh'
    const ENTRY =
      '{ "hooks": [{ "type": "command", "command": "bash .claude/hooks/guard.sh 2>/dev/null || echo {}" }] }'
    /** Settings with other entries around it, one of which names the same markers without counting a stop. */
    const settings = (entry: string): string => `{
  "model": "opus",   "hooks": {
    "SessionStart": [{ "hooks": [{ "type": "command", "command": "find specs -name .postflight-pending -mtime +7 -delete" }] }],
    "SubagentStop": [
      { "hooks": [{ "type": "command", "command": "date >> stops.log" }] }${entry === '' ? '' : `,\n      ${entry}`}
    ]
  }
}
`
    const script = '#!/bin/bash\nmarker=$(find specs -name .postflight-pending | head -1)\n'
    const REST = '--skip hook --skip permissions --skip gitignore --skip skill --skip done'

    const withShellHook = (name: string, entry = ENTRY) => withPackage({ [GUARD]: script, [name]: settings(entry) })

    it('is shown and taken out, and nothing else', async () => {
      const { project, cli } = withShellHook(LOCAL)
      const run = await cli(`init --scope local ${REST}`, { answers: ['y'] })
      expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining('in 1 part.') })
      expect(run.stdout).toContain('  SubagentStop: bash .claude/hooks/guard.sh 2>/dev/null || echo {}')
      expect(project.read(LOCAL)).toBe(settings(''))
      expect(project.read(`${LOCAL}.postflight-backup`)).toBe(settings(ENTRY))
      expect(project.read(GUARD)).toBe(script)
      expect((await cli('init --yes --json')).json().parts).toHaveLength(4)
    })

    it('stays if the answer is no, and with --skip shell-hook', async () => {
      const { project, cli } = withShellHook(LOCAL)
      const before = filesOf(project)
      const run = await cli(`init --scope local ${REST}`, { answers: ['n'] })
      await cli(`init --scope local --yes --skip shell-hook ${REST}`)
      expect(run.stdout).toContain(`the entry of a shell hook: ${LOCAL} (left there)`)
      expect(filesOf(project)).toEqual(before)
    })

    it.each([
      [LOCAL, 'local', 'project'],
      [SETTINGS, 'project', 'local'],
      [`../home/${SETTINGS}`, 'user', 'project'],
    ])(
      'in %s stays where init writes another file, and the command that takes it out is named',
      async (name, own, scope) => {
        const { project, cli } = withShellHook(name)
        const run = await cli(`init --yes --scope ${scope}`)
        const named = /: postflight (init --scope .*)$/m.exec(run.stdout)?.[1] ?? ''
        expect(project.read(name)).toBe(settings(ENTRY))
        expect(run.stdout).toMatch(/^Warning: "bash \.claude\/hooks\/guard\.sh [^\n]*a sub-agent counts twice/m)
        expect(named).toBe(`init --scope ${own} ${REST}`)
        await cli(named, { answers: ['y'] })
        expect(project.read(name)).toBe(settings(''))
      },
    )

    it('is no question if no entry of SubagentStop names markers', async () => {
      const { cli } = withShellHook(LOCAL, '')
      const { parts } = (await cli('init --dry-run --json')).json()
      expect(parts.map(({ name }: { name: string }) => name)).not.toContain('shell-hook')
    })

    it('goes in the same write as our entries, with one backup; uninstall does not bring it back', async () => {
      const { project, cli } = withShellHook(SETTINGS)
      const run = await cli('init --yes')
      const written = project.read(SETTINGS)
      await cli('uninstall')
      expect(run.stdout.match(/Backup: /g)).toHaveLength(1)
      expect(run.stdout).toContain('does not put the entry of the shell hook back')
      expect(written).toContain('postflight-hook')
      expect(written).not.toContain('guard.sh')
      expect(JSON.parse(project.read(SETTINGS))).toEqual(JSON.parse(settings('')))
      expect(project.read(`${SETTINGS}.postflight-backup`)).toBe(settings(ENTRY))
    })

    it('goes in the same write if two scopes share the file through a link', async () => {
      const { project, cli } = withShellHook(SETTINGS)
      symlinkSync('settings.json', project.at(LOCAL))
      await cli('init --yes --scope local')
      expect(project.read(SETTINGS)).toContain('postflight-hook')
      expect(project.read(SETTINGS)).not.toContain('guard.sh')
    })
  })

  it('ends with what follows from the answers', async () => {
    const lastOf = async (...answers: string[]): Promise<string[]> =>
      (await withPackage().cli('init', { answers })).stdout.trimEnd().split('\n').slice(-3)
    const end = /^Restart running sessions to use it\nTo undo .*\nTry it now: .* Afterwards: `rmdir specs\/001_try`$/
    expect((await lastOf('y', 'n', 'n', 'n')).join('\n')).toMatch(end)
    const declined = await lastOf('n', 'y', 'n', 'n')
    expect(declined.at(-1)).toBe('Without the hook, no stop is blocked. To add it: postflight install --scope project')
    expect(declined.join('\n')).not.toMatch(/Restart|Try it/)
  })

  it.each([
    ['init --yes', '_npx/1'],
    ['install --host codex', '.bunx-0/@'],
  ])('warns if it runs from the cache of npx or bunx: %s', async (words, cache) => {
    const project = createSourceProject()
    const packageFolder = copyPackage(join(project.base, cache, 'node_modules/postflight-guard'))
    const { stdout } = await project.cli(words.split(' '), { packageFolder })
    expect(stdout).toMatch(/^Warning: .*(?:_np|\.bun)x.*npm install --save-dev postflight-guard/m)
  })

  it('says that specs/ is a link, which nothing reads, and suggests nothing that would be refused', async () => {
    const project = createSourceProject({ files: { 'package.json': '{"scripts":{"test":"t"}}', 'real/a': '' } })
    rmSync(project.at('specs'), { recursive: true, force: true })
    symlinkSync('real', project.at('specs'))
    const { stdout } = await project.cli(['init', '--yes'])
    expect(stdout).toMatch(/^Warning: .*specs is a link, but must be a real folder: remove or rename it/m)
    expect(stdout).not.toMatch(/Try it|done/)
    expect(project.has('real/done.yaml')).toBe(false)
    const stderr = expect.stringContaining('specs is a link, but must be a real folder: remove or rename it.')
    for (const command of ['trust', 'done', 'report', 'workflow status'])
      expect(await project.cli(command.split(' '))).toMatchObject({ status: 1, stderr })
  })

  it('the try leaves a folder that the named command removes', async () => {
    const project = createSourceProject({ files: { 'specs/001-photo-albums/spec.md': '' } })
    const { stdout } = await project.cli(['init', '--yes'])
    const [, create = '', remove = ''] = /"postflight (create .*)", and stop.*`(rmdir .*)`/.exec(stdout) ?? []
    await project.cli(create.split(' '))
    await project.cli(['clear', '2'])
    expect((await project.shell(remove)).stderr).toBe('')
    expect(project.has('specs/002_try')).toBe(false)
  })

  describe('the definition of done', () => {
    const DONE = 'specs/done.yaml'

    it.each<[string, Record<string, string>, string[]]>([
      ['npm', { 'package.json': '{"scripts":{"test":"vitest","lint":"biome"}}' }, ['npm run lint', 'npm test']],
      ['react-scripts', { 'package.json': '{"scripts":{"test":"react-scripts test"}}' }, ['CI=true npm test']],
      ['pnpm', { 'package.json': '\ufeff{"scripts":{"test":"mocha; t -w"}}', 'pnpm-lock.yaml': '' }, ['pnpm run test']],
      ['pytest', { 'pyproject.toml': '[tool.pytest.ini_options]\n', 'uv.lock': '' }, ['uv run pytest']],
      ['two languages', { 'Cargo.toml': '', 'go.mod': '', Makefile: 'test:\n' }, ['cargo test', 'go test ./...']],
      ['a Makefile', { Makefile: 'all: test\ntest: all\n\ttrue\n' }, ['make test']],
    ])('is proposed from what the project shows, and can be trusted: %s', async (_what, files, checks) => {
      const { cli } = withPackage(files)
      const run = await cli('init --yes')
      const trusted = (await cli('trust --yes --json')).json()
      expect(run.stdout).toContain('Read specs/done.yaml, then let it take effect: npx postflight trust\n')
      const byYarn = await withPackage(files).cli('init --yes', { env: { BERRY_BIN_FOLDER: '/tmp/xfs-1' } })
      expect(byYarn.stdout).toMatch(/^To undo all of it: yarn postflight uninstall.*\n.*: yarn postflight trust$/m)
      expect(trusted.rules.flatMap((rule: { checks: string[] }) => rule.checks)).toEqual(checks)
    })

    it.each<[string, Record<string, string>]>([
      ['no test', { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' }],
      ['a package.json that cannot be parsed', { 'package.json': '{' }],
      ['a variable of that name', { Makefile: 'test := 1\n' }],
      ['scripts that watch', { 'package.json': '{"scripts":{"lint":"ng test","test":"jest --watch"}}' }],
      ['others that do', { 'package.json': '{"scripts":{"lint":"mocha t -w","test":"vitest watch"}}' }],
    ])('is no question without such a sign: %s', async (_what, files) => {
      const { project, cli } = withPackage({ ...files, 'app/main.c': '' }, false)
      const below = { cwd: project.at('app') }
      const { stdout } = await project.cli(['init', '--yes'], below)
      expect(stdout).toContain('shows no test command')
      expect(stdout).toContain(`make test }]\` to ${project.at(DONE)}`)
      expect((await project.cli(['trust'], below)).stderr).toContain(`${project.at(DONE)} does not exist`)
      expect((await cli('trust')).stderr).toContain(`${DONE} does not exist`)
    })

    it('is shown before it is asked for, and not written if the answer is no', async () => {
      const { project, cli } = withPackage({ 'go.mod': '' })
      const run = await cli('init', { answers: ['n', 'n', 'n', 'n', 'n'] })
      expect(run.stdout).toContain('check: ["go test ./..."]')
      expect(run.stdout).toContain(`· a definition of done: ${DONE} (not written)`)
      expect(project.has(DONE)).toBe(false)
    })

    it('is left out with --skip done; a file that is there stays, also an empty one', async () => {
      const { project, cli } = withPackage({ 'go.mod': '' })
      await cli('init --yes --skip done')
      expect(project.has(DONE)).toBe(false)
      for (const text of ['', 'done: [broken']) {
        project.write(DONE, text)
        const run = await cli('init --yes')
        expect(run.stdout).toContain(`· a definition of done: ${DONE} (kept`)
        expect(run.stdout).not.toContain('postflight trust')
        expect(project.read(DONE)).toBe(text)
      }
    })
  })

  it('refuses to continue without a terminal and without --yes, and with an unknown part', async () => {
    const { project, cli } = withPackage()
    const before = filesOf(project)
    expect(await cli('init')).toMatchObject({ status: 64, stderr: expect.stringContaining('--yes') })
    expect(await cli('init --json', { answers: ['y', 'y', 'y', 'y'] })).toMatchObject({ status: 64 })
    const parts = 'one of hook, shell-hook, permissions, gitignore, skill, done, not "hooks"'
    expect(await cli('init --yes --skip hooks')).toMatchObject({ status: 64, stderr: expect.stringContaining(parts) })
    expect(filesOf(project)).toEqual(before)
  })

  it('writes a path of this machine, and rules without npx, only into settings that are not shared; uninstall finds them, and a record alone', async () => {
    const project = createSourceProject()
    const before = project.snapshot()
    const run = await project.cli(['init', '--yes', '--root', '.'])
    expect([SETTINGS, LOCAL].filter((name) => project.has(name))).toEqual([LOCAL])
    expect(project.read(LOCAL)).not.toContain('npx')
    await project.cli(['uninstall'])
    project.write(`${LOCAL}.postflight-rules`, '{}\n')
    await project.cli(['uninstall'])
    expect(run.stdout).toContain('postflight uninstall --root . --scope local')
    expect(project.snapshot()).toEqual(before)
  })

  it('is undone but for the rules if their record cannot be read, and then by another uninstall', async () => {
    const { project, cli } = await initialized()
    const record = `${SETTINGS}.postflight-rules`
    const text = project.read(record)
    project.write(record, `<<<<<<< HEAD\n${text}`)
    const { status, stdout, stderr } = await cli('uninstall')
    expect({ status, stderr }).toEqual({ status: 65, stderr: expect.stringMatching(/-rules cannot be read \(.*JSON/) })
    expect(stdout).toMatch(/^Removed the hook from/)
    project.write(record, text)
    expect((await cli('uninstall')).status).toBe(0)
    expect(filesOf(project)).toEqual(filesOf(withPackage().project))
  })

  it('says which settings Claude Code ignores, also in a file that it does not write to', async () => {
    const { project, cli } = withPackage({ [LOCAL]: '{\n  // mine\n  "model": "opus"\n}\n' })
    const warning = expect.stringMatching(/Warning: Claude Code ignores all settings .*local\.json:2:3: invalid JSON/)
    expect((await cli('init --yes')).stdout).toEqual(warning)
    expect((await cli('init --yes --json')).json().warnings).toEqual([warning])
    expect(project.read(LOCAL)).toContain('// mine')
  })

  it('says how to undo all of it with --scope user, if lines for git are in the project', async () => {
    const project = createSourceProject()
    const { stdout } = await project.cli(['init', '--yes', '--scope', 'user'])
    const commands = /^To undo all of it: (.*)$/m.exec(stdout)?.[1]?.split(' && ') ?? []
    for (const command of commands) await project.cli(command.split(' ').slice(1))
    expect({ ...project.snapshot(), ...project.snapshot('../home/.claude') }).toEqual({ specs: 'folder' })
  })

  it('puts the skill beside the settings of the user with --scope user', async () => {
    const project = createSourceProject()
    await project.cli(['init', '--yes', '--scope', 'user', '--skip', 'gitignore'])
    expect(Object.keys(project.snapshot())).toEqual(['specs'])
    expect(project.has(`../home/${SKILL}`)).toBe(true)
    await project.cli(['install', '--force'])
    await project.cli(['uninstall', '--scope', 'user'])
    expect(Object.keys(project.snapshot('../home/.claude'))).toEqual([])
  })

  it('keeps a skill that people wrote or changed, and says so', async () => {
    const { project, cli } = await initialized()
    const changed = project.read(SKILL).replace('# Postflight', '# Our postflight')
    project.write(SKILL, changed)
    expect((await cli('init --yes --json')).json().parts[3]).toMatchObject({ name: 'skill', state: 'kept' })
    expect((await cli('uninstall')).stdout).toContain(`Kept ${SKILL}`)
    expect(project.read(SKILL)).toBe(changed)
    project.write(SKILL, 'their own')
    await cli('init --yes')
    await cli('uninstall')
    expect(project.read(SKILL)).toBe('their own')
  })

  it('replaces the skill of an older version, also with CRLF', async () => {
    const { project, cli } = withPackage()
    const source = 'node_modules/postflight-guard/plugin/skills/postflight/SKILL.md'
    const now = project.read(source)
    project.write(source, `${now}\nOld words.\n`)
    await cli('init --yes')
    project.write(source, now)
    project.write(SKILL, project.read(SKILL).replaceAll('\n', '\r\n'))
    await cli('init --yes')
    expect(project.read(SKILL)).not.toContain('Old words.')
  })

  it('leaves .gitignore alone outside a repository, and if git ignores these files already', async () => {
    const outside = createSourceProject({ git: false })
    const run = await outside.cli(['init', '--yes', '--json'])
    const project = createSourceProject()
    rmSync(project.at('.git'), { recursive: true })
    execFileSync('git', ['init', '--quiet'], { cwd: project.dir, env: project.env })
    const own = '.postflight*\n*.postflight-backup\nsettings.local.json*\n'
    project.write('.gitignore', own.replace('json*', 'json'))
    const half = await project.cli(['init', '--dry-run', '--json'])
    project.write('.gitignore', own)
    await project.cli(['init', '--yes'])
    expect(half.json().parts[2]).toMatchObject({ name: 'gitignore', state: 'planned' })
    expect(run.json().parts[2]).toMatchObject({ name: 'gitignore', state: 'needless' })
    expect(outside.has('.gitignore')).toBe(false)
    expect(project.read('.gitignore')).toBe(own)
  })

  it.each([
    ['gitignore', '.gitignore', 'file'],
    ['skill', SKILL, 'file'],
    ['skill', '.claude/skills', 'folder'],
    ['permissions', `${SETTINGS}.postflight-rules`, 'file'],
    ['skill', '.claude/skills', 'nothing'],
    ['gitignore', '.gitignore', 'nothing'],
  ] as const)(
    'leaves out %s where a link leads %s out of the project, says so, and writes the rest',
    async (part, name, kind) => {
      const { project, cli } = withPackage()
      const outside = join(project.base, 'outside')
      if (kind === 'folder') mkdirSync(outside)
      if (kind === 'file') writeFileSync(outside, 'theirs')
      const outsideNow = () => Object.entries(project.snapshot('..')).filter(([file]) => file.startsWith('outside'))
      const before = outsideNow()
      mkdirSync(join(project.at(name), '..'), { recursive: true })
      symlinkSync(outside, project.at(name))
      const stdout = expect.stringContaining('not written: a link leads this file out')
      expect(await cli('init --dry-run')).toMatchObject({ status: 0, stdout })
      expect(project.has(SETTINGS)).toBe(false)
      const run = await cli('init --yes --json')
      const again = await cli(`init --yes --json --skip ${part}`)
      expect(run.status, run.stderr).toBe(0)
      const states = run.json().parts.map((one: { name: string; state: string }) => [one.name, one.state])
      expect(Object.fromEntries(states)).toEqual({
        ...{ hook: 'written', permissions: 'written', gitignore: 'written', skill: 'written' },
        [part]: 'outside',
      })
      expect(again.json()).toMatchObject({ changed: false, parts: Array(3).fill({ state: 'done' }) })
      expect(outsideNow()).toEqual(before)
      expect(JSON.parse(project.read(SETTINGS)).permissions === undefined).toBe(part === 'permissions')
    },
  )

  it('names what it has written if a later file cannot be written', async () => {
    const { project, cli } = withPackage({ '.claude/skills': 'a file' })
    const said = /\.claude\/skills.* Already written: \.claude\/settings\.json, \.gitignore\. /
    expect(await cli('init --yes')).toMatchObject({ status: 73, stderr: expect.stringMatching(said) })
    rmSync(project.at('.claude/skills'))
    expect((await cli('init --yes')).status).toBe(0)
    expect(project.has(SKILL)).toBe(true)
  })

  it('reads no file of a part that is skipped', async () => {
    const { project, cli } = withPackage()
    mkdirSync(project.at('.gitignore'))
    expect(await cli('init --yes')).toMatchObject({ status: 65 })
    expect(await cli('init --yes --skip gitignore')).toMatchObject({ status: 0 })
    expect(project.has(SKILL)).toBe(true)
  })

  it('uninstall undoes the rest if .gitignore cannot be read, and says so', async () => {
    const { project, cli } = await initialized()
    project.write('.gitignore', Buffer.from('# Gr\u00f6\u00dfe\n', 'latin1'))
    const run = await cli('uninstall')
    expect(run).toMatchObject({ status: 65, stderr: expect.stringContaining('.gitignore cannot be read (not UTF-8)') })
    expect(project.has('.claude')).toBe(false)
  })

  it('uninstall removes nothing through a link out of the project', async () => {
    const { project, cli } = await initialized()
    renameSync(project.at('.claude/skills'), join(project.base, 'skills'))
    symlinkSync(join(project.base, 'skills'), project.at('.claude/skills'))
    renameSync(project.at('.gitignore'), join(project.base, 'ignore'))
    symlinkSync(join(project.base, 'ignore'), project.at('.gitignore'))
    const before = [project.snapshot('../skills'), readFileSync(join(project.base, 'ignore'), 'utf8')]
    expect((await cli('uninstall')).status).toBe(0)
    expect([project.snapshot('../skills'), readFileSync(join(project.base, 'ignore'), 'utf8')]).toEqual(before)
  })
})

describe.skipIf(!HAS_TERMINAL).concurrent('init on a terminal that stays open', () => {
  it('ends after the last answer, typed one by one', async ({ expect, onTestFinished }) => {
    const project = createProject()
    const run = startInTerminal(project, 'init', WIDE, onTestFinished)
    for (const [index, answer] of ['n', 'N', 'yes', ''].entries()) {
      await expect.poll(() => run.output().split('Write this? [Y/n]'), patient).toHaveLength(index + 2)
      run.type(`${answer}\r`)
    }
    expect(await run.ended).toBe(0)
    expect([LOCAL, '.gitignore', SKILL].filter((name) => project.has(name))).toEqual(['.gitignore', SKILL])
  })

  it.for([
    [80, 'init --dry-run'],
    [60, 'status'],
    [60, 'inspect 404'],
  ] as const)('wraps at words to %i columns what %s prints', async ([columns, words], { expect, onTestFinished }) => {
    const project = createSourceProject()
    const reason = 'Postflight pending: status update, artifact linking, git commit, and all that belongs to it'
    await project.cli(['create', '259', 'prove_completeness', '--reason', reason])
    const piped = await project.cli(words.split(' '))
    const run = startInTerminal(project, words, { columns, rows: 60 }, onTestFinished, { NO_COLOR: '1' })
    await run.ended
    const printed = run.output().replaceAll('\r', '').split('\n').slice(1, -2)
    const wordsIn = (text: string) => text.replaceAll(/\d+ (?:s|min)/g, 'T').match(/\S+/g)
    expect(wordsIn(printed.join('\n'))).toEqual(wordsIn(piped.stdout + piped.stderr))
    expect(printed.length).toBeGreaterThan((piped.stdout + piped.stderr).trimEnd().split('\n').length)
    for (const row of printed) {
      // Only a single word or command may be wider than the terminal.
      if (row.length > columns) expect(row.trim().replace(/`[^`]*`/g, '')).not.toContain(' ')
    }
  })

  it('can be interrupted at a question, and has written nothing then', async ({ expect, onTestFinished }) => {
    const project = createProject()
    const run = startInTerminal(project, 'init', WIDE, onTestFinished)
    await expect.poll(run.output, patient).toContain('Write this? [Y/n]')
    run.type('y\r\u0003')
    expect(await run.ended).not.toBe(0)
    expect(Object.keys(project.snapshot())).toEqual(['specs'])
  })

  it('takes answers typed ahead, and writes nothing at an early end', async ({ expect, onTestFinished }) => {
    const [ahead, ended] = [createProject(), createProject()]
    const first = startInTerminal(ahead, 'init', WIDE, onTestFinished)
    first.type('n\rn\ry\rn\r')
    const second = startInTerminal(ended, 'init', WIDE, onTestFinished)
    await expect.poll(second.output, patient).toContain('Write this? [Y/n]')
    second.type('y\r')
    second.type('\u0004')
    expect([await first.ended, await second.ended]).toEqual([0, 0])
    expect(Object.keys(ahead.snapshot()).sort()).toEqual(['.gitignore', 'specs'])
    expect(Object.keys(ended.snapshot())).toEqual(['specs'])
  })
})

describe.concurrent('a second place for the hook', () => {
  it.each(['install', 'init --yes'])('is refused by %s, which names the first one', async (command) => {
    const project = createSourceProject()
    symlinkSync(CLI, join(project.base, 'bin', 'postflight'))
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'postflight hook' }] }] }
    project.write(SETTINGS, JSON.stringify({ hooks }))
    const before = project.snapshot()
    const words = `${command} --scope local --root .`.split(' ')
    const run = await project.cli(words)
    expect(run.status).toBe(1)
    expect(run.stderr).toContain(`the hook is already in ${SETTINGS}, with another command`)
    expect(run.stderr).toContain('`postflight uninstall --root . --scope project`')
    expect(project.snapshot()).toEqual(before)
    expect((await project.cli([...words, '--force'])).status).toBe(0)
  })

  it('with the same command is refused too: doctor would report it', async () => {
    const { project, cli } = await initialized('install')
    const second = await cli('install --scope local')
    expect(second.status).toBe(1)
    expect(second.stderr).toContain(`the hook is already in ${SETTINGS}, and some hosts would run it twice: `)
    expect(second.stderr).toContain('postflight uninstall --scope project')
    expect(project.has(LOCAL)).toBe(false)
    await cli('uninstall --scope project')
    expect((await cli('install --scope local')).status).toBe(0)
  })

  it('is not one that is there already: if both have the same command, either is brought up to date', async () => {
    const { project, cli } = await initialized('install')
    await cli('install --scope local --force')
    const settings = JSON.parse(project.read(LOCAL))
    delete settings.hooks.Stop
    project.write(LOCAL, JSON.stringify(settings))
    expect((await cli('install --scope local')).status).toBe(0)
    expect(Object.keys(JSON.parse(project.read(LOCAL)).hooks)).toContain('Stop')
  })

  it('is not a file that two scopes share through a link', async () => {
    const { project, cli } = await initialized('install')
    symlinkSync('settings.json', project.at(LOCAL))
    expect(await cli('install --scope local')).toMatchObject({ status: 0, stdout: expect.stringContaining('already') })
  })

  it.each([
    ['the settings of the user', '../home/.claude/settings.json', { 'postflight-guard@somewhere': true }, 1],
    ['the project', SETTINGS, { 'postflight-guard@postflight-guard': true }, 1],
    ['no settings: it is switched off', SETTINGS, { 'postflight-guard@postflight-guard': false }, 0],
    ['another plugin', SETTINGS, { 'postflight-guards@postflight-guard': true }, 0],
  ])('is refused if %s has the plugin', async (_what, file, enabledPlugins, status) => {
    const project = createSourceProject({ files: { [file]: JSON.stringify({ enabledPlugins }) } })
    const run = await project.cli(['install', '--scope', 'local'])
    expect(run.status).toBe(status)
    if (status === 1) expect(run.stderr).toContain(`claude plugin uninstall ${Object.keys(enabledPlugins)[0]}`)
  })

  it('is refused by the CLI of the plugin itself', async () => {
    const project = createSourceProject()
    const packageFolder = copyPackage(join(project.base, 'plugin'))
    project.write('../plugin/.claude-plugin/plugin.json', '{"name":"postflight-guard"}')
    const run = await project.cli(['init', '--yes'], { packageFolder })
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('the plugin postflight-guard') })
  })
})

import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { PACKAGE, type ProcessResult, runProcess } from '../../support/process.ts'
import {
  type CliRun,
  copyPackage,
  createSourceProject,
  type JsonDocument,
  type Project,
} from '../../support/project.ts'

const CONFIG = 'opencode.json'
const PLUGIN = pathToFileURL(join(PACKAGE, 'dist', 'opencode', 'postflight-guard.mjs')).href

/** A configuration with comments. */
const COMMENTED = `{
  // what I pay for
  "model": "anthropic/claude", /* not the large one */
  "plugin": [
    "./mine.js", // mine
  ],
  "mcp": {}, // none yet
}
`

function install(project: Project, ...words: string[]): Promise<CliRun> {
  return project.cli(['install', '--host', 'opencode', ...words])
}

function uninstall(project: Project, ...words: string[]): Promise<CliRun> {
  return project.cli(['uninstall', '--host', 'opencode', ...words])
}

/** Runs the CLI of the copy in the project's node_modules. */
function cliIn(project: Project): (...words: string[]) => Promise<ProcessResult> {
  const script = join(copyPackage(project.at('node_modules/postflight-guard')), 'bin', 'postflight.js')
  return (...words) => runProcess(process.execPath, [script, ...words], { cwd: project.dir, env: project.env })
}

describe.concurrent('install --host opencode', () => {
  it('lists the plugin in a new opencode.json, which uninstall removes', async () => {
    const project = createSourceProject()

    const run = await install(project)
    const again = await install(project)

    expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining('Installed the plugin in opencode.json') })
    expect(JSON.parse(project.read(CONFIG))).toEqual({ plugin: [PLUGIN] })
    expect(again.stdout).toBe('The plugin is already in opencode.json\n')
    expect((await uninstall(project)).status).toBe(0)
    expect(project.has(CONFIG)).toBe(false)
    expect((await uninstall(project)).stdout).toBe('The plugin is not in opencode.json\n')
  })

  it('keeps comments and layout to the byte, and a backup, also after uninstall if that is not the same text', async () => {
    const project = createSourceProject()
    project.write(CONFIG, COMMENTED)

    const run = await install(project, '--json')

    const after = project.read(CONFIG)
    expect(after).toBe(COMMENTED.replace('"./mine.js", // mine', `"./mine.js", // mine\n    "${PLUGIN}"`))
    expect(run.json()).toMatchObject({ changed: true, plugin: PLUGIN })
    expect(project.read(`${CONFIG}.postflight-backup`)).toBe(COMMENTED)
    await install(project)
    expect(project.read(CONFIG)).toBe(after)
    await uninstall(project)
    // Removing the entry leaves no comma behind the last one.
    expect(project.read(CONFIG)).toBe(COMMENTED.replace('"./mine.js",', '"./mine.js"'))
    expect(project.read(`${CONFIG}.postflight-backup`)).toBe(COMMENTED)
  })

  it('uninstall removes only our entry from a file that has changed since', async () => {
    const project = createSourceProject()
    project.write(CONFIG, COMMENTED)
    await install(project)
    project.write(CONFIG, project.read(CONFIG).replace('"mcp": {}', '"mcp": { "x": {} }'))

    await uninstall(project)

    expect(project.read(CONFIG)).toBe(
      COMMENTED.replace('"mcp": {}', '"mcp": { "x": {} }').replace('"./mine.js",', '"./mine.js"'),
    )
  })

  it('uninstall without --host leaves it, and names the command that removes it', async () => {
    const project = createSourceProject()
    await install(project)
    const hint = 'The plugin is still in opencode.json: `postflight uninstall --host opencode` removes it\n'

    expect((await project.cli(['uninstall'])).stdout).toContain(hint)
    expect(project.has(CONFIG)).toBe(true)
    expect((await project.cli(['uninstall', '--scope', 'user'])).stdout).not.toContain('opencode.json')
    project.write(CONFIG, '{')
    expect(await project.cli(['uninstall'])).toMatchObject({
      status: 0,
      stdout: 'The hook is not in .claude/settings.json\n',
    })
  })

  it('names a package in node_modules by a relative path', async () => {
    const project = createSourceProject()
    const cli = cliIn(project)

    const run = await cli('install', '--host', 'opencode')

    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(project.read(CONFIG)).plugin).toEqual([
      './node_modules/postflight-guard/dist/opencode/postflight-guard.mjs',
    ])
    expect((await cli('doctor')).stdout).toContain('✓ the plugin loads')
  })

  it('writes to opencode.jsonc where it exists, and to the user’s folder', async () => {
    const project = createSourceProject()
    project.write('opencode.jsonc', '{}\n')

    await install(project)
    await install(project, '--scope', 'user')
    await project.cli(['install', '--host', 'opencode', '--scope', 'user'], {
      env: { XDG_CONFIG_HOME: join(project.base, 'xdg') },
    })

    expect(project.read('opencode.jsonc')).toContain(PLUGIN)
    expect(project.has(CONFIG)).toBe(false)
    for (const folder of [join(project.home, '.config'), join(project.base, 'xdg')]) {
      expect(JSON.parse(readFileSync(join(folder, 'opencode', CONFIG), 'utf8'))).toEqual({ plugin: [PLUGIN] })
    }
  })

  it('writes nothing with --dry-run', async () => {
    const project = createSourceProject()
    project.write(CONFIG, COMMENTED)
    const before = project.snapshot()

    const run = await install(project, '--dry-run')

    expect(run.stdout).toContain(PLUGIN)
    expect(project.snapshot()).toEqual(before)
  })

  it.each([
    ['a file that is not JSON', '{ "plugin": [', 65],
    ['plugins that are not a list', '{ "plugin": "mine" }', 65],
  ])('refuses %s, and leaves the file as it is', async (_name, text, status) => {
    const project = createSourceProject()
    project.write(CONFIG, text)
    const before = project.snapshot()

    const run = await install(project)

    expect(run.status).toBe(status)
    expect(run.stderr).toContain('Nothing was written')
    expect(project.snapshot()).toEqual(before)
  })

  it('warns of a path on this machine, and suggests the scope user, because OpenCode has no local scope', async () => {
    const project = createSourceProject()

    expect((await install(project, '--dry-run')).stdout).toMatch(/a path on this machine.*--scope user\n$/)
    expect(await install(project, '--quiet')).toMatchObject({ stdout: '', stderr: '' })
    expect((await install(project, '--json')).json()).toMatchObject({ changed: false, portable: false })
  })

  it('refuses the scope local', async () => {
    const project = createSourceProject()

    expect(await install(project, '--scope', 'local')).toMatchObject({
      status: 64,
      stderr: 'postflight: OpenCode has no settings for the scope "local": use user or project.\n',
    })
  })
})

/** The opencode.json of `install`, beside which the user later wrote an opencode.jsonc. */
const ONE = `{\n  "plugin": [\n    "${PLUGIN}"\n  ]\n}\n`
const OTHER_COPY = 'file:///old/postflight-guard/dist/opencode/postflight-guard.mjs'

describe.concurrent.each([
  { scope: 'project', folder: '.' },
  { scope: 'user', folder: '../home/.config/opencode' },
])('both configuration files of the scope $scope', ({ scope, folder }) => {
  const json = join(folder, CONFIG)
  const commented = join(folder, 'opencode.jsonc')
  const words = ['--scope', scope]

  it('install adds nothing where one of them has it already, and names that file', async () => {
    const project = createSourceProject()
    await install(project, ...words)
    project.write(commented, COMMENTED)
    const before = project.snapshot('..')

    const run = await install(project, ...words)

    expect(run.stdout).toMatch(/^The plugin is already in \S*opencode\.json\n$/)
    expect(project.snapshot('..')).toEqual(before)
  })

  it('install writes to the file that lists another copy', async () => {
    const project = createSourceProject()
    project.write(json, JSON.stringify({ plugin: [OTHER_COPY], a: 1 }))
    project.write(commented, COMMENTED)

    await install(project, ...words)

    expect(JSON.parse(project.read(json))).toEqual({ a: 1, plugin: [PLUGIN] })
    expect(project.read(commented)).toBe(COMMENTED)
  })

  it('install leaves it in one of them where both have it', async () => {
    const project = createSourceProject()
    project.write(json, ONE)
    project.write(commented, ONE.replace('{', '{ // mine'))
    const before = project.snapshot('..')

    const planned = await install(project, ...words, '--dry-run')
    expect(project.snapshot('..')).toEqual(before)
    const run = await install(project, ...words)

    expect(planned.stdout).toMatch(
      /already in \S*opencode\.jsonc\nWould remove \S*opencode\.json: it held nothing else\n/,
    )
    expect(run.stdout).toMatch(/already in \S*opencode\.jsonc\nRemoved \S*opencode\.json: it held nothing else\n/)
    expect(project.has(json)).toBe(false)
    expect(project.read(commented)).toBe(ONE.replace('{', '{ // mine'))
  })

  it('uninstall removes it from the file that has it, whatever is in the other', async () => {
    const project = createSourceProject()
    await install(project, ...words)
    project.write(commented, COMMENTED)

    const run = await uninstall(project, ...words)

    expect(run.stdout).toMatch(/Removed \S*opencode\.json: it held nothing else\n$/)
    expect(project.has(json)).toBe(false)
    expect(project.read(commented)).toBe(COMMENTED)
    expect((await uninstall(project, ...words)).stdout).toMatch(/^The plugin is not in \S*opencode\.jsonc\n$/)
  })

  it('uninstall removes it from both', async () => {
    const project = createSourceProject()
    project.write(json, JSON.stringify({ a: 1, plugin: ['./mine.js', PLUGIN] }))
    project.write(commented, COMMENTED.replace('"./mine.js", // mine', `"./mine.js", // mine\n    "${OTHER_COPY}"`))

    const run = await uninstall(project, ...words, '--json')

    expect(run.json()).toMatchObject({
      changed: true,
      removed_file: false,
      taken_out_of: [project.at(json), project.at(commented)],
    })
    expect(JSON.parse(project.read(json))).toEqual({ a: 1, plugin: ['./mine.js'] })
    expect(project.read(commented)).toBe(COMMENTED.replace('"./mine.js",', '"./mine.js"'))
    expect((await uninstall(project, ...words)).stdout).toMatch(
      /^The plugin is not in \S*opencode\.json or \S*\.jsonc\n$/,
    )
  })

  it('neither is written where one of them cannot be read', async () => {
    const project = createSourceProject()
    await install(project, ...words)
    project.write(commented, '{')
    const before = project.snapshot('..')

    const runs = [await install(project, ...words), await uninstall(project, ...words)]

    expect(runs.map((run) => run.status)).toEqual([65, 65])
    expect(project.snapshot('..')).toEqual(before)
  })

  it('are the same file if one is a link to the other', async () => {
    const project = createSourceProject()
    project.write(json, '{}\n')
    symlinkSync(CONFIG, project.at(commented))

    await install(project, ...words)
    const found = await project.cli(['doctor', '--json'])

    expect(JSON.parse(project.read(commented))).toEqual({ plugin: [PLUGIN] })
    expect(found.json().findings).toContainEqual(
      expect.objectContaining({ ok: true, what: `the plugin is listed in ${project.at(json)}` }),
    )
    await uninstall(project, ...words)
    expect(project.read(json)).toBe('{}\n')
  })

  it('doctor names the file that lists it, and reports that both list it', async () => {
    const project = createSourceProject()
    await install(project, ...words)
    project.write(commented, COMMENTED)
    const plugins = async (): Promise<JsonDocument[]> =>
      (await project.cli(['doctor', '--json'])).json().findings.filter(({ check }: JsonDocument) => check === 'plugin')

    expect(await plugins()).toContainEqual(
      expect.objectContaining({ ok: true, what: `the plugin is listed in ${project.at(json)}` }),
    )
    project.write(commented, ONE)
    expect(await plugins()).toEqual([
      {
        check: 'plugin',
        ok: false,
        what: `the plugin is listed more than once, in ${project.at(json)} and ${project.at(commented)}`,
        fix: `postflight install --host opencode --scope ${scope}`,
      },
    ])
    await install(project, ...words)
    expect((await plugins()).map(({ ok }) => ok)).toEqual([true, true])
  })
})

describe.concurrent('doctor with the plugin', () => {
  async function rows(project: Project): Promise<JsonDocument[]> {
    return (await project.cli(['doctor', '--json'])).json().findings
  }

  it('finds it listed and loadable, and does not ask for Claude Code’s settings then', async () => {
    const project = createSourceProject()
    await install(project)

    const found = await rows(project)

    expect(found.filter(({ check }) => check === 'settings')).toEqual([])
    expect(found.filter(({ check }) => check === 'plugin')).toEqual([
      { check: 'plugin', ok: true, what: `the plugin is listed in ${project.at(CONFIG)}`, fix: null },
      { check: 'plugin', ok: true, what: 'the plugin loads', fix: null },
    ])
  })

  it.each([
    [
      'another copy',
      '{"plugin": ["file:///old/postflight-guard/dist/opencode/postflight-guard.mjs"]}',
      /lists another copy: file/,
    ],
    ['a list that holds it twice', `{"plugin": ["${PLUGIN}", "${PLUGIN}"]}`, /lists the plugin more than once/],
  ])('finds %s, with a fix', async (_name, text, what) => {
    const project = createSourceProject()
    project.write(CONFIG, text)

    const found = (await rows(project)).filter(({ check }) => check === 'plugin')

    expect(found).toEqual([
      {
        check: 'plugin',
        ok: false,
        what: expect.stringMatching(what),
        fix: 'postflight install --host opencode --scope project',
      },
    ])
    await install(project)
    expect((await rows(project)).every(({ check, ok }) => check !== 'plugin' || ok)).toBe(true)
  })

  it('finds another copy beside the right one', async () => {
    const project = createSourceProject()
    project.write(CONFIG, ONE)
    project.write('opencode.jsonc', JSON.stringify({ plugin: [OTHER_COPY] }))

    expect((await rows(project)).filter(({ check }) => check === 'plugin').map(({ what }) => what)).toEqual([
      `${project.at('opencode.jsonc')} lists another copy: ${OTHER_COPY}`,
      `the plugin is listed more than once, in ${project.at(CONFIG)} and ${project.at('opencode.jsonc')}`,
    ])
    await install(project)
    expect((await rows(project)).every(({ check, ok }) => check !== 'plugin' || ok)).toBe(true)
  })

  it('finds a configuration that OpenCode cannot read', async () => {
    const project = createSourceProject()
    project.write(CONFIG, '{')

    expect((await rows(project)).filter(({ check }) => check === 'plugin')).toEqual([
      expect.objectContaining({
        ok: false,
        what: `${project.at(CONFIG)}:1:2: invalid JSON (close brace expected).`,
        fix: expect.stringContaining('repair the file by hand'),
      }),
    ])
  })

  it('finds a plugin whose file is missing', async () => {
    const project = createSourceProject()
    const cli = cliIn(project)
    await cli('install', '--host', 'opencode')
    rmSync(project.at('node_modules/postflight-guard/dist/opencode/postflight-guard.mjs'))

    const run = await cli('doctor')

    expect(run.status).toBe(1)
    expect(run.stdout).toMatch(/✗ the plugin does not load \(.*ERR_MODULE_NOT_FOUND/)
  })

  it('does not mention OpenCode where no configuration lists the plugin', async () => {
    const project = createSourceProject()
    project.write(CONFIG, '{"model": "a/b"}')

    expect((await rows(project)).filter(({ check }) => check === 'plugin')).toEqual([])
  })
})

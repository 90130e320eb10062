import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { PACKAGE } from '../../support/process.ts'
import { createDependentProject, createSourceProject, findingsOf, type Project } from '../../support/project.ts'

const CONFIG = 'opencode.json'
const PLUGIN = pathToFileURL(join(PACKAGE, 'dist', 'opencode', 'postflight-guard.mjs')).href
/** A plugin of the user's own, whose file has the name of ours. */
const MINE = './dist/opencode/postflight-guard.mjs'
const COMMENTED = `{
  // what I pay for
  "model": "anthropic/claude", /* not the large one */
  "plugin": [
    "${MINE}", // mine
  ],
  "mcp": {}, // none yet
}
`
/** The opencode.json that `install` makes. */
const ONE = `{\n  "plugin": [\n    "${PLUGIN}"\n  ]\n}\n`
const OTHER_COPY = 'file:///old/postflight-guard/dist/opencode/postflight-guard.mjs'

const projectWith = (files: Readonly<Record<string, string>> = {}) => createSourceProject({ files })

const install = (project: Project, ...words: string[]) => project.cli(['install', '--host', 'opencode', ...words])

const uninstall = (project: Project, ...words: string[]) => project.cli(['uninstall', '--host', 'opencode', ...words])

const pluginFindings = async (project: Project) =>
  (await findingsOf(project.cli)).all.filter(({ check }) => check === 'plugin')

describe.concurrent('install --host opencode', () => {
  it('lists the plugin in a new opencode.json, which uninstall removes', async () => {
    const project = createSourceProject()
    const run = await install(project)
    expect((await install(project)).stdout).toBe('The plugin is already in opencode.json\n')
    expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining('Installed the plugin in opencode.json') })
    expect(JSON.parse(project.read(CONFIG))).toEqual({ plugin: [PLUGIN] })
    expect((await uninstall(project)).status).toBe(0)
    expect(project.has(CONFIG)).toBe(false)
    expect((await uninstall(project)).stdout).toBe('The plugin is not in opencode.json\n')
  })

  it('keeps comments and layout to the byte, and a backup until uninstall has made the same text', async () => {
    const project = projectWith({ [CONFIG]: COMMENTED, [MINE]: '', 'package.json': '{"name":"mine"}' })
    expect((await install(project, '--json')).json()).toMatchObject({ changed: true, plugin: PLUGIN })
    const after = project.read(CONFIG)
    expect(after).toBe(COMMENTED.replace('// mine', `// mine\n    "${PLUGIN}",`))
    expect(project.read(`${CONFIG}.postflight-backup`)).toBe(COMMENTED)
    await install(project)
    expect(project.read(CONFIG)).toBe(after)
    await uninstall(project)
    expect(project.read(CONFIG)).toBe(COMMENTED)
    expect(project.has(`${CONFIG}.postflight-backup`)).toBe(false)
  })

  it('uninstall without --host leaves it, and names the command that removes it', async () => {
    const project = createSourceProject()
    await install(project)
    const hint = 'The plugin is still in opencode.json: `postflight uninstall --host opencode` removes it\n'
    expect((await project.cli(['uninstall'])).stdout).toContain(hint)
    expect(project.has(CONFIG)).toBe(true)
    expect((await project.cli(['uninstall', '--scope', 'user'])).stdout).not.toContain('opencode.json')
    project.write(CONFIG, '{')
    const none = 'The hook is not in .claude/settings.json or .claude/settings.local.json\n'
    expect(await project.cli(['uninstall'])).toMatchObject({ status: 0, stdout: none })
  })

  it('writes to opencode.jsonc if it exists, and to the user’s folder', async () => {
    const project = projectWith({ 'opencode.jsonc': '{}\n' })
    const env = { XDG_CONFIG_HOME: join(project.base, 'xdg') }
    await install(project)
    await install(project, '--scope', 'user')
    await project.cli(['install', '--host', 'opencode', '--scope', 'user'], { env })
    expect(project.read('opencode.jsonc')).toContain(PLUGIN)
    expect(project.has(CONFIG)).toBe(false)
    for (const folder of ['../home/.config', '../xdg'])
      expect(JSON.parse(project.read(join(folder, 'opencode', CONFIG)))).toEqual({ plugin: [PLUGIN] })
  })

  it('warns of a path on this machine, and suggests the scope user, because OpenCode has no local scope', async () => {
    const project = createSourceProject()
    expect((await install(project, '--dry-run')).stdout).toMatch(/a path on this machine.*--scope user\n$/)
    expect(await install(project, '--quiet')).toMatchObject({ stdout: '', stderr: '' })
    expect((await install(project, '--json')).json()).toMatchObject({ changed: false, portable: false })
    const stderr = expect.stringContaining('OpenCode has no settings for the scope "local": use user or project')
    expect(await install(project, '--scope', 'local')).toMatchObject({ status: 64, stderr })
  })
})

describe.concurrent('both configuration files of the user', () => {
  const json = join('../home/.config/opencode', CONFIG)
  const commented = '../home/.config/opencode/opencode.jsonc'
  const words = ['--scope', 'user']

  it('install adds nothing if one of them has it already, and names that file', async () => {
    const project = projectWith({ [json]: ONE, [commented]: COMMENTED })
    const before = project.snapshot('..')
    expect((await install(project, ...words)).stdout).toMatch(/^The plugin is already in \S*opencode\.json\n$/)
    expect(project.snapshot('..')).toEqual(before)
  })

  it('install writes to the file that lists another copy', async () => {
    const project = projectWith({ [json]: JSON.stringify({ plugin: [OTHER_COPY], a: 1 }), [commented]: COMMENTED })
    await install(project, ...words)
    expect(JSON.parse(project.read(json))).toEqual({ a: 1, plugin: [PLUGIN] })
    expect(project.read(commented)).toBe(COMMENTED)
  })

  it('install leaves it in one of them if both have it', async () => {
    const project = projectWith({ [json]: ONE, [commented]: ONE.replace('{', '{ // mine') })
    const before = project.snapshot('..')
    const planned = await install(project, ...words, '--dry-run')
    expect(planned.stdout).toMatch(/already in \S*opencode\.jsonc\nWould remove \S*opencode\.json:/)
    expect(project.snapshot('..')).toEqual(before)
    expect((await install(project, ...words)).stdout).toMatch(
      /already in \S*opencode\.jsonc\nRemoved \S*opencode\.json:/,
    )
    expect(project.has(json)).toBe(false)
    expect(project.read(commented)).toBe(ONE.replace('{', '{ // mine'))
  })

  it('uninstall removes it from the file that has it, whatever is in the other', async () => {
    const project = projectWith({ [json]: ONE, [commented]: COMMENTED })
    expect((await uninstall(project, ...words)).stdout).toMatch(/Removed \S*opencode\.json: it held nothing else\n$/)
    expect(project.has(json)).toBe(false)
    expect(project.read(commented)).toBe(COMMENTED)
    expect((await uninstall(project, ...words)).stdout).toMatch(/^The plugin is not in \S*opencode\.jsonc\n$/)
  })

  it('uninstall removes it from both', async () => {
    const project = projectWith({
      [json]: JSON.stringify({ a: 1, plugin: [MINE, PLUGIN] }),
      [commented]: COMMENTED.replace('// mine', `// mine\n    "${OTHER_COPY}"`),
    })
    const run = await uninstall(project, ...words, '--json')
    const taken = [project.at(json), project.at(commented)]
    expect(run.json()).toMatchObject({ changed: true, removed_file: false, taken_out_of: taken })
    expect(JSON.parse(project.read(json))).toEqual({ a: 1, plugin: [MINE] })
    expect(project.read(commented)).toBe(COMMENTED.replace(`"${MINE}",`, `"${MINE}"`))
    expect((await uninstall(project, ...words)).stdout).toMatch(/^The plugin is not in \S*\.json or \S*\.jsonc\n$/)
  })

  it('neither is written if one of them cannot be read', async () => {
    const project = projectWith({ [json]: ONE, [commented]: '{' })
    const before = project.snapshot('..')
    const runs = [await install(project, ...words), await uninstall(project, ...words)]
    expect(runs.map((run) => run.status)).toEqual([65, 65])
    expect(project.snapshot('..')).toEqual(before)
  })

  it('are the same file if one is a link to the other', async () => {
    const project = projectWith({ [json]: '{}\n' })
    symlinkSync(CONFIG, project.at(commented))
    await install(project, ...words)
    const [found] = await pluginFindings(project)
    expect(JSON.parse(project.read(commented))).toEqual({ plugin: [PLUGIN] })
    expect(found).toMatchObject({ ok: true, what: `the plugin is listed in ${project.at(json)}` })
    await uninstall(project, ...words)
    expect(project.read(json)).toBe('{}\n')
  })

  it('doctor names the file that lists it, and reports that both list it', async () => {
    const project = projectWith({ [json]: ONE, [commented]: COMMENTED })
    expect((await pluginFindings(project))[0]?.what).toBe(`the plugin is listed in ${project.at(json)}`)
    project.write(commented, ONE)
    const what = `the plugin is listed more than once, in ${project.at(json)} and ${project.at(commented)}`
    const fix = 'postflight install --host opencode --scope user'
    expect(await pluginFindings(project)).toEqual([{ check: 'plugin', ok: false, what, fix }])
    await install(project, ...words)
    expect((await pluginFindings(project)).map(({ ok }) => ok)).toEqual([true, true])
  })
})

describe.concurrent('doctor with the plugin', () => {
  const inFolder = '.opencode/opencode.json'

  it.each([CONFIG, inFolder])('finds it listed and loadable, without Claude Code’s settings: %s', async (config) => {
    const project = projectWith({ [config]: ONE })
    const { all } = await findingsOf(project.cli)
    expect(all.filter(({ check }) => check === 'settings')).toEqual([])
    expect(all.filter(({ check }) => check === 'plugin')).toEqual([
      { check: 'plugin', ok: true, what: `the plugin is listed in ${project.at(config)}`, fix: null },
      { check: 'plugin', ok: true, what: 'the plugin loads', fix: null },
    ])
  })

  it.each([
    ['another copy', [OTHER_COPY], /lists another copy: file/],
    ['a copy that was moved', ['file:///my/tools/dist/opencode/postflight-guard.mjs'], /another copy: file/],
    ['a copy above', ['../node_modules/postflight-guard/dist/opencode/postflight-guard.mjs'], /another copy: \.\./],
    ['a list that holds it twice', [PLUGIN, PLUGIN], /the plugin is listed more than once, in /],
  ])('finds %s, and install repairs it', async (_name, plugin, said) => {
    const project = projectWith({ [CONFIG]: JSON.stringify({ plugin }) })
    const fix = 'postflight install --host opencode --scope project'
    expect(await pluginFindings(project)).toMatchObject([{ ok: false, what: expect.stringMatching(said), fix }])
    await install(project)
    expect((await pluginFindings(project)).map(({ ok }) => ok)).toEqual([true, true])
  })

  it.each([CONFIG, inFolder])("finds the project's own copy right, and says how it comes back: %s", async (config) => {
    const { project, folder, cli } = createDependentProject()
    project.write(config, JSON.stringify({ plugin: [OTHER_COPY] }))
    expect(await cli('install --host opencode')).toMatchObject({ status: 0, stderr: '' })
    const plugin = `${config === CONFIG ? '.' : '..'}/node_modules/postflight-guard/dist/opencode/postflight-guard.mjs`
    expect(JSON.parse(project.read(config))).toEqual({ plugin: [plugin] })
    expect((await pluginFindings(project)).map(({ ok }) => ok)).toEqual([true, true])
    rmSync(folder, { recursive: true })
    expect(await pluginFindings(project)).toMatchObject([{ ok: false, fix: 'npm install' }])
  })

  it('finds a configuration that OpenCode cannot read', async () => {
    const project = projectWith({ [CONFIG]: '{' })
    const [found, ...others] = await pluginFindings(project)
    expect(found?.what).toContain(`${project.at(CONFIG)}:1:2: invalid JSON`)
    expect(found).toMatchObject({ ok: false, fix: expect.stringContaining('repair the file by hand') })
    expect(others).toEqual([])
  })

  it('finds a plugin whose file is missing', async () => {
    const { cli, folder } = createDependentProject()
    await cli('install --host opencode')
    expect((await cli('doctor')).stdout).toContain('✓ the plugin loads')
    rmSync(join(folder, 'dist/opencode/postflight-guard.mjs'))
    const run = await cli('doctor')
    expect(run.status).toBe(1)
    expect(run.stdout).toMatch(/✗ the plugin does not load \(.*ERR_MODULE_NOT_FOUND/)
  })

  it('does not mention OpenCode if no configuration lists the plugin', async () => {
    expect(await pluginFindings(projectWith({ [CONFIG]: '{"model": "a/b"}' }))).toEqual([])
  })
})

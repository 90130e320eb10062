/** The plugin for Claude Code as its build lays it out: one folder that holds everything it runs. */

import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { layOutPlugin } from '../../../scripts/plugin.ts'
import { claudeEntries } from '../../../src/hosts/hook-entries.ts'
import { SESSION, sessionStart, stop, subagentStop } from '../../support/payloads.ts'
import { PACKAGE, runProcess } from '../../support/process.ts'
import { claudeHookEnv, createProject, type JsonDocument, type Project } from '../../support/project.ts'

/** Lays out the plugin beside the project, in a folder whose path has a space. */
function withPlugin(project: Project): string {
  const plugin = join(project.base, 'the plugin')
  layOutPlugin(PACKAGE, plugin)
  return plugin
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

const readJson = (...place: string[]): JsonDocument => JSON.parse(readFileSync(join(...place), 'utf8'))

/** Runs a hook of the plugin as Claude Code does: by a shell, with the plugin's folder in the environment. */
function runHook(project: Project, plugin: string, event: string, payload: Readonly<Record<string, unknown>>) {
  const { command } = readJson(plugin, 'hooks', 'hooks.json').hooks[event][0].hooks[0]
  return project.hook(payload, {
    program: ['sh', '-c', command],
    env: { ...claudeHookEnv(project, SESSION), CLAUDE_PLUGIN_ROOT: plugin },
  })
}

describe.concurrent('the plugin for Claude Code', () => {
  it('has the hooks that install writes, with a command that needs no right to execute', () => {
    const { hooks } = readJson(withPlugin(createProject()), 'hooks', 'hooks.json')
    const command = `sh "\${CLAUDE_PLUGIN_ROOT}/hooks/postflight-hook"`
    const groups = Object.entries<object[]>(hooks).flatMap(([event, list]) => list.map((group) => ({ event, group })))
    expect(groups).toEqual(claudeEntries(command))
  })

  it('has the name and version of the package, in both of its manifests', () => {
    const plugin = withPlugin(createProject())
    const { name, version } = readJson(PACKAGE, 'package.json')
    const manifest = (file: string) => readJson(plugin, '.claude-plugin', file)
    expect(manifest('plugin.json')).toMatchObject({ name, version })
    expect(manifest('marketplace.json')).toMatchObject({ name, plugins: [{ name, source: './' }] })
  })

  it('holds one command for the shell, and nothing that must be installed', () => {
    const plugin = withPlugin(createProject())
    const files = filesIn(plugin)
    expect(files.filter((file) => file.startsWith('bin/'))).toEqual(['bin/postflight'])
    expect(statSync(join(plugin, 'bin', 'postflight')).mode & 0o111).toBe(0o111)
    expect(files.filter((file) => /node_modules|\.ts$/.test(file))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES']))
    expect(readJson(plugin, 'package.json')).not.toHaveProperty('dependencies')
  })

  it('blocks and allows, even if the right to execute was lost', async () => {
    const project = createProject()
    const plugin = withPlugin(project)
    chmodSync(join(plugin, 'hooks', 'postflight-hook'), 0o644)
    expect((await runHook(project, plugin, 'Stop', stop())).answer).toEqual({})
    project.marker('259_x', { cc_session_id: SESSION, agent_id: 'main', reason: 'pending' })
    const { answer } = await runHook(project, plugin, 'Stop', stop())
    expect(answer).toMatchObject({ decision: 'block', reason: expect.stringContaining('postflight clear 259_x') })
    expect((await runHook(project, plugin, 'SubagentStop', subagentStop())).answer).toEqual({})
    const started = await runHook(project, plugin, 'SessionStart', sessionStart('resume'))
    expect(started.answer).toMatchObject({ hookSpecificOutput: { hookEventName: 'SessionStart' } })
  })

  it('names no other way to start the CLI, because its bin/ is on the PATH of the agent', async () => {
    const project = createProject()
    const plugin = withPlugin(project)
    project.marker('259_x', { cc_session_id: SESSION, agent_id: 'main' })
    const first = await runHook(project, plugin, 'Stop', stop())
    rmSync(join(plugin, 'bin'), { recursive: true })
    const second = await runHook(project, plugin, 'Stop', stop())
    expect(first.answer.reason).not.toContain('where `postflight` is not on the PATH')
    expect(second.answer.reason).toContain('where `postflight` is not on the PATH')
  })

  it('brings the CLI, which runs by its name', async () => {
    const project = createProject()
    const plugin = withPlugin(project)
    const env = { ...project.env, PATH: `${project.env.PATH}:${join(plugin, 'bin')}`, CLAUDE_CODE_SESSION_ID: SESSION }
    const postflight = (words: string) => runProcess('sh', ['-c', `postflight ${words}`], { cwd: project.dir, env })
    const { version } = readJson(PACKAGE, 'package.json')
    expect(await postflight('--version')).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
    const start = 'workflow start 260 y --definition four-phases'
    for (const line of ['create 259 x --step one --quiet', 'step 259 one', 'clear 259', start]) {
      expect(await postflight(line), line).toMatchObject({ status: 0, stderr: '' })
    }
  })

  it('is committed whole if a repository ignores dist/ and bin/', () => {
    const project = createProject({ git: false })
    const plugin = withPlugin(project)
    const git = (...words: string[]) =>
      execFileSync('git', words, { cwd: project.base, env: project.env, encoding: 'utf8' })
    git('init', '--quiet')
    project.write('../.gitignore', 'dist/\nbin/\n*.md\n')
    git('add', 'the plugin')
    const added = git('ls-files', '-z', 'the plugin').split('\0').slice(0, -1)
    expect(added.map((file) => file.replace('the plugin/', '')).sort()).toEqual(filesIn(plugin))
  })
})

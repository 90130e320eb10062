/** A throwaway project with the plugin: installed by `postflight install`, used by the real OpenCode, then inspected. */

import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { JournalLine } from '../claude-code/guarded.ts'
import { createProject, type Project } from '../claude-code/project.ts'
import { ensureOpenCode, hostsSkipped, OPENCODE_VERSION } from '../client-cache.ts'
import { type Model, type Script, startModel } from '../model.ts'
import { environmentOf, type RunningClient, type RunResult, startRun } from './run-client.ts'
import { type Server, startServer } from './serve.ts'

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')

const binary = hostsSkipped() ? '' : await ensureOpenCode()

/** The model's scripts by actor. */
export type Actors = Record<string, Script>

/** Options of `guardedProject`. */
export interface GuardedOptions {
  /** Arguments of `postflight install --host opencode`; false to install nothing. */
  install?: readonly string[] | false
  /** Fields that are added to the configuration. */
  config?: object
  /** The plugin's options. */
  options?: object
  /** An existing project, and the copy of this package that it uses. */
  within?: { project: Project; packageFolder: string }
}

/** Options of a run. */
export interface SceneOptions {
  /** Arguments before the message: `['--session', id]`. */
  words?: readonly string[]
  message?: string
  env?: Readonly<Record<string, string>>
  /** The time (ms) after which the client is killed. */
  timeoutMs?: number
}

/** A project with the plugin. */
export interface GuardedProject {
  project: Project
  /** The copy of this package that is in use. */
  packageFolder: string
  /** Runs `opencode run` to its end. Fails when a script threw or had no answer left, or the exit code is not 0. */
  run(actors: Actors, options?: SceneOptions): Promise<{ ran: RunResult; model: Model }>
  /** Starts `opencode run` and returns it running. */
  start(actors: Actors, options?: SceneOptions): Promise<{ client: RunningClient; model: Model }>
  /** Starts `opencode serve`. */
  serve(actors: Actors, options?: SceneOptions): Promise<{ server: Server; model: Model }>
  /** The command line of a shell that starts OpenCode with these arguments, for a terminal. */
  terminal(actors: Actors, words: readonly string[]): Promise<{ command: string; model: Model }>
  /** Runs the CLI as a user does in a separate terminal. */
  postflight(...args: string[]): SpawnSyncReturns<string>
  /** Changes the project's `opencode.json`, which is plain JSON here. */
  changeConfig(change: (config: Record<string, unknown>) => object): void
  /** Adds a plugin of the test's own, which runs before ours and gets the same `client`. */
  addPlugin(name: string, body: string): void
  /** The text of a file in the project, or undefined. */
  read(name: string): string | undefined
  /** The marker of a task as JSON, or undefined. */
  marker(task: string): Record<string, unknown> | undefined
  /** The names of the files in a task's folder, sorted. */
  files(task: string): string[]
  journal(): JournalLine[]
  /** The journal in short: `create`, `block 1`, … */
  story(): string[]
  /** OpenCode's log. */
  log(): string
}

/** Creates a project and installs the plugin in it. It is removed when the test ends. */
export function guardedProject(options: GuardedOptions = {}): GuardedProject {
  const { project, packageFolder } = options.within ?? freshProject()
  const script = join(packageFolder, 'bin', 'postflight.js')
  seedPluginFolder(join(project.home, '.config', 'opencode'))
  project.write('opencode.json', `${JSON.stringify(BASE_CONFIG, null, 2)}\n`)

  const inProject = (name: string): string | undefined => {
    const file = join(project.dir, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }

  const clientOptions = ({ env, timeoutMs }: SceneOptions = {}) => ({
    ...(timeoutMs !== undefined && { timeoutMs }),
    binary,
    project: project.dir,
    home: project.home,
    path: project.path,
    ...(env !== undefined && { env }),
  })

  /** A scripted model, and the configuration that makes OpenCode use it. */
  const modelFor = async (actors: Actors): Promise<Model> => {
    const model = await startModel({ actors })
    onTestFinished(() => model.close())
    guarded.changeConfig((config) => ({ ...config, provider: providersAt(model.url) }))
    return model
  }

  const seenToEnd = (client: RunningClient): void => {
    // Before the model closes and the project is removed, whatever the result of the test.
    onTestFinished(async () => {
      client.kill()
      await client.done
    })
  }

  const guarded: GuardedProject = {
    project,
    packageFolder,
    async start(actors, further = {}) {
      const model = await modelFor(actors)
      const client = startRun(clientOptions(further), [...(further.words ?? []), further.message ?? 'go'])
      seenToEnd(client)
      return { client, model }
    },
    async run(actors, further) {
      const { client, model } = await guarded.start(actors, further)
      const ran = await client.done
      expect(model.errors).toEqual([])
      expect(model.ranOut, 'actors that were asked more often than their scripts know').toEqual([])
      expect(ran, ran.stderr || ran.stdout).toMatchObject({ exitCode: 0, timedOut: false })
      return { ran, model }
    },
    async serve(actors, further = {}) {
      const model = await modelFor(actors)
      const server = await startServer(clientOptions(further))
      seenToEnd(server.client)
      return { server, model }
    },
    async terminal(actors, words) {
      const model = await modelFor(actors)
      const variables = Object.entries(environmentOf(clientOptions()))
      const quoted = ['env', '-i', 'TERM=xterm-256color', ...variables.map((one) => one.join('=')), binary, ...words]
      return { command: quoted.map((word) => `'${word}'`).join(' '), model }
    },
    postflight: (...args) =>
      spawnSync(process.execPath, [script, ...args], {
        cwd: project.dir,
        env: { PATH: project.path, HOME: project.home },
        encoding: 'utf8',
      }),
    changeConfig(change) {
      const config = JSON.parse(inProject('opencode.json') ?? '{}') as Record<string, unknown>
      writeFileSync(join(project.dir, 'opencode.json'), `${JSON.stringify(change(config), null, 2)}\n`)
    },
    addPlugin(name, body) {
      project.write(name, `export default { id: '${name}', server: async ({ client }) => { ${body} } }\n`)
      guarded.changeConfig((config) => ({ ...config, plugin: [`./${name}`, ...((config.plugin ?? []) as unknown[])] }))
    },
    read: inProject,
    marker(task) {
      const text = inProject(join('specs', task, '.postflight-pending'))
      return text === undefined ? undefined : JSON.parse(text)
    },
    files(task) {
      const folder = join(project.dir, 'specs', task)
      return existsSync(folder) ? readdirSync(folder).sort() : []
    },
    journal() {
      const lines = (inProject(join('specs', '.postflight', 'journal.jsonl')) ?? '').split('\n')
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalLine)
    },
    story: () => guarded.journal().map(({ event, count }) => (count === undefined ? event : `${event} ${count}`)),
    log() {
      const folder = join(project.home, '.local', 'share', 'opencode', 'log')
      if (!existsSync(folder)) return ''
      return readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .join('\n')
    },
  }

  if (options.config !== undefined) guarded.changeConfig((config) => ({ ...config, ...options.config }))
  if (options.install !== false) {
    const installed = guarded.postflight('install', '--host', 'opencode', ...(options.install ?? []))
    expect(installed, installed.stderr).toMatchObject({ status: 0 })
  }
  if (options.options !== undefined) {
    guarded.changeConfig((config) => ({
      ...config,
      plugin: (config.plugin as string[]).map((one) => [one, options.options]),
    }))
  }
  return guarded
}

function freshProject(): { project: Project; packageFolder: string } {
  const project = createProject({ git: true })
  onTestFinished(() => project.remove())
  // A copy, so that a build in the meantime does not affect the test.
  const packageFolder = join(project.base, 'package of the plugin')
  for (const name of publishedFiles()) cpSync(join(PACKAGE, name), join(packageFolder, name), { recursive: true })
  project.link('postflight', join(packageFolder, 'bin', 'postflight.js'))
  return { project, packageFolder }
}

/** The plugin of a copy of this package, as a configuration names it. */
export function pluginAt(packageFolder: string): string {
  return pathToFileURL(join(packageFolder, 'dist', 'opencode', 'postflight-guard.mjs')).href
}

const BASE_CONFIG = {
  $schema: 'https://opencode.ai/config.json',
  autoupdate: false,
  share: 'disabled',
  snapshot: false,
  lsp: false,
  formatter: false,
  model: 'scripted/scripted-1',
  small_model: 'scripted/scripted-small',
  enabled_providers: ['scripted'],
}

/** The providers, of which a configuration enables some: the same model behind each, under models of their own names. */
function providersAt(url: string): object {
  const limit = { context: 200_000, output: 8_000 }
  const provider = (name: string): object => ({
    npm: '@ai-sdk/anthropic',
    name,
    options: { baseURL: `${url}/v1`, apiKey: 'not-a-key' },
    models: {
      [`${name}-1`]: { name: `${name}-1`, tool_call: true, temperature: true, limit },
      [`${name}-2`]: { name: `${name}-2`, tool_call: true, temperature: true, limit },
      [`${name}-small`]: { name: `${name}-small`, limit },
    },
  })
  return { scripted: provider('scripted'), other: provider('other'), 'github-copilot': provider('copilot') }
}

/** Pretends that OpenCode has fetched its plugin package into a folder; otherwise it would do so first. */
export function seedPluginFolder(folder: string): void {
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  const dependencies = { '@opencode-ai/plugin': OPENCODE_VERSION }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }))
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages: { '': { dependencies } } }),
  )
}

/** The files of this package that npm would publish. */
function publishedFiles(): string[] {
  const { files } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { files: string[] }
  return ['package.json', ...files].filter((name) => existsSync(join(PACKAGE, name)))
}

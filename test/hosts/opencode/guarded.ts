/** A throwaway project with the plugin: installed by `postflight install`, used by the real OpenCode, then inspected. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { createProject, type Project, type ProjectOptions } from '../claude-code/project.ts'
import { ensureOpenCode, hostsSkipped, OPENCODE_VERSION } from '../client-cache.ts'
import { type Inspected, inspected } from '../inspected.ts'
import { type Model, type Script, startModel } from '../model.ts'
import { copyPackageTo } from '../package-copy.ts'
import { environmentOf, type RunningClient, type RunResult, start } from './run-client.ts'
import { type PromptOptions, type Server, startServer } from './serve.ts'

const binary = hostsSkipped() ? '' : await ensureOpenCode()

export type Actors = Record<string, Script>

export interface GuardedOptions {
  install?: false
  config?: object
  options?: object
  /** An existing project, and the copy of this package that it uses. Its server is its own. */
  within?: Pick<Machine, 'project' | 'packageFolder'>
  /** True for a home, a package and a server of its own, for tests that measure them. */
  isAlone?: true
}

export interface SceneOptions {
  /** Arguments before the message: `['--session', id]`. */
  words?: readonly string[]
  message?: string
  env?: Readonly<Record<string, string>>
  /** The time (ms) after which the client is killed. */
  timeoutMs?: number
}

interface TalkOptions extends PromptOptions {
  /** The turns of the actor that must come. */
  turns?: number
}

export interface Talk {
  server: Server
  session: string
  model: Model
}

export interface GuardedProject extends Inspected {
  project: Project
  packageFolder: string
  /** Runs `opencode run` to its end. Fails when a script threw or had no answer left, or the exit code is not 0. */
  run(actors: Actors, options?: SceneOptions): Promise<{ ran: RunResult; model: Model }>
  /** Starts `opencode run` and returns it running. */
  start(actors: Actors, options?: SceneOptions): Promise<{ client: RunningClient; model: Model }>
  /** The project on `opencode serve`: the server of this test file, or one of its own. */
  serve(actors: Actors, options?: SceneOptions): Promise<{ server: Server; model: Model }>
  begin(actors: Actors, options?: SceneOptions, prompt?: PromptOptions): Promise<Talk>
  /** One that rests after that message. Fails as `run` does. */
  talk(actors: Actors, options?: TalkOptions): Promise<Talk>
  /** The command line of a shell that starts OpenCode with these arguments, for a terminal. */
  terminal(actors: Actors, words: readonly string[]): Promise<{ command: string; model: Model }>
  /** Changes the project's `opencode.json`, which is plain JSON here. */
  changeConfig(change: (config: Record<string, unknown>) => object): void
  /** Adds a plugin of the test's own, which runs before ours and gets the same `client`. */
  addPlugin(name: string, body: string): void
  log(): string
}

/**
 * What the projects of one test file share: a home, a PATH, the package, and a server for each environment. A conversation in
 * a folder of its own on a server that runs costs a sixth of one in a process of its own.
 */
interface Machine {
  project: Project
  packageFolder: string
  servers: Map<string, Promise<Server>>
}
let machine: Machine | undefined

/** Long enough for any test file. */
const FILE_TIMEOUT_MS = 3_600_000

/** Ends the servers of a test file, and removes its machine. */
export async function endMachine(): Promise<void> {
  for (const server of machine?.servers.values() ?? []) {
    const { client } = await server
    client.kill()
    await client.done
  }
  machine?.project.remove()
  machine = undefined
}

/** Creates a project and installs the plugin in it. It is removed when the test ends. */
export function guardedProject(options: GuardedOptions = {}): GuardedProject {
  const { project, packageFolder } = options.within ?? freshProject(options.isAlone)
  seedPluginFolder(join(project.home, '.config', 'opencode'))
  project.write('opencode.json', `${JSON.stringify(BASE_CONFIG, null, 2)}\n`)

  const clientOptions = ({ env, timeoutMs }: SceneOptions = {}) => ({
    ...(timeoutMs !== undefined && { timeoutMs }),
    binary,
    project: project.dir,
    home: project.home,
    path: project.path,
    ...(env !== undefined && { env }),
  })

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

  const logsBefore = logsIn(project)
  let isServed = false
  const guarded: GuardedProject = {
    project,
    packageFolder,
    ...inspected(project, packageFolder),
    async start(actors, further = {}) {
      const model = await modelFor(actors)
      const client = start(clientOptions(further), [
        'run',
        '--format',
        'json',
        ...(further.words ?? []),
        further.message ?? 'go',
      ])
      seenToEnd(client)
      return { client, model }
    },
    async run(actors, further) {
      const { client, model } = await guarded.start(actors, further)
      const ran = await client.done
      expectAnswered(model)
      expect(ran, ran.stderr || ran.stdout).toMatchObject({ exitCode: 0, timedOut: false })
      return { ran, model }
    },
    async serve(actors, further = {}) {
      const model = await modelFor(actors)
      if (options.isAlone === true || options.within !== undefined) {
        const server = await startServer(clientOptions(further))
        seenToEnd(server.client)
        return { server, model }
      }
      const server = (await sharedServer(further.env)).inFolder(project.dir)
      // It reads a configuration once.
      if (isServed) await server.dispose()
      isServed = true
      onTestFinished(() => server.dispose())
      return { server, model }
    },
    async begin(actors, further, prompt) {
      const { server, model } = await guarded.serve(actors, further)
      const session = await server.createSession()
      await server.prompt(session, further?.message ?? 'go', prompt)
      return { server, session, model }
    },
    async talk(actors, { turns = 1, ...prompt } = {}) {
      const { server, session, model } = await guarded.begin(actors, {}, prompt)
      await model.arrived('main', turns - 1)
      await server.settled()
      expectAnswered(model)
      return { server, session, model }
    },
    async terminal(actors, words) {
      const model = await modelFor(actors)
      const variables = Object.entries(environmentOf(clientOptions()))
      const quoted = ['env', '-i', 'TERM=xterm-256color', ...variables.map((one) => one.join('=')), binary, ...words]
      return { command: quoted.map((word) => `'${word}'`).join(' '), model }
    },
    changeConfig(change) {
      const config = JSON.parse(guarded.read('opencode.json') ?? '{}') as Record<string, unknown>
      writeFileSync(join(project.dir, 'opencode.json'), `${JSON.stringify(change(config), null, 2)}\n`)
    },
    addPlugin(name, body) {
      project.write(name, `export default { id: '${name}', server: async ({ client }) => { ${body} } }\n`)
      guarded.changeConfig((config) => ({ ...config, plugin: [`./${name}`, ...((config.plugin ?? []) as unknown[])] }))
    },
    log: () => [...logsIn(project)].map(([name, text]) => text.slice(logsBefore.get(name)?.length)).join('\n'),
  }

  if (options.config !== undefined) guarded.changeConfig((config) => ({ ...config, ...options.config }))
  if (options.install !== false) {
    const installed = guarded.postflight('install', '--host', 'opencode')
    expect(installed, installed.stderr).toMatchObject({ status: 0 })
  }
  if (options.options !== undefined) {
    const withOptions = (one: unknown) => [one, options.options]
    guarded.changeConfig((config) => ({ ...config, plugin: (config.plugin as string[]).map(withOptions) }))
  }
  return guarded
}

export async function scene(actors: Actors, options?: SceneOptions) {
  const guarded = guardedProject()
  return { guarded, ...(await guarded.run(actors, options)) }
}

export async function talk(actors: Actors, options?: TalkOptions) {
  const guarded = guardedProject()
  return { guarded, ...(await guarded.talk(actors, options)) }
}

function expectAnswered(model: Model): void {
  expect(model.errors).toEqual([])
  expect(model.ranOut, 'actors that were asked more often than their scripts know').toEqual([])
}

function logsIn({ home }: Project): Map<string, string> {
  const folder = join(home, '.local', 'share', 'opencode', 'log')
  const names = existsSync(folder) ? readdirSync(folder) : []
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

function newMachine(options: ProjectOptions = {}): Machine {
  const project = createProject(options)
  // A copy, so that a build in the meantime does not affect the test.
  const packageFolder = join(project.base, 'package of the plugin')
  copyPackageTo(packageFolder)
  project.link('postflight', join(packageFolder, 'bin', 'postflight.js'))
  return { project, packageFolder, servers: new Map() }
}

function theMachine(): Machine {
  machine ??= newMachine()
  return machine
}

function sharedServer(env: Readonly<Record<string, string>> = {}): Promise<Server> {
  const { project, servers } = theMachine()
  const key = JSON.stringify(env)
  const { dir, home, path } = project
  const server = servers.get(key) ?? startServer({ binary, project: dir, home, path, env, timeoutMs: FILE_TIMEOUT_MS })
  servers.set(key, server)
  return server
}

function freshProject(isAlone = false): Pick<Machine, 'project' | 'packageFolder'> {
  const { project: beside, packageFolder } = isAlone ? newMachine({ git: true }) : theMachine()
  const project = isAlone ? beside : createProject({ git: true, beside })
  onTestFinished(() => project.remove())
  return { project, packageFolder }
}

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

/** A throwaway project with the guard: installed by `postflight install`, used by the real client, then inspected. */

import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { ensureClaudeCode, hostsSkipped } from '../client-cache.ts'
import { type Model, type Script, startModel } from '../model.ts'
import { copyPackageTo } from '../package-copy.ts'
import { createProject, type Project, type ProjectOptions } from './project.ts'
import { type RunningClient, type RunOptions, type RunResult, startClaude } from './run-client.ts'

const SETTINGS = '.claude/settings.json'

const binary = hostsSkipped() ? '' : await ensureClaudeCode()

/** Options of `guardedProject`. */
export interface GuardedOptions extends ProjectOptions {
  /** The package's place: somewhere on the machine, or in the project's own node_modules. */
  packageIn?: 'machine' | 'project'
  /** Arguments of `postflight install`; false to install nothing. */
  install?: readonly string[] | false
  /** False if the client's PATH has no `postflight`. */
  onPath?: boolean
}

/** The model's scripts by actor. */
export type Actors = Record<string, Script>

/** Options of a run. */
export type SceneOptions = Partial<Omit<RunOptions, 'binary' | 'project' | 'home' | 'model'>>

/** A run of the client that has ended. */
export interface Scene {
  ran: RunResult
  model: Model
}

/** A line of the journal. */
export interface JournalLine {
  event: string
  task?: string
  agent?: string
  count?: number
  outcome?: string
  detail?: string
  marker_id?: string
  host_session?: string
}

/** A project with the guard. */
export interface GuardedProject {
  project: Project
  /** The copy of this package that is in use. */
  packageFolder: string
  /** Runs the client until it ends. Fails when a script threw or had no answer left. */
  run(actors: Actors, options?: SceneOptions): Promise<Scene>
  /** Starts the client and returns it running. */
  start(actors: Actors, options?: SceneOptions): Promise<{ client: RunningClient; model: Model }>
  /** Runs the CLI as a user does in a separate terminal. */
  postflight(...args: string[]): SpawnSyncReturns<string>
  /** Adds a hook of the test's own to the project's settings. */
  addHook(event: string, command: string): void
  /** The text of a file in the project, or undefined. */
  read(name: string): string | undefined
  /** The marker of a task as JSON, or undefined. */
  marker(task: string, root?: string): Record<string, unknown> | undefined
  /** The names of the files in a task's folder, sorted. */
  files(task: string, root?: string): string[]
  journal(root?: string): JournalLine[]
  /** The journal in short: `create`, `claim`, `block 1`, … */
  story(root?: string): string[]
}

/** Creates a project and installs the guard in it. It is removed when the test ends. */
export function guardedProject(options: GuardedOptions = {}): GuardedProject {
  const project = createProject(options)
  onTestFinished(() => project.remove())
  const packageFolder =
    options.packageIn === 'project'
      ? join(project.dir, 'node_modules', 'postflight-guard')
      : join(project.base, `package for ${basename(project.dir)}`)
  copyPackageTo(packageFolder)
  const script = join(packageFolder, 'bin', 'postflight.js')
  if (options.onPath !== false) project.link('postflight', script)

  const inProject = (name: string): string | undefined => {
    const file = join(project.dir, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }

  const guarded: GuardedProject = {
    project,
    packageFolder,
    async start(actors, further = {}) {
      const model = await startModel({ actors })
      onTestFinished(() => model.close())
      const { dir, home, path } = project
      const client = startClaude({
        binary,
        project: dir,
        home,
        path,
        model,
        prompt: 'go',
        output: 'stream-json',
        ...further,
      })
      // Before the model closes and the project is removed, whatever the result of the test.
      onTestFinished(async () => {
        client.kill()
        await client.done
      })
      return { client, model }
    },
    async run(actors, further) {
      const { client, model } = await guarded.start(actors, further)
      const ran = await client.done
      expectCleanEnd(model, ran)
      return { ran, model }
    },
    postflight: (...args) =>
      spawnSync(process.execPath, [script, ...args], {
        cwd: project.dir,
        env: { PATH: project.path, HOME: project.home },
        encoding: 'utf8',
      }),
    addHook(event, command) {
      const settings = JSON.parse(inProject(SETTINGS) ?? '{}') as { hooks?: Record<string, object[]> }
      const hooks = settings.hooks ?? {}
      const groups = [...(hooks[event] ?? []), { hooks: [{ type: 'command', command }] }]
      project.writeSettings({ ...settings, hooks: { ...hooks, [event]: groups } })
    },
    read: inProject,
    marker(task, root = '.') {
      const text = inProject(join(root, 'specs', task, '.postflight-pending'))
      return text === undefined ? undefined : JSON.parse(text)
    },
    files(task, root = '.') {
      const folder = join(project.dir, root, 'specs', task)
      return existsSync(folder) ? readdirSync(folder).sort() : []
    },
    journal(root = '.') {
      const lines = (inProject(join(root, 'specs', '.postflight', 'journal.jsonl')) ?? '').split('\n')
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalLine)
    },
    story: (root) =>
      guarded.journal(root).map(({ event, count }) => (count === undefined ? event : `${event} ${count}`)),
  }

  if (options.install !== false) {
    const installed = guarded.postflight('install', ...(options.install ?? []))
    expect(installed, installed.stderr).toMatchObject({ status: 0 })
  }
  return guarded
}

/** Checks that the client ended without errors, and that the scripts covered every turn. */
export function expectCleanEnd(model: Model, ran: RunResult): void {
  expect(model.errors).toEqual([])
  expect(model.ranOut, 'actors that were asked more often than their scripts know').toEqual([])
  expect(ran, ran.stderr || ran.stdout).toMatchObject({ exitCode: 0, timedOut: false, result: { is_error: false } })
}

/** A PATH with the named tools and nothing else. */
export function pathWith(project: Project, tools: readonly string[]): string {
  const folder = join(project.base, 'tools')
  mkdirSync(folder)
  for (const tool of tools) {
    const found = ['/bin', '/usr/bin'].map((place) => join(place, tool)).find((file) => existsSync(file))
    if (found !== undefined) symlinkSync(found, join(folder, tool))
  }
  return folder
}

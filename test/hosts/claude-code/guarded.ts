/** A throwaway project with the guard: installed by `postflight install`, used by the real client, then inspected. */

import { basename, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { ensureClaudeCode, hostsSkipped } from '../client-cache.ts'
import { type Inspected, inspected } from '../inspected.ts'
import { type Model, type Script, startModel } from '../model.ts'
import { copyPackageTo } from '../package-copy.ts'
import { createProject, type Project, type ProjectOptions } from './project.ts'
import { type RunningClient, type RunOptions, type RunResult, startClaude } from './run-client.ts'

const SETTINGS = '.claude/settings.json'

const binary = hostsSkipped() ? '' : await ensureClaudeCode()

export interface GuardedOptions extends ProjectOptions {
  /** The package's place: somewhere on the machine, or in the project's own node_modules. */
  packageIn?: 'machine' | 'project'
  /** Arguments of `postflight install`; false to install nothing. */
  install?: readonly string[] | false
  /** False if the client's PATH has no `postflight`. */
  onPath?: boolean
}

export type Actors = Record<string, Script>

export type SceneOptions = Partial<Omit<RunOptions, 'binary' | 'project' | 'home' | 'model'>>

export interface Scene {
  ran: RunResult
  model: Model
}

export interface GuardedProject extends Inspected {
  project: Project
  /** The copy of this package that is in use. */
  packageFolder: string
  /** Runs the client until it ends. Fails when a script threw or had no answer left. */
  run(actors: Actors, options?: SceneOptions): Promise<Scene>
  start(actors: Actors, options?: SceneOptions): Promise<{ client: RunningClient; model: Model }>
  /** Adds a hook of the test's own to the project's settings: a command, or another kind of hook. */
  addHook(event: string, hook: string | object, matcher?: string): void
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
  if (options.onPath !== false) project.link('postflight', join(packageFolder, 'bin', 'postflight.js'))

  const guarded: GuardedProject = {
    project,
    packageFolder,
    ...inspected(project, packageFolder),
    async start(actors, further = {}) {
      const model = await startModel({ actors })
      onTestFinished(() => model.close())
      const { dir, home, path } = project
      const scene = { binary, project: dir, home, path, model }
      const client = startClaude({ ...scene, prompt: 'go', output: 'stream-json', ...further })
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
    addHook(event, hook, matcher) {
      const settings = JSON.parse(guarded.read(SETTINGS) ?? '{}') as { hooks?: Record<string, object[]> }
      const hooks = settings.hooks ?? {}
      const added = typeof hook === 'string' ? { type: 'command', command: hook } : hook
      const groups = [...(hooks[event] ?? []), { ...(matcher !== undefined && { matcher }), hooks: [added] }]
      project.writeSettings({ ...settings, hooks: { ...hooks, [event]: groups } })
    },
  }

  if (options.install !== false) {
    const installed = guarded.postflight('install', ...(options.install ?? []))
    expect(installed, installed.stderr).toMatchObject({ status: 0 })
  }
  return guarded
}

export async function scene(actors: Actors, options?: SceneOptions): Promise<Scene & { guarded: GuardedProject }> {
  const guarded = guardedProject()
  return { guarded, ...(await guarded.run(actors, options)) }
}

/** Checks that the client ended without errors, and that the scripts covered every turn. */
export function expectCleanEnd(model: Model, ran: RunResult): void {
  expect(model.errors).toEqual([])
  expect(model.ranOut, 'actors that were asked more often than their scripts know').toEqual([])
  expect(ran, ran.stderr || ran.stdout).toMatchObject({ exitCode: 0, timedOut: false, result: { is_error: false } })
}

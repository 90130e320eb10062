/** A throwaway project with the guard, installed by `postflight install --host`, and used by one of the hook clients. */

import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { commandsIn, type Line, whenHeld } from './agents.ts'
import { createProject, type Project } from './claude-code/project.ts'
import { type Ended as ProcessEnd, startProcess } from './client-process.ts'
import type { HookClient } from './hook-clients.ts'
import { type Inspected, inspected } from './inspected.ts'
import { type Model, type Script, startModel, type Turn } from './model.ts'
import { copyPackageTo } from './package-copy.ts'

export interface Ended extends ProcessEnd {
  model: Model
}

export interface RunOptions {
  resume?: string
  env?: Readonly<Record<string, string>>
  /** A word of the client's command line to leave out. */
  leaveOut?: string
  /** Is called with the model before the client starts. */
  started?: (model: Model) => void
}

export interface HookedProject extends Omit<Inspected, 'postflight'> {
  project: Project
  packageFolder: string
  /** Runs the client until it ends. Fails when a script threw or had no answer left. */
  run(actors: Record<string, Script>, options?: RunOptions): Promise<Ended>
  start(
    actors: Record<string, Script>,
    options?: RunOptions,
  ): Promise<{ model: Model; ended: Promise<Ended>; kill(): void }>
  /** Runs the CLI, which must succeed, and returns what it printed. */
  postflight(...words: string[]): string
  /** What `postflight doctor` prints, whatever it finds. */
  doctor(): string
}

const TIME_LIMIT_MS = 90_000

/** Creates a project with the guard. When the test ends it is uninstalled, which must leave nothing, and removed. */
export async function hookedProject(client: HookClient): Promise<HookedProject> {
  const command = await client.ensure()
  const project = createProject()
  onTestFinished(() => project.remove())
  const packageFolder = join(project.base, `package for ${basename(project.dir)}`)
  copyPackageTo(packageFolder)
  const script = join(packageFolder, 'bin', 'postflight.js')
  project.link('postflight', script)
  const looked = inspected(project, packageFolder)
  const postflight = (...words: string[]): string => {
    const run = looked.postflight(...words)
    expect(run, run.stderr).toMatchObject({ status: 0 })
    return run.stdout
  }

  const hooked: HookedProject = {
    project,
    packageFolder,
    ...looked,
    postflight,
    doctor: () => looked.postflight('doctor').stdout,
    async start(actors, options = {}) {
      const model = await startModel({ actors })
      onTestFinished(() => model.close())
      const { dir, home, path } = project
      const run = { project: dir, home, path, model, prompt: 'go', resume: options.resume }
      client.configure?.(run)
      options.started?.(model)
      const [file = '', ...words] = command
      const { kill, done } = startProcess(
        file,
        [...words, ...client.args(run).filter((word) => word !== options.leaveOut)],
        {
          cwd: project.dir,
          env: { PATH: path, HOME: home, ...client.env(run), ...options.env },
          timeoutMs: TIME_LIMIT_MS,
        },
      )
      const ended = done.then((end) => ({ ...end, model }))
      onTestFinished(async () => {
        kill()
        await ended
      })
      return { model, ended, kill }
    },
    async run(actors, options) {
      const { ended } = await hooked.start(actors, options)
      const end = await ended
      expect(end.model.errors).toEqual([])
      expect(end.model.ranOut, 'actors that were asked more often than their scripts know').toEqual([])
      expect(end.exitCode, `${end.stderr}\n${end.stdout}`).toBe(0)
      return end
    },
  }
  postflight('install', '--host', client.name)
  expect(existsSync(join(project.dir, client.settings))).toBe(true)
  // Registered last, so that it runs first.
  onTestFinished(() => {
    if (!existsSync(script)) return
    postflight('uninstall', '--host', client.name)
    // Qwen Code adds a version to the file, which stays.
    const file = join(project.dir, client.settings)
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').not.toMatch(/postflight|hooks/)
  })
  return hooked
}

/** The reasons of this agent's blocks so far, as they reached the model. Codex escapes them. */
export function reasonsIn(turn: Turn | undefined): string[] {
  return (turn?.userTexts ?? [])
    .filter((text) => text.includes('Blocked stop '))
    .map((text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'))
}

/** An agent that follows the reason of a block word for word, and repeats its last words. */
export function dutiful(client: Pick<HookClient, 'shell'>, ...lines: readonly Line[]): Script {
  return whenHeld(reasonsIn, lines, (reason, lastWords) => [client.shell(commandsIn(reason).join(' && ')), lastWords])
}

export function stubborn(...lines: readonly Line[]): Script {
  return whenHeld(reasonsIn, lines, (_reason, lastWords) => [lastWords])
}

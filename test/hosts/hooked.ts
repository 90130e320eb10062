/** A throwaway project with the guard, installed by `postflight install --host`, and used by one of the hook clients. */

import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { outputOf } from '../support/child-output.ts'
import { commandsIn, say } from './agents.ts'
import { createProject, type Project } from './claude-code/project.ts'
import { killTree } from './claude-code/run-client.ts'
import type { HookClient } from './hook-clients.ts'
import { type Model, type Reply, type Script, startModel, type Turn } from './model.ts'
import { copyPackageTo } from './package-copy.ts'

/** The end of a run. */
export interface Ended {
  code: number | null
  stdout: string
  stderr: string
  model: Model
}

/** Options of a run. */
export interface RunOptions {
  resume?: string
  env?: Readonly<Record<string, string>>
  /** A word of the client's command line to leave out. */
  leaveOut?: string
  /** Is called with the model before the client starts. */
  started?: (model: Model) => void
}

/** A line of the journal. */
export interface JournalLine {
  event: string
  task: string
  host_session: string
  agent?: string
  count?: number
}

/** A project with the guard. */
export interface HookedProject {
  project: Project
  packageFolder: string
  /** Runs the client until it ends. Fails when a script threw or had no answer left. */
  run(actors: Record<string, Script>, options?: RunOptions): Promise<Ended>
  /** Starts the client and returns it running. */
  start(
    actors: Record<string, Script>,
    options?: RunOptions,
  ): Promise<{ model: Model; ended: Promise<Ended>; kill(): void }>
  postflight(...words: string[]): string
  /** What `postflight doctor` prints, whatever it finds. */
  doctor(): string
  /** The marker of a task; undefined if there is none. */
  marker(task: string): Record<string, unknown> | undefined
  files(task: string): string[]
  journal(): JournalLine[]
  /** The journal in short: `create`, `claim`, `block 1`, … */
  story(): string[]
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
  const environment = { PATH: project.path, HOME: project.home }

  const cli = (words: readonly string[]): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, [script, ...words], { cwd: project.dir, env: environment, encoding: 'utf8' })
  const postflight = (...words: string[]): string => {
    const run = cli(words)
    expect(run, run.stderr).toMatchObject({ status: 0 })
    return run.stdout
  }
  const specs = (...names: string[]): string => join(project.dir, 'specs', ...names)

  const hooked: HookedProject = {
    project,
    packageFolder,
    postflight,
    doctor: () => cli(['doctor']).stdout,
    async start(actors, options = {}) {
      const model = await startModel({ actors })
      onTestFinished(() => model.close())
      const { dir, home, path } = project
      const run = { project: dir, home, path, model, prompt: 'go', resume: options.resume }
      client.configure?.(run)
      options.started?.(model)
      const [file = '', ...words] = command
      const child = spawn(file, [...words, ...client.args(run).filter((word) => word !== options.leaveOut)], {
        cwd: project.dir,
        env: { ...environment, ...client.env(run), ...options.env },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      const kill = (): void => killTree(child.pid, 'SIGKILL')
      const timer = setTimeout(kill, TIME_LIMIT_MS)
      const ended = endOf(child).then((end) => {
        clearTimeout(timer)
        return { ...end, model }
      })
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
      expect(end.code, `${end.stderr}\n${end.stdout}`).toBe(0)
      return end
    },
    marker(task) {
      const file = specs(task, '.postflight-pending')
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : undefined
    },
    files: (task) => (existsSync(specs(task)) ? readdirSync(specs(task)).sort() : []),
    journal() {
      const file = specs('.postflight', 'journal.jsonl')
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
      return lines.map((line) => JSON.parse(line) as JournalLine)
    },
    story: () => hooked.journal().map(({ event, count }) => (count === undefined ? event : `${event} ${count}`)),
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

function endOf(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const output = outputOf(child)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...output }))
  })
}

/** The reasons of this agent's blocks so far, as they reached the model. Codex escapes them. */
export function reasonsIn(turn: Turn | undefined): string[] {
  return (turn?.userTexts ?? [])
    .filter((text) => text.includes('Blocked stop '))
    .map((text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'))
}

/** A turn, or what makes one from the result of the tool before. */
export type Line = Reply | ((lastToolResult: string) => Reply)

/** The script of an agent that says its lines and answers each block with `answer`. */
function script(lines: readonly Line[], answer: (reason: string, lastWords: Reply) => readonly Line[]): Script {
  const left = [...lines]
  let lastWords: Reply = say('')
  let held = 0
  return (turn) => {
    const reasons = reasonsIn(turn)
    if (reasons.length > held) left.unshift(...answer(reasons.at(-1) as string, lastWords))
    held = reasons.length
    const line = left.shift()
    const reply = typeof line === 'function' ? line(turn.lastToolResult ?? '') : line
    if (reply !== undefined && (reply.tools ?? []).length === 0) lastWords = reply
    return reply
  }
}

/** An agent that follows the reason of a block word for word, and repeats its last words. */
export function dutiful(client: Pick<HookClient, 'shell'>, ...lines: readonly Line[]): Script {
  return script(lines, (reason, lastWords) => [client.shell(commandsIn(reason).join(' && ')), lastWords])
}

/** An agent that only repeats its last words, however often it is blocked. */
export function stubborn(...lines: readonly Line[]): Script {
  return script(lines, (_reason, lastWords) => [lastWords])
}

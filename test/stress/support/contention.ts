/** Arenas: folders with one marker, on which several programs work at once. */

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Fields, SESSION, shellRan, subagentStop } from '../../support/payloads.ts'
import { SOURCES } from '../../support/programs.ts'
import { type Job, type Outcome, UNSEEN } from './actor.ts'
import { compileSources } from './compile.ts'
import { fastFolder } from './fast-folder.ts'
import { filesBelow, isJsonObject, linesOf, textAt } from './files.ts'
import { randomOf, Scheduler } from './scheduler.ts'
import type { ShellCall } from './shell.ts'

export const TASK = '259_prove_completeness'
export const MARKER = '.postflight-pending'
export const GUARD = '.postflight-loop-guard'
export const ABANDONED = '.postflight-abandoned'
export const CLAIMS = '.postflight-claims'
export const LOCK = '.postflight-lock'
export const GARBLED = '{}'
export const OLD_ID = 'pf_0ld0ld0ld0ld'
export const OLD_REASON = 'OLD marker'
export const NEW_REASON = 'NEW marker'

export const OLD_MARKER = {
  id: OLD_ID,
  session_id: 'sess_1_abcdef',
  skill: 'skill-lean-research',
  task_number: 259,
  operation: 'research',
  reason: OLD_REASON,
  created: '2026-11-21T00:00:00Z',
  stop_hook_active: false,
  cc_session_id: SESSION,
  steps: ['first', 'second', 'third'].map((name) => ({ name, done: false })),
}

export type Program = Pick<Job, 'program' | 'payload' | 'words' | 'shell'>

/** A folder with one task, which is created again for each run, and a way to run programs in it. */
export type Arena = ArenaFiles & {
  /** The factor by which the stops of a scenario are multiplied. */
  readonly crowd: number
  /** Runs the programs at once. @throws {HalfWritten} when a reader saw an incomplete file. */
  run(
    programs: readonly Program[],
    seed: number,
    faults?: readonly Pick<Job, 'at' | 'fault'>[],
  ): Outcome[] | Promise<Outcome[]>
  alone(program: Program, laterMs?: number): Outcome | Promise<Outcome>
  close(): Promise<void>
}

/** The error for an incomplete file that was read while programs ran. */
export class HalfWritten extends Error {}

export type ArenaFiles = ReturnType<typeof createArenaFiles>

export function createArenaFiles(base = os.tmpdir()) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(base, 'postflight-arena-')))
  const folder = path.join(root, 'specs', TASK)
  let held: number | undefined

  const ask = (payload: Fields): Program => ({ program: 'hook', payload: JSON.stringify({ cwd: root, ...payload }) })
  const shell = (...calls: ShellCall[]): Program => ({
    program: 'shell',
    shell: calls.map((call) => ({ ...call, file: path.join('specs', TASK, call.file) })),
  })
  /** Reads the files as another program would. @throws {HalfWritten} when one is incomplete. */
  const look = (): void => {
    for (const name of [MARKER, ABANDONED]) {
      const text = textAt(path.join(folder, name))
      if (text !== undefined && !isJsonObject(text)) throw new HalfWritten(`${name}: ${JSON.stringify(text)}`)
    }
    const guard = textAt(path.join(folder, GUARD))
    const isWhole = guard === undefined || guard === GARBLED || /^\d+\n$/.test(guard)
    if (!isWhole) throw new HalfWritten(`${GUARD}: ${JSON.stringify(guard)}`)
  }

  return {
    ...{ root, folder, shell, look },
    hook: (more: Fields = {}) => ask(subagentStop(more)),
    claimsOwner: () => ask(shellRan('postflight create 259', OLD_ID, { agent_id: 'agent-a' })),
    cli: (...words: string[]): Program => ({ program: 'cli', words }),
    prepare(files: Readonly<Record<string, string>>) {
      if (held !== undefined) fs.closeSync(held)
      held = undefined
      fs.rmSync(path.join(root, 'specs'), { recursive: true, force: true })
      fs.mkdirSync(folder, { recursive: true })
      for (const [name, text] of Object.entries(files)) {
        fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
        fs.writeFileSync(path.join(folder, name), text)
        // An old time, because the processes of these claims have ended.
        if (name.startsWith(CLAIMS)) fs.utimesSync(path.join(folder, name), 1e9, 1e9)
      }
      // Kept open, so that its inode is not reused: at this speed another file with it would look like the same one.
      if (files[MARKER] !== undefined) held = fs.openSync(path.join(folder, MARKER), 'r')
    },
    /** The folder's files by their paths in it. */
    files: () => filesBelow(folder),
    /** The journal's entries for an event, or all of them; an incomplete line has the event `unreadable`. */
    journal(event?: string) {
      const text = textAt(path.join(root, 'specs', '.postflight', 'journal.jsonl')) ?? ''
      const entries = linesOf(text).map(
        (line): Record<string, unknown> => (isJsonObject(line) ? JSON.parse(line) : { event: 'unreadable' }),
      )
      return entries.filter((entry) => event === undefined || entry.event === event)
    },
    remove() {
      if (held !== undefined) fs.closeSync(held)
      fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

export function arenaEnvironment(root: string): Record<string, string> {
  return { POSTFLIGHT_ROOT: root, POSTFLIGHT_HOST_SESSION: SESSION }
}

/** An arena whose programs are threads; they make their calls one by one, in an order drawn from the seed. */
export function createArena(actors: number): Arena {
  const compiled = compileSources()
  const files = createArenaFiles(fastFolder())
  const { root, folder } = files
  const scheduler = new Scheduler(compiled.support('actor.js'), actors, root, folder)
  const env = arenaEnvironment(root)
  const job = (program: Program): Job => ({ ...program, folder: root, env, scheduled: true, at: 0, fault: 'none' })
  return {
    ...files,
    crowd: 1,
    run(programs, seed, faults = []) {
      const random = randomOf(seed)
      // Some orders are a random walk, the others change the priorities one to four times.
      const changes = random() < 0.4 ? undefined : 1 + Math.floor(random() * 4)
      const jobs = programs.map((program, index) => ({ ...job(program), ...faults[index] }))
      let seen: unknown
      const outcomes = scheduler.run(jobs, {
        seed,
        changes,
        // The error is thrown after the run: a thread that stopped in the middle could not be used again.
        afterTurn: () => {
          try {
            files.look()
          } catch (error) {
            seen ??= error
          }
        },
      })
      if (seen !== undefined) throw seen
      return outcomes
    },
    alone: (program, laterMs = 0) => scheduler.runAlone({ ...job(program), clockMs: laterMs }),
    async close() {
      await scheduler.stop()
      files.remove()
      compiled.remove()
    },
  }
}

/** Runs the sources of a program in this process, in a fiftieth of a process's time: for programs that nothing kills. */
export async function runHere(
  { program, payload, words = [] }: Program,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const { stdout, stderr, status } =
    program === 'hook' ? await SOURCES.hook([], { cwd, env, input: payload }) : await SOURCES.cli(words, { cwd, env })
  return { ...UNSEEN, stdout, stderr, exitCode: status ?? -1 }
}

/** The reasons of the outcomes that blocked. A killed program blocked if it had printed its whole answer. */
export function blocksOf(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ stdout }) => {
    if (!stdout.endsWith('\n')) return []
    const answer = JSON.parse(stdout) as { decision?: string; reason?: string }
    return answer.decision === 'block' ? [answer.reason ?? ''] : []
  })
}

export { SESSION }

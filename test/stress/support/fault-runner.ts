/**
 * Runs programs in two rooms, one in each at a time, each program perhaps with a fault. A generator describes the course of
 * events in a room: it yields the programs to run and gets their outcomes. So the same description works for threads and
 * for processes.
 */

import fs from 'node:fs'
import path from 'node:path'
import { CLI, HOOK_BUNDLE, runProcess } from '../../support/process.ts'
import { type Job, type Outcome, UNSEEN } from './actor.ts'
import { compilePreload, compileSources } from './compile.ts'
import { type Program, runHere } from './contention.ts'
import { fastFolder } from './fast-folder.ts'
import { linesOf } from './files.ts'
import type { Fault } from './instrument.ts'
import { PLAN_VARIABLE, type Plan } from './preload.ts'
import { Scheduler } from './scheduler.ts'

export interface Room {
  readonly base: string
  readonly project: string
  readonly outside: string
  readonly home: string
  /** Holds a further name of each file, so that a file which was removed can come back after a power cut. */
  readonly kept: string
}

export interface Start {
  readonly program: Program
  readonly at?: number
  readonly fault?: Fault
  /** True if the outcome shall list the calls. Without it, and without a fault, the process runner starts no process. */
  readonly isMeasured?: boolean
  /** True if the outcome shall list the changes of the disk. Threads only. */
  readonly isWatched?: boolean
  /** True for a file system that cannot sync folders. Threads only. */
  readonly cannotSyncFolders?: boolean
  /** Arguments for strace, which tampers with the system calls themselves. Processes only. */
  readonly tampering?: readonly string[]
}

export type Happening = Generator<Start, void, Outcome>

export interface FaultRunner {
  readonly count: () => number
  /** Runs all of these, two at a time. */
  runAll(happenings: Iterable<(room: Room) => Happening>): Promise<void>
  close(): Promise<void>
}

const ROOMS = 2
/** The time (ms) after which a process is killed and its test fails. */
const LIMIT_MS = 60_000

function makeRooms(): { base: string; rooms: Room[] } {
  const base = fs.realpathSync(fs.mkdtempSync(path.join(fastFolder(), 'postflight-faults-')))
  const rooms = Array.from({ length: ROOMS }, (_, index) => {
    const inside = (name: string): string => path.join(base, String(index), name)
    for (const name of ['project', 'outside', 'home', 'kept']) fs.mkdirSync(inside(name), { recursive: true })
    for (const name of ['outside', 'home']) fs.writeFileSync(path.join(inside(name), 'canary'), 'untouched')
    const [project, outside, home, kept] = [inside('project'), inside('outside'), inside('home'), inside('kept')]
    return { base: inside('.'), project, outside, home, kept }
  })
  return { base, rooms }
}

function environment(room: Room, session: string): Record<string, string> {
  return { PATH: '/usr/bin:/bin', HOME: room.home, POSTFLIGHT_HOST_SESSION: session, CLAUDECODE: '1' }
}

/** Runs the sources in threads. No process is started, so a run takes some milliseconds. */
export function createThreadRunner(session: string): FaultRunner {
  const compiled = compileSources()
  const { base, rooms } = makeRooms()
  const scheduler = new Scheduler(compiled.support('actor.js'), ROOMS, base, base)
  let count = 0
  const jobOf = (room: Room, { program, at = 0, fault = 'none', isWatched, cannotSyncFolders }: Start): Job => ({
    ...program,
    folder: room.project,
    packageFolder: compiled.folder,
    env: environment(room, session),
    scheduled: false,
    at,
    fault,
    keepsIn: isWatched === true ? room.kept : undefined,
    cannotSyncFolders,
  })
  return {
    count: () => count,
    async runAll(happenings) {
      const queue = happenings[Symbol.iterator]()
      let going: { room: Room; happening: Happening; start: Start }[] = []
      for (let turn = 0; ; turn++) {
        const free = rooms.filter((room) => going.every((one) => one.room !== room))
        for (const room of free) {
          const begun = beginNext(queue, room)
          if (begun !== undefined) going.push(begun)
        }
        if (going.length === 0) return
        const outcomes = scheduler.run(
          going.map(({ room, start }) => jobOf(room, start)),
          { seed: 0 },
        )
        count += going.length
        going = going.flatMap(({ room, happening }, index) => {
          const next = happening.next(outcomes[index] as Outcome)
          return next.done === true ? [] : [{ room, happening, start: next.value }]
        })
        // A pause for the test runner's own messages.
        if (turn % 200 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    },
    async close() {
      await scheduler.stop()
      fs.rmSync(base, { recursive: true, force: true, maxRetries: 5 })
      compiled.remove()
    },
  }
}

function beginNext(
  queue: Iterator<(room: Room) => Happening>,
  room: Room,
): { room: Room; happening: Happening; start: Start } | undefined {
  for (;;) {
    const next = queue.next()
    if (next.done === true) return undefined
    const happening = next.value(room)
    const first = happening.next()
    if (first.done !== true) return { room, happening, start: first.value }
  }
}

export function createProcessRunner(session: string): FaultRunner {
  const compiled = compilePreload()
  const { base, rooms } = makeRooms()
  const preload = compiled.support('preload.js')
  let count = 0
  return {
    count: () => count,
    async runAll(happenings) {
      const queue = happenings[Symbol.iterator]()
      const work = async (room: Room): Promise<void> => {
        for (let begun = beginNext(queue, room); begun !== undefined; begun = beginNext(queue, room)) {
          let start = begun.start
          for (;;) {
            count += 1
            const env = environment(room, session)
            // The sources of the hook do not have the bundle that knows runs.
            const hasRun = fs.existsSync(path.join(room.project, 'specs/.postflight/running'))
            const isPlain = [start.at, start.tampering, start.isMeasured].every((one) => one === undefined)
            const needsProcess = !isPlain || (hasRun && start.program.program === 'hook')
            const outcome = needsProcess
              ? runAsProcess(room, start, preload, env)
              : runHere(start.program, room.project, env)
            const next = begun.happening.next(await outcome)
            if (next.done === true) break
            start = next.value
          }
        }
      }
      await Promise.all(rooms.map(work))
    },
    async close() {
      fs.rmSync(base, { recursive: true, force: true, maxRetries: 5 })
      compiled.remove()
    },
  }
}

async function runAsProcess(
  room: Room,
  { program, tampering, at, fault }: Start,
  preload: string,
  clean: Record<string, string>,
): Promise<Outcome> {
  const log = path.join(room.base, 'calls')
  const plan: Plan = { folders: [room.project], at, fault, log }
  const file = program.program === 'hook' ? [HOOK_BUNDLE] : [CLI, ...(program.words ?? [])]
  const [command, words, env] =
    tampering === undefined
      ? [process.execPath, ['--require', preload, ...file], { ...clean, [PLAN_VARIABLE]: JSON.stringify(plan) }]
      : ['strace', [...tampering, process.execPath, ...file], clean]
  fs.writeFileSync(log, '')
  const options = { cwd: room.project, env, input: program.payload, limitMs: LIMIT_MS }
  const { stdout, stderr, status, signal, durationMs } = await runProcess(command, words, options)
  if (durationMs >= LIMIT_MS || ![null, 'SIGKILL'].includes(signal)) throw new Error(`ended by ${signal}: ${stderr}`)
  const calls = linesOf(fs.readFileSync(log, 'utf8'))
  // A process may make other calls than the one that was measured: a lock may be held, or the clock another one.
  const faulted = at === undefined ? undefined : calls[at - 1]
  return { ...UNSEEN, stdout, stderr, exitCode: status ?? -1, killed: signal !== null, calls, faulted }
}

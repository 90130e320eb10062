/**
 * Runs programs in two rooms, one in each at a time, each program perhaps with a fault. A generator describes the course of
 * events in a room: it yields the programs to run and gets their outcomes. So the same description works for threads and
 * for processes.
 */

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { outputOf } from '../../support/child-output.ts'
import { CLI, HOOK_BUNDLE } from '../../support/process.ts'
import type { Fault, Job, Outcome } from './actor.ts'
import { compilePreload, compileSources } from './compile.ts'
import type { Program } from './contention.ts'
import { fastFolder } from './fast-folder.ts'
import { PLAN_VARIABLE, type Plan } from './preload.ts'
import { Scheduler } from './scheduler.ts'

/** A folder with a project, and folders outside of the project. */
export interface Room {
  readonly base: string
  readonly project: string
  readonly outside: string
  readonly home: string
  /** Holds a further name of each file, so that a file which was removed can come back after a power cut. */
  readonly kept: string
}

/** A program, and a fault at one of its file-system calls, counted from 1. */
export interface Start {
  readonly program: Program
  readonly at?: number
  readonly fault?: Fault
  /** True if the outcome shall list the changes of the disk. Threads only. */
  readonly isWatched?: boolean
  /** True for a file system that cannot sync folders. Threads only. */
  readonly cannotSyncFolders?: boolean
  /** Arguments for strace, which tampers with the system calls themselves. Processes only. */
  readonly tampering?: readonly string[]
}

/** The course of events in a room. */
export type Happening = Generator<Start, void, Outcome>

export interface FaultRunner {
  readonly kind: 'threads' | 'processes'
  /** The number of programs run so far. */
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
    const room = path.join(base, String(index))
    const inside = (name: string): string => path.join(room, name)
    for (const name of ['project', 'outside', 'home', 'kept']) fs.mkdirSync(inside(name), { recursive: true })
    for (const name of ['outside', 'home']) fs.writeFileSync(path.join(inside(name), 'canary'), 'untouched')
    return {
      base: room,
      project: inside('project'),
      outside: inside('outside'),
      home: inside('home'),
      kept: inside('kept'),
    }
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
    kind: 'threads',
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

/** Starts the next course of events that runs a program. */
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

/** Runs the built files as processes. */
export function createProcessRunner(session: string): FaultRunner {
  const compiled = compilePreload()
  const { base, rooms } = makeRooms()
  const preload = compiled.support('preload.js')
  let count = 0
  return {
    kind: 'processes',
    count: () => count,
    async runAll(happenings) {
      const queue = happenings[Symbol.iterator]()
      const work = async (room: Room): Promise<void> => {
        for (let begun = beginNext(queue, room); begun !== undefined; begun = beginNext(queue, room)) {
          let start = begun.start
          for (;;) {
            count += 1
            const next = begun.happening.next(await runAsProcess(room, start, preload, environment(room, session)))
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

function planOf(room: Room, { at = 0, fault = 'none' }: Start, log: string): Plan {
  const code = fault.slice(fault.indexOf(':') + 1)
  const what: Plan['what'] =
    fault === 'none'
      ? { kind: 'nothing' }
      : fault === 'short'
        ? { kind: 'short' }
        : fault.startsWith('error')
          ? { kind: 'error', code, all: fault.startsWith('errors:') }
          : { kind: 'kill', when: fault === 'kill' ? 'before' : fault === 'kill-half' ? 'half' : 'after' }
  return { folders: [room.project], at, what, log }
}

function runAsProcess(room: Room, start: Start, preload: string, env: Record<string, string>): Promise<Outcome> {
  const { program, tampering } = start
  const log = path.join(room.base, 'calls')
  const file = program.program === 'hook' ? [HOOK_BUNDLE] : [CLI, ...(program.words ?? [])]
  const [command, ...words] =
    tampering === undefined
      ? [process.execPath, '--require', preload, ...file]
      : ['strace', ...tampering, process.execPath, ...file]
  if (tampering === undefined) fs.writeFileSync(log, '')
  const child = spawn(command as string, words, {
    cwd: room.project,
    env: tampering === undefined ? { ...env, [PLAN_VARIABLE]: JSON.stringify(planOf(room, start, log)) } : env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const output = outputOf(child)
  child.stdin.on('error', () => {})
  child.stdin.end(program.payload ?? '')
  let late = false
  const timer = setTimeout(() => {
    late = true
    child.kill('SIGKILL')
  }, LIMIT_MS)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      if (late || (signal !== null && signal !== 'SIGKILL')) reject(new Error(`ended by ${signal}: ${output.stderr}`))
      const calls =
        tampering === undefined
          ? fs
              .readFileSync(log, 'utf8')
              .split('\n')
              .filter((line) => line !== '')
          : []
      resolve({
        ...output,
        exitCode: code ?? -1,
        killed: signal !== null,
        calls,
        times: [],
        faulted: undefined,
        changes: [],
      })
    })
  })
}

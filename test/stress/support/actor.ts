/**
 * One of several programs that run at once, each in a worker thread of its own: the hook or a CLI command, from the
 * sources. Its file-system calls wait for the scheduler, one by one. A killed thread makes no further call, so it leaves the
 * same files as a killed process.
 */

import type { Stats } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { changeBy, type DiskChange } from './disk.ts'
import { halfOf, instrument, original, systemError } from './instrument.ts'

/** The kernel's file with a process's age. Here it would tell the age of the process of all threads. */
const KERNELS_AGE = '/proc/self/stat'

/** A program with its surroundings. */
export interface Job {
  /** The hook with a payload, the CLI with arguments, or changes to files as a skill's bash makes them. */
  readonly program: 'hook' | 'cli' | 'shell'
  readonly payload?: string
  readonly words?: readonly string[]
  readonly shell?: readonly ShellCall[]
  readonly folder: string
  /** The package's folder; by default `folder`. */
  readonly packageFolder?: string
  readonly env: Readonly<Record<string, string>>
  /** True when each call waits for the scheduler. */
  readonly scheduled: boolean
  /** The call (from 1) at which the fault happens; 0 for none. */
  readonly at: number
  readonly fault: Fault
  /** The virtual ms by which this job starts later than in real time. */
  readonly clockMs?: number
  /** A folder that gets a further name of each file that is written: its changes of the disk are then part of the outcome. */
  readonly keepsIn?: string | undefined
  /** True for a file system that cannot sync folders, as some network folders. */
  readonly cannotSyncFolders?: boolean | undefined
}

/** A fault at a call. `errors`: that call and every later one of its name fail. */
/** `clock`: the clock of all programs is set by that many ms; what measures a process's age goes on. */
export type Fault =
  | 'none'
  | `clock:${number}`
  | 'kill'
  | 'kill-half'
  | 'kill-after'
  | 'short'
  | `error:${string}`
  | `errors:${string}`

/** A change by a shell. `write`: as `cat >`; `replace`: as `mv`; `remove`: as `rm -f`. Paths are relative to the job's folder. */
export type ShellCall =
  | { readonly call: 'write' | 'replace'; readonly file: string; readonly text: string }
  | { readonly call: 'remove'; readonly file: string }
  | { readonly call: 'move'; readonly file: string; readonly to: string }

/** The result of a job. */
export interface Outcome {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly killed: boolean
  /** Its calls, in order. */
  readonly calls: readonly string[]
  /** The position of each call among the calls of all actors. */
  readonly times: readonly number[]
  readonly faulted: string | undefined
  /** What its calls changed on the disk, with `keepsIn`. */
  readonly changes: readonly DiskChange[]
}

/** Memory that is shared with the scheduler: one word per actor and kind. */
export interface Shared {
  readonly index: number
  /** Calls about files below this folder can be made to fail. */
  readonly folder: string
  /** Calls about files below this folder are turns: only there can actors affect each other. */
  readonly arena: string
  readonly results: MessagePort
  /** 0 idle, 1 at a call, 2 running, 3 done. */
  readonly states: Int32Array
  readonly permits: Int32Array
  /** The number of state changes, on which the scheduler waits. */
  readonly changes: Int32Array
  /** Set while the actor polls a lock that another one holds. */
  readonly polling: Int32Array
  /** The number of calls of all actors. */
  readonly calls: Int32Array
  /** The virtual ms that all actors have waited. */
  readonly clock: Int32Array
  /** The ms by which the clock was set. */
  readonly set: Int32Array
}

export const STATE = { idle: 0, waiting: 1, running: 2, done: 3 } as const

/** Thrown at every call of a killed actor. */
class Killed extends Error {}

const port = parentPort
if (port !== null) {
  // Most errors are answers of the file system that the program expects; each line of a stack takes time.
  Error.stackTraceLimit = 1
  const shared = workerData as Shared
  const actor = createActor(shared)
  port.on('message', (job: Job) => {
    void actor(job).then((outcome) => {
      shared.results.postMessage(outcome)
      setState(shared, STATE.done)
    })
  })
}

function setState(shared: Shared, state: number): void {
  Atomics.store(shared.states, shared.index, state)
  Atomics.add(shared.changes, 0, 1)
  Atomics.notify(shared.changes, 0)
}

function createActor(shared: Shared): (job: Job) => Promise<Outcome> {
  const realNow = Date.now.bind(Date)
  const realPerformanceNow = performance.now.bind(performance)
  const realWait = Atomics.wait.bind(Atomics)
  let job: Job | undefined
  let calls: string[] = []
  let times: number[] = []
  let dead = false
  let startedMs = 0
  /** The virtual ms that this actor has waited when it ran alone. */
  let ownMs = 0
  let faulted: string | undefined
  let failing: string | undefined
  let changes: DiskChange[] = []
  let stdout = ''
  let stderr = ''

  const pause = (): void => {
    if (job?.scheduled !== true) return
    setState(shared, STATE.waiting)
    while (Atomics.exchange(shared.permits, shared.index, 0) === 0) realWait(shared.permits, shared.index, 0)
    Atomics.store(shared.states, shared.index, STATE.running)
  }
  const waitedMs = (): number => (job?.scheduled === true ? Atomics.load(shared.clock, 0) : ownMs)
  const setMs = (): number => (job?.scheduled === true ? Atomics.load(shared.set, 0) : 0)
  Date.now = () => realNow() + waitedMs() + setMs() + (job?.clockMs ?? 0)
  // Counted from the job's start, as in a process of its own.
  performance.now = () => realPerformanceNow() - startedMs + waitedMs()
  process.uptime = () => performance.now() / 1000
  // Replaces the sleep of a lock's poll: other actors go on during it, and virtual time passes only here.
  Atomics.wait = ((array: Int32Array, index: number, value: number, timeout?: number) => {
    if (dead) throw new Killed()
    if (job?.scheduled === true) Atomics.add(shared.clock, 0, Math.ceil(timeout ?? 1))
    else ownMs += Math.ceil(timeout ?? 1)
    Atomics.store(shared.polling, shared.index, 1)
    pause()
    Atomics.store(shared.polling, shared.index, 0)
    void array
    void index
    void value
    return 'timed-out'
  }) as typeof Atomics.wait

  // A call without an effect on other actors needs no turn.
  const isTurn = (name: string, file: string): boolean =>
    file === '<stdout>' ||
    (file.startsWith(shared.arena) && !['fsyncSync', 'closeSync', 'fstatSync', 'realpathSync'].includes(name))

  const { closeLeft } = instrument([shared.folder, KERNELS_AGE], (call, run) => {
    if (dead) throw new Killed()
    if (call.file === KERNELS_AGE) throw systemError('ENOENT', call)
    const isSync = call.name === 'fsyncSync'
    if (isTurn(call.name, call.file)) pause()
    if (call.file === '<stderr>') {
      stderr += String(call.args[1])
      return String(call.args[1]).length
    }
    calls.push(`${call.name} ${call.file}`)
    times.push(Atomics.add(shared.calls, 0, 1))
    const fault = job !== undefined && calls.length === job.at ? job.fault : 'none'
    if (fault !== 'none') faulted = calls.at(-1)
    const perform = (args?: readonly unknown[]): unknown => {
      // Waiting for the disk takes milliseconds and changes nothing visible.
      if (call.file !== '<stdout>') {
        const result = isSync ? undefined : run(args)
        // The kernel's clock cannot be set. What is read of a new file is the time of its last change.
        if (setMs() !== 0 && call.name === 'openSync' && call.args[1] === 'wx') {
          const now = Date.now() / 1000
          original.utimesSync?.(call.file, now, now)
        }
        if (job?.keepsIn !== undefined) changes.push(...changeBy(call, calls.length, job.keepsIn))
        return result
      }
      const bytes = Buffer.from(call.args[1] as Uint8Array)
      const [, , offset, length] = args ?? call.args
      const start = typeof offset === 'number' ? offset : 0
      const written = bytes.subarray(start, typeof length === 'number' ? start + length : undefined)
      stdout += written.toString('utf8')
      return written.length
    }
    // Errors of stdout are left out: the program could not report them.
    if (call.file !== '<stdout>') {
      if (fault.startsWith('errors:')) failing = call.name
      if (fault.startsWith('error')) throw systemError(fault.slice(fault.indexOf(':') + 1), call)
      if (failing === call.name) throw systemError((job as Job).fault.slice('errors:'.length), call)
    }
    if (isSync && job?.cannotSyncFolders === true && isFolder(call.file)) throw systemError('EINVAL', call)
    if (fault.startsWith('clock:')) Atomics.add(shared.set, 0, Number(fault.slice('clock:'.length)))
    if (fault === 'short') return perform(halfOf(call)?.args)
    if (fault.startsWith('kill')) {
      if (fault === 'kill-after') perform()
      const half = fault === 'kill-half' ? halfOf(call) : undefined
      if (half !== undefined) perform(half.args)
      dead = true
      throw new Killed()
    }
    return perform()
  })

  return async (next) => {
    job = next
    startedMs = realPerformanceNow()
    calls = []
    times = []
    dead = false
    ownMs = 0
    faulted = undefined
    failing = undefined
    changes = []
    stdout = ''
    stderr = ''
    process.env = { ...next.env }
    process.cwd = () => next.folder
    let exitCode = 0
    const say = {
      out: (text: string) => {
        if (!dead) stdout += text
      },
      error: (text: string) => {
        if (!dead) stderr += text
      },
    }
    try {
      if (next.program === 'hook') await runHookProgram(next)
      else if (next.program === 'cli') exitCode = await runCliProgram(next, say)
      else runShell(next)
    } catch (error) {
      if (!dead) {
        stderr += `UNCAUGHT ${(error as Error).stack}\n`
        exitCode = 70
      }
    }
    closeLeft()
    job = undefined
    return { stdout, stderr, exitCode, killed: dead, calls, times, faulted, changes }
  }
}

function isFolder(file: string): boolean {
  const stats = original.lstatSync?.(file) as Stats
  return stats.isDirectory()
}

async function runHookProgram(job: Job): Promise<void> {
  const { runHook } = await import('../../../src/hook/run-hook.ts')
  Object.defineProperty(process, 'stdin', {
    value: Readable.from([Buffer.from(job.payload ?? '')]),
    configurable: true,
  })
  await runHook()
}

/** Runs the CLI in this thread. */
async function runCliProgram(
  job: Job,
  say: { readonly out: (text: string) => void; readonly error: (text: string) => void },
): Promise<number> {
  const { main } = await import('../../../src/cli/main.ts')
  const { processStartMs } = await import('../../../src/disk/age.ts')
  let exitCode = 0
  await main(job.words ?? [], {
    version: '0.0.0',
    stdout: { write: say.out },
    stderr: { write: say.error },
    contextNow: (rootOption) => ({
      environment: process.env,
      cwd: process.cwd(),
      nowMs: Date.now(),
      findStart: processStartMs,
      rootOption,
      packageFolder: job.packageFolder ?? job.folder,
      findHome: () => job.folder,
      platform: process.platform,
      isOutputCaught: () => false,
      note: (text) => say.error(`${text}\n`),
    }),
    endWith: (code) => {
      exitCode = code
    },
  })
  return exitCode
}

function runShell(job: Job): void {
  // The replaced methods, so that each call is a turn.
  const fs = process.getBuiltinModule('node:fs')
  for (const one of job.shell ?? []) {
    const file = path.join(job.folder, one.file)
    if (one.call === 'remove') fs.rmSync(file, { force: true })
    else if (one.call === 'write') fs.writeFileSync(file, one.text)
    else if (one.call === 'move') fs.renameSync(file, path.join(job.folder, one.to))
    else {
      const beside = `${file}.new`
      original.writeFileSync?.(beside, one.text)
      fs.renameSync(beside, file)
    }
  }
}

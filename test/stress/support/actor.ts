/**
 * One of several programs that run at once, each in a worker thread of its own: the hook or a CLI command, from the
 * sources. Its file-system calls wait for the scheduler, one by one. A killed thread makes no further call, so it leaves the
 * same files as a killed process.
 */

import type { Stats } from 'node:fs'
import { Readable } from 'node:stream'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { changeBy, type DiskChange } from './disk.ts'
import { type Around, type Fault, instrument, original, systemError, withFault } from './instrument.ts'
import { changeByShell, type ShellCall } from './shell.ts'

/** The kernel's file with a process's age. Here it would tell the age of the process of all threads. */
const KERNELS_AGE = '/proc/self/stat'

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

export interface Outcome {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly killed: boolean
  readonly calls: readonly string[]
  /** The position of each call among the calls of all actors. */
  readonly times: readonly number[]
  readonly faulted?: string | undefined
  /** What its calls changed on the disk, with `keepsIn`. */
  readonly changes: readonly DiskChange[]
}

/** The outcome of a program whose calls nobody saw. */
export const UNSEEN = { stdout: '', stderr: '', exitCode: 0, killed: false, calls: [], times: [], changes: [] }

export interface Memory {
  /** One word for each actor: 0 idle, 1 at a call, 2 running, 3 done. */
  readonly states: Int32Array
  readonly permits: Int32Array
  /** Set while the actor polls a lock that another one holds. */
  readonly polling: Int32Array
  /** The number of state changes, on which the scheduler waits. */
  readonly changes: Int32Array
  readonly calls: Int32Array
  /** The virtual ms that all actors have waited. */
  readonly clock: Int32Array
  /** The ms by which the clock was set. */
  readonly set: Int32Array
}

export interface Shared extends Memory {
  readonly index: number
  /** Calls about files below this folder can be made to fail. */
  readonly folder: string
  /** Calls about files below this folder are turns: only there can actors affect each other. */
  readonly arena: string
  readonly results: MessagePort
}

export const STATE = { idle: 0, waiting: 1, running: 2, done: 3 } as const

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

interface Running {
  readonly job: Job
  readonly around: Around
  readonly startedMs: number
  readonly calls: string[]
  readonly times: number[]
  readonly changes: DiskChange[]
  stdout: string
  stderr: string
  killed: boolean
  faulted?: string
}

function createActor(shared: Shared): (job: Job) => Promise<Outcome> {
  const realNow = Date.now.bind(Date)
  const realPerformanceNow = performance.now.bind(performance)
  const realWait = Atomics.wait.bind(Atomics)
  let now: Running | undefined
  /** The virtual ms that this actor has waited when it ran alone. */
  let ownMs = 0

  const die = (): never => {
    if (now !== undefined) now.killed = true
    throw new Killed()
  }
  const pause = (): void => {
    if (now?.job.scheduled !== true) return
    setState(shared, STATE.waiting)
    while (Atomics.exchange(shared.permits, shared.index, 0) === 0) realWait(shared.permits, shared.index, 0)
    Atomics.store(shared.states, shared.index, STATE.running)
  }
  const waitedMs = (): number => (now?.job.scheduled === true ? Atomics.load(shared.clock, 0) : ownMs)
  const setMs = (): number => (now?.job.scheduled === true ? Atomics.load(shared.set, 0) : 0)
  Date.now = () => realNow() + waitedMs() + setMs() + (now?.job.clockMs ?? 0)
  // Counted from the job's start, as in a process of its own.
  performance.now = () => realPerformanceNow() - (now?.startedMs ?? 0) + waitedMs()
  process.uptime = () => performance.now() / 1000
  // Replaces the sleep of a lock's poll: other actors go on during it, and virtual time passes only here.
  Atomics.wait = ((_array: Int32Array, _index: number, _value: number, timeout?: number) => {
    if (now?.killed === true) throw new Killed()
    if (now?.job.scheduled === true) Atomics.add(shared.clock, 0, Math.ceil(timeout ?? 1))
    else ownMs += Math.ceil(timeout ?? 1)
    Atomics.store(shared.polling, shared.index, 1)
    pause()
    Atomics.store(shared.polling, shared.index, 0)
    return 'timed-out'
  }) as typeof Atomics.wait

  // A call without an effect on other actors needs no turn.
  const isTurn = (name: string, file: string): boolean =>
    file === '<stdout>' ||
    (file.startsWith(shared.arena) && !['fsyncSync', 'closeSync', 'fstatSync', 'realpathSync'].includes(name))

  const { closeLeft } = instrument([shared.folder, KERNELS_AGE], (call, run) => {
    if (now === undefined) return run()
    if (now.killed) throw new Killed()
    if (call.file === KERNELS_AGE) throw systemError('ENOENT', call)
    if (isTurn(call.name, call.file)) pause()
    if (call.file === '<stderr>') {
      now.stderr += String(call.args[1])
      return String(call.args[1]).length
    }
    const { job, calls, times, changes } = now
    calls.push(`${call.name} ${call.file}`)
    times.push(Atomics.add(shared.calls, 0, 1))
    if (calls.length === job.at && job.fault !== 'none') now.faulted = calls.at(-1) ?? ''
    if (calls.length === job.at && job.fault.startsWith('clock:'))
      Atomics.add(shared.set, 0, Number(job.fault.slice('clock:'.length)))
    return now.around(call, (args = call.args) => {
      if (call.file === '<stdout>') {
        const [, text, offset, length] = args
        const bytes = Buffer.from(text as Uint8Array)
        const start = typeof offset === 'number' ? offset : 0
        const written = bytes.subarray(start, typeof length === 'number' ? start + length : undefined)
        if (now !== undefined) now.stdout += written.toString('utf8')
        return written.length
      }
      const isSync = call.name === 'fsyncSync'
      if (isSync && job.cannotSyncFolders === true && isFolder(call.file)) throw systemError('EINVAL', call)
      // Waiting for the disk takes milliseconds and changes nothing visible.
      const result = isSync ? undefined : run(args)
      // The kernel's clock cannot be set. What is read of a new file is the time of its last change.
      if (setMs() !== 0 && call.name === 'openSync' && call.args[1] === 'wx') {
        original.utimesSync?.(call.file, Date.now() / 1000, Date.now() / 1000)
      }
      if (job.keepsIn !== undefined) changes.push(...changeBy(call, calls.length, job.keepsIn))
      return result
    })
  })

  return async (job) => {
    const around = withFault(job.at, job.fault, die)
    const startedMs = realPerformanceNow()
    const seen: Running = { job, around, startedMs, ...UNSEEN, calls: [], times: [], changes: [] }
    now = seen
    ownMs = 0
    process.env = { ...job.env }
    process.cwd = () => job.folder
    let exitCode = 0
    const say = (name: 'stdout' | 'stderr') => (text: string) => {
      if (!seen.killed) seen[name] += text
    }
    try {
      if (job.program === 'hook') await runHookProgram(job)
      else if (job.program === 'cli') exitCode = await runCliProgram(job, say('stdout'), say('stderr'))
      else for (const change of job.shell ?? []) changeByShell(job.folder, change)
    } catch (error) {
      if (!seen.killed) {
        seen.stderr += `UNCAUGHT ${(error as Error).stack}\n`
        exitCode = 70
      }
    }
    closeLeft()
    // What a killed program has left to do makes no further call.
    if (!seen.killed) now = undefined
    const { stdout, stderr, killed, calls, times, faulted, changes } = seen
    return { stdout, stderr, exitCode, killed, calls, times, faulted, changes }
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

async function runCliProgram(
  job: Job,
  write: (text: string) => void,
  complain: (text: string) => void,
): Promise<number> {
  const { main } = await import('../../../src/cli/main.ts')
  const { processStartMs } = await import('../../../src/disk/age.ts')
  let exitCode = 0
  await main(job.words ?? [], {
    version: '0.0.0',
    stdout: { write },
    stderr: { write: complain },
    contextNow: (rootOption) => ({
      environment: { ...process.env, HOME: job.folder },
      cwd: process.cwd(),
      nowMs: Date.now(),
      findStart: processStartMs,
      rootOption,
      packageFolder: job.packageFolder ?? job.folder,
      findHome: () => job.folder,
      platform: process.platform,
      isOutputCaught: () => false,
      note: (text) => complain(`${text}\n`),
    }),
    endWith: (code) => {
      exitCode = code
    },
  })
  return exitCode
}

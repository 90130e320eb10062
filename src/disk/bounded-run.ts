import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { processAgeMs } from './age.ts'
import { errorCode } from './file-facts.ts'

/**
 * Runs a shell command within bounds: its time, the memory for its output, and its processes are limited. It gets no
 * stdin and a process group of its own, which ends when the time is used up or a signal ends this process.
 */

/** The number of bytes of the output that are kept, from the end. */
const KEPT_BYTES = 4_096

/** After the command has ended, its output is read for this time (ms): a process that it left may hold the pipe for ever. */
const DRAIN_MS = 200

/** A group that does not end within this time (ms) after SIGTERM is killed. */
const GRACE_MS = 2_000

const POLL_MS = 50

/** After each piece of output of this size (bytes) the garbage is collected: 500 MB cost 18 MB of memory instead of 43. */
const COLLECT_EVERY = 4_194_304

/** The signals that end this process, and the command with it. */
const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** A command and its bounds. */
export interface BoundedCommand {
  readonly command: string
  readonly cwd: string
  readonly limitMs: number
  /** Ends the command when it is raised. */
  readonly signal?: AbortSignal | undefined
  /** True if a signal that ends this process also ends the command. False in a process that is not ours alone. */
  readonly obeysSignals: boolean
}

/** How a command ended. */
export type CommandEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly limitMs: number }
  | { readonly kind: 'interrupted'; readonly by: string }
  /** The shell could not be started. */
  | { readonly kind: 'not-started'; readonly detail: string }

/** The result of a command. */
export interface CommandRun {
  readonly end: CommandEnd
  readonly durationMs: number
  /** The last part of what it printed, stdout and stderr in the order in which they arrived. */
  readonly output: string
}

/** Runs a command with `sh -c` to its end, or to its bounds. Never rejects. */
export async function runBounded(bounded: BoundedCommand): Promise<CommandRun> {
  const startedMs = processAgeMs()
  const tail = new OutputTail()
  // Before the command starts: a signal must not end this process alone.
  const bounds = watchBounds(bounded)
  const child = start(bounded)
  if (typeof child === 'string') {
    bounds.unwatch()
    return { end: { kind: 'not-started', detail: child }, durationMs: 0, output: '' }
  }
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => tail.add(chunk))
    stream.on('error', () => {})
  }
  const end = await Promise.race([endOf(child), bounds.reached])
  if (end.kind === 'timed-out' || end.kind === 'interrupted') await endGroup(child)
  bounds.unwatch()
  await drained(child)
  for (const stream of [child.stdout, child.stderr]) stream.destroy()
  return { end, durationMs: Math.round(processAgeMs() - startedMs), output: tail.text() }
}

/** Starts the command, or returns why that failed. */
function start({ command, cwd }: BoundedCommand): ChildProcessByStdio<null, Readable, Readable> | string {
  try {
    return spawn('sh', ['-c', command], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
  } catch (error) {
    // A command with a NUL character, or no memory for a process.
    return errorCode(error)
  }
}

/** The result of a command that ends by itself. */
function endOf(child: ChildProcess): Promise<CommandEnd> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ kind: 'not-started', detail: errorCode(error) }))
    child.once('exit', (exitCode, by) =>
      resolve(by === null ? { kind: 'exited', exitCode: exitCode ?? 0 } : { kind: 'killed', signal: by }),
    )
  })
}

/** Watches for the bounds of a command, until `unwatch` is called. */
function watchBounds({ limitMs, signal, obeysSignals }: BoundedCommand): {
  readonly reached: Promise<CommandEnd>
  readonly unwatch: () => void
} {
  let unwatch = (): void => {}
  const reached = new Promise<CommandEnd>((resolve) => {
    const timer = setTimeout(() => resolve({ kind: 'timed-out', limitMs }), limitMs)
    const interrupt = (by: string): void => resolve({ kind: 'interrupted', by })
    const onAbort = (): void => interrupt('abort')
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted === true) onAbort()
    const signals = obeysSignals ? ENDING_SIGNALS : []
    for (const name of signals) process.on(name, interrupt)
    unwatch = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      for (const name of signals) process.off(name, interrupt)
    }
  })
  return { reached, unwatch }
}

/** Ends the command's process group: first with SIGTERM, then with SIGKILL. */
async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => {},
    )
    return
  }
  const deadline = processAgeMs() + GRACE_MS
  tellGroup(child.pid, 'SIGTERM')
  while (tellGroup(child.pid, 0) && processAgeMs() < deadline) await pause(POLL_MS)
  tellGroup(child.pid, 'SIGKILL')
}

/** Sends a signal to a process group; false when it has no process. */
function tellGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal)
  } catch {
    return false
  }
}

/** Waits until both streams have ended, but not for long. */
async function drained(child: ChildProcess): Promise<void> {
  const closed = [child.stdout, child.stderr].map(
    (stream) => stream?.readableEnded === true || new Promise((resolve) => stream?.once('close', resolve)),
  )
  const waiting = new AbortController()
  await Promise.race([Promise.all(closed), pause(DRAIN_MS, waiting.signal)])
  waiting.abort()
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** The last bytes of a stream. */
class OutputTail {
  #kept = Buffer.alloc(0)
  #isCut = false
  #sinceCollection = 0

  add(chunk: Buffer): void {
    const joined = chunk.length >= KEPT_BYTES ? chunk : Buffer.concat([this.#kept, chunk])
    this.#isCut ||= joined.length > KEPT_BYTES || (chunk.length >= KEPT_BYTES && this.#kept.length > 0)
    // A copy, so that the chunk itself can be freed.
    this.#kept = Buffer.from(joined.subarray(-KEPT_BYTES))
    this.#sinceCollection += chunk.length
    if (this.#sinceCollection < COLLECT_EVERY) return
    this.#sinceCollection = 0
    collectGarbage()
  }

  text(): string {
    const text = this.#kept.toString('utf8')
    // The cut may lie within a character.
    return this.#isCut ? `…${text.replace(/^\ufffd{1,3}/, '')}` : text
  }
}

let collect: ((options: { readonly type: 'minor' }) => void) | undefined

/** Frees the chunks that were read. V8 would let 40 MB of them gather. Does nothing on another engine. */
function collectGarbage(): void {
  try {
    if (collect === undefined) {
      process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
      collect = process.getBuiltinModule('node:vm').runInNewContext('gc')
    }
    collect?.({ type: 'minor' })
  } catch {
    collect = () => {}
  }
}

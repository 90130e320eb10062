import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { attempt } from '../kernel/values.ts'
import { processAgeMs, sleep } from './age.ts'
import { errorCode } from './file-facts.ts'

const KEPT_BYTES = 4_096

/** A process that the command left behind may hold the pipe open forever. */
const DRAIN_MS = 200

const GRACE_MS = 2_000
const POLL_MS = 50

/** Bytes. 500 MB of output cost 18 MB of memory instead of 43. */
const COLLECT_EVERY = 4_194_304

const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']

const ABORTED = 'abort'

export interface RunLimits {
  readonly limitMs: number
  readonly signal?: AbortSignal | undefined
  /** A signal to this process ends the command. Whether this process then continues, to report it. */
  readonly survivesSignals: boolean
}

interface GroupCommand extends RunLimits, Pick<SpawnOptions, 'cwd' | 'env'> {
  readonly file: string
  readonly words: readonly string[]
  readonly input?: Buffer | string | undefined
  /** Whether its processes also end if this process is killed: that takes another process. */
  readonly isGuarded?: boolean
  readonly onOutput: (chunk: Buffer) => void
  readonly onErrors: (chunk: Buffer) => void
}

type CommandEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly limitMs: number }
  | { readonly kind: 'interrupted'; readonly by: string }
  | { readonly kind: 'not-started'; readonly detail: string }

/** Never rejects. */
export async function runBounded({ command, ...bounds }: RunLimits & Readonly<{ command: string; cwd: string }>) {
  const startedMs = processAgeMs()
  const tail = new OutputTail()
  const add = (chunk: Buffer): void => tail.add(chunk)
  const end = await runGroup({
    file: 'sh',
    words: ['-c', command],
    isGuarded: true,
    ...bounds,
    onOutput: add,
    onErrors: add,
  })
  return { end, durationMs: Math.round(processAgeMs() - startedMs), output: tail.text() }
}

/** Runs a program in a process group and a session of its own, which has no terminal. Never rejects. */
export async function runGroup(command: GroupCommand): Promise<CommandEnd> {
  // Before the start: a signal must not end this process alone.
  const bounds = watchBounds(command)
  const guard = command.isGuarded ? attempt(startGuard) : undefined
  const child = start(command)
  if (typeof child === 'string') {
    guard?.kill('SIGKILL')
    bounds.unwatch()
    return { kind: 'not-started', detail: child }
  }
  guard?.stdin?.write(`${child.pid}\n`)
  child.stdout?.on('data', command.onOutput)
  child.stderr?.on('data', command.onErrors)
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
  child.stdin?.end(command.input)
  // Once it has ended and all of its output was read.
  const closed = new Promise((resolve) => child.once('close', resolve))
  const end = await Promise.race([endOf(child), bounds.reached])
  if (end.kind === 'timed-out' || end.kind === 'interrupted') await endGroup(child)
  guard?.kill('SIGKILL')
  bounds.unwatch()
  const isSignal = end.kind === 'interrupted' && end.by !== ABORTED
  // The terminal and the system signal this process only: the command has a group of its own.
  if (isSignal && !command.survivesSignals && process.listenerCount(end.by) === 0) process.kill(process.pid, end.by)
  const drain = new AbortController()
  await Promise.race([closed, sleep(DRAIN_MS, drain.signal)])
  drain.abort()
  // A busy event loop runs a timer before it reads.
  await new Promise(setImmediate)
  for (const stream of [child.stdout, child.stderr]) stream?.destroy()
  return end
}

/** Node makes no streams if no file descriptor is free (EMFILE). */
function start({ file, words, cwd, env, input }: GroupCommand): ChildProcess | string {
  try {
    return spawn(file, words, {
      cwd,
      env,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
  } catch (error) {
    return errorCode(error)
  }
}

/**
 * Ends the group if this process is killed, which closes the pipe. Codex 0.171.0 sends SIGKILL at Ctrl-C, and Qwen Code
 * 0.24.4 200 ms after SIGTERM.
 */
function startGuard(): ChildProcess | undefined {
  // Without a free file descriptor, Bun 1.3.14 would wait for it, and it for Bun.
  if (process.platform === 'win32' || process.versions.bun !== undefined) return undefined
  const end = `kill -TERM "-$leader"; sleep ${GRACE_MS / 1_000}; kill -KILL "-$leader"`
  const script = `read -r leader && { read -r _; ${end}; }`
  const guard = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.on('error', () => {})
  guard.stdin.on('error', () => {})
  guard.unref()
  return guard
}

function endOf(child: ChildProcess): Promise<CommandEnd> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ kind: 'not-started', detail: errorCode(error) }))
    child.once('exit', (exitCode, by) =>
      resolve(by === null ? { kind: 'exited', exitCode: exitCode ?? 0 } : { kind: 'killed', signal: by }),
    )
  })
}

function watchBounds({ limitMs, signal }: RunLimits) {
  let unwatch = (): void => {}
  const reached = new Promise<CommandEnd>((resolve) => {
    const timer = setTimeout(() => resolve({ kind: 'timed-out', limitMs }), limitMs)
    const interrupt = (by: string): void => resolve({ kind: 'interrupted', by })
    const onAbort = (): void => interrupt(ABORTED)
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted === true) onAbort()
    for (const name of ENDING_SIGNALS) process.on(name, interrupt)
    unwatch = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      for (const name of ENDING_SIGNALS) process.off(name, interrupt)
    }
  })
  return { reached, unwatch }
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return
  if (process.platform === 'win32') {
    const words = ['/pid', String(child.pid), '/T', '/F']
    spawn('taskkill', words, { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return
  }
  const deadline = processAgeMs() + GRACE_MS
  tellGroup(child.pid, 'SIGTERM')
  while (tellGroup(child.pid, 0) && processAgeMs() < deadline) await sleep(POLL_MS)
  tellGroup(child.pid, 'SIGKILL')
}

function tellGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  return attempt(() => process.kill(-leader, signal), false)
}

class OutputTail {
  #kept = Buffer.alloc(0)
  #isCut = false
  #sinceCollection = 0

  add(chunk: Buffer): void {
    const joined = chunk.length >= KEPT_BYTES ? chunk : Buffer.concat([this.#kept, chunk])
    this.#isCut ||= joined.length > KEPT_BYTES || (chunk.length >= KEPT_BYTES && this.#kept.length > 0)
    // A copy, so that the chunk can be freed.
    this.#kept = Buffer.from(joined.subarray(-KEPT_BYTES))
    this.#sinceCollection += chunk.length
    if (this.#sinceCollection < COLLECT_EVERY) return
    this.#sinceCollection = 0
    collectGarbage()
  }

  /** As a terminal shows it in the end: a progress bar would hide an error in the same line. */
  text(): string {
    const text = stripVTControlCharacters(this.#kept.toString('utf8')).replace(/^.*\r(?=[^\r\n])/gm, '')
    // The cut may split a character.
    return this.#isCut ? `…${text.replace(/^\ufffd{1,3}/, '')}` : text
  }
}

let collect: ((options: { readonly type: 'minor' }) => void) | undefined

/** V8 would keep 40 MB of read chunks. */
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

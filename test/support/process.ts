/** Starts the built files as processes, in an environment that is independent of the machine. */

import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputOf } from './child-output.ts'

export const PACKAGE = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
export const LAUNCHER = join(PACKAGE, 'hooks', 'postflight-hook')
export const HOOK_BUNDLE = join(PACKAGE, 'dist', 'hook.js')
export const CLI = join(PACKAGE, 'bin', 'postflight.js')

/** The time (ms) after which a process is killed and its test fails: nothing here may hang. */
const LIMIT_MS = 30_000

/** The user and group without files of their own, for tests about rights that root runs. */
export const NOBODY = 65_534

export interface ProcessOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The text for stdin, which is closed after it. `open`: nothing is written, and stdin stays open. */
  readonly input?: string | Uint8Array | 'open' | undefined
  readonly keepOpen?: boolean | undefined
  /** A text that is written to stdin again and again until the process ends. */
  readonly endless?: string | undefined
  readonly unread?: readonly ('stdout' | 'stderr')[] | undefined
  readonly uid?: number | undefined
  /** The time (ms) after which the process is killed, if it needs more than the usual. */
  readonly limitMs?: number | undefined
}

export interface ProcessResult {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
}

/** True when the script succeeds, so that the machine has the programs that a test needs. */
export function canRun(script: string): boolean {
  return spawnSync('sh', ['-c', script], { stdio: 'ignore' }).status === 0
}

/** The end of a test's title: the reason, if it is skipped because this machine lacks something. */
export function skipNote(found: boolean, missing: string): string {
  return found ? '' : ` (skipped: ${missing})`
}

/** Starts the CLI, which runs until it ends or the test does. */
export function startCli(
  { dir, env }: { readonly dir: string; readonly env: Readonly<Record<string, string>> },
  words: readonly string[],
  onTestFinished: (action: () => void) => void,
) {
  const child = spawn(process.execPath, [CLI, ...words], {
    cwd: dir,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output = outputOf(child)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, stdout: () => output.stdout, ended }
}

export function runProcess(program: string, words: readonly string[], options: ProcessOptions): Promise<ProcessResult> {
  const started = performance.now()
  const { uid } = options
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: { ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  const output = outputOf(child)
  for (const name of options.unread ?? []) child[name].destroy()
  // The launcher may answer without reading its input, which then has no reader.
  child.stdin.on('error', () => {})
  feed(child.stdin, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), options.limitMs ?? LIMIT_MS)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => {
      // An open stdin would keep the process from closing after its exit.
      child.stdin.destroy()
    })
    child.once('close', (status, signal) => {
      clearTimeout(timer)
      resolve({ status, signal, ...output, durationMs: performance.now() - started })
    })
  })
}

function feed(stdin: NodeJS.WritableStream, { input, keepOpen, endless }: ProcessOptions): void {
  if (endless !== undefined) {
    const more = (error?: Error | null): void => {
      if (error === undefined || error === null) stdin.write(endless, more)
    }
    more()
    return
  }
  if (input === 'open') return
  if (keepOpen === true) stdin.write(input ?? '')
  else stdin.end(input ?? '')
}

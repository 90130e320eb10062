/** Starts the built files as processes, in an environment that holds nothing of the machine the tests run on. */

import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The package under test. */
export const PACKAGE = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
export const LAUNCHER = join(PACKAGE, 'hooks', 'postflight-hook')
export const HOOK_BUNDLE = join(PACKAGE, 'dist', 'hook.js')
export const CLI = join(PACKAGE, 'bin', 'postflight.js')

/** A process that runs longer than this (ms) is killed, and its test fails: nothing here may hang. */
const LIMIT_MS = 30_000

/** User and group that own nothing, for tests about rights that are run by root. */
export const NOBODY = 65_534

/** How to start a process. */
export interface ProcessOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Written to stdin, then stdin is closed. `open`: nothing is ever written and it stays open. */
  readonly input?: string | Uint8Array | 'open' | undefined
  /** For input that is written while stdin stays open. */
  readonly keepOpen?: boolean | undefined
  /** Writes without end, until the process is gone. */
  readonly endless?: string | undefined
  /** The readers of these go away at once. */
  readonly unread?: readonly ('stdout' | 'stderr')[] | undefined
  readonly uid?: number | undefined
}

/** How a process ended. */
export interface ProcessResult {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
}

/** Whether this machine has what a test needs beside sh: the script succeeds. */
export function canRun(script: string): boolean {
  return spawnSync('sh', ['-c', script], { stdio: 'ignore' }).status === 0
}

/** Starts the CLI, which runs on until the test ends, or by itself. */
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
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, stdout: () => stdout, ended }
}

/** Runs a program to its end. */
export function runProcess(program: string, words: readonly string[], options: ProcessOptions): Promise<ProcessResult> {
  const started = performance.now()
  const { uid } = options
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: { ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  for (const name of options.unread ?? []) child[name].destroy()
  // The launcher answers without reading: then what is written here has no reader any more.
  child.stdin.on('error', () => {})
  feed(child.stdin, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => {
      // Nobody reads any more, and a stdin that was left open would keep this from closing.
      child.stdin.destroy()
    })
    child.once('close', (status, signal) => {
      clearTimeout(timer)
      resolve({ status, signal, stdout, stderr, durationMs: performance.now() - started })
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

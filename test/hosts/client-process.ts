/** The process of a client: started with a time limit, and killed with everything that it started. */

import { spawn, spawnSync } from 'node:child_process'
import { type ChildOutput, outputOf } from '../support/child-output.ts'

export interface Ended extends ChildOutput {
  exitCode: number | null
  signal: NodeJS.Signals | null
  /** True if it was killed at the time limit. */
  timedOut: boolean
}

/** A client that runs; `End` is what its end is told as. */
export interface RunningProcess<End = Ended> {
  /** Kills the client and everything it started. */
  kill(signal?: NodeJS.Signals): void
  /** Writes to its input. Without words the input is closed. */
  write(words?: string): void
  output(): ChildOutput
  done: Promise<End>
}

interface ProcessOptions {
  cwd: string
  env: Readonly<Record<string, string>>
  timeoutMs: number
  /** True to keep its input open. */
  hasInput?: boolean
}

export function startProcess(file: string, words: readonly string[], options: ProcessOptions): RunningProcess {
  const { cwd, env, timeoutMs, hasInput = false } = options
  // A process group of its own, so that killing it does not affect the test runner.
  const detached = process.platform !== 'win32'
  const child = spawn(file, words, { cwd, env, stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'], detached })
  const output = outputOf(child)
  // Words that arrive after its end.
  child.stdin?.on('error', () => {})
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    killTree(child.pid, 'SIGKILL')
  }, timeoutMs)
  const done = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal, timedOut, ...output }))
  }).finally(() => clearTimeout(timer))
  return {
    kill: (signal = 'SIGKILL') => killTree(child.pid, signal),
    write: (words) => void (words === undefined ? child.stdin?.end() : child.stdin?.write(words)),
    output: () => output,
    done,
  }
}

export function jsonLines(stdout: string): unknown[] {
  return stdout.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      return []
    }
  })
}

/** Kills a process and all below it. A client gives each shell a process group of its own, so one group is not enough. */
export function killTree(root: number | undefined, signal: NodeJS.Signals): void {
  if (root === undefined) return
  for (const pid of [root, ...descendants(root)]) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended already.
    }
  }
}

function descendants(root: number): number[] {
  const listing = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout ?? ''
  const rows = listing.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const found: number[] = []
  let parents = [root]
  while (parents.length > 0) {
    parents = rows.flatMap(([pid, parent]) => (pid && parent && parents.includes(parent) ? [pid] : []))
    found.push(...parents)
  }
  return found
}

/** True while the process runs. A process that has ended but was not waited for yet (a zombie) does not run. */
export function isAlive(pid: number): boolean {
  const state = (spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '').trim()
  return state !== '' && !state.startsWith('Z')
}

/** An arena whose programs are processes of the built files, which wait until all of them have started. */

import { type ChildProcess, spawn } from 'node:child_process'
import { outputOf } from '../../support/child-output.ts'
import { CLI, HOOK_BUNDLE } from '../../support/process.ts'
import { type Outcome, UNSEEN } from './actor.ts'
import { compilePreload } from './compile.ts'
import { type Arena, arenaEnvironment, createArenaFiles, type Program, runHere } from './contention.ts'
import { PLAN_VARIABLE, type Plan } from './preload.ts'
import { changeByShell } from './shell.ts'

export type Gate = 'stdin' | 'first-call'

const READY = 3
/** The time (ms) after which a process is killed and its test fails. */
const LIMIT_MS = 60_000

export interface ProcessArena extends Arena {
  /** Runs programs at once; they go on together when each has reached the gate. */
  runFrom(gate: Gate, programs: readonly Program[]): Promise<Outcome[]>
}

export function createProcessArena(crowd: number): ProcessArena {
  const compiled = compilePreload()
  const files = createArenaFiles()
  const { root } = files
  const preload = compiled.support('preload.js')

  const start = (program: Program, gate: Gate) => {
    const ready = { descriptor: READY, gate: program.program === 'hook' ? gate : ('first-call' as const) }
    const plan: Plan = { folders: [root], ready }
    const words = program.program === 'hook' ? [HOOK_BUNDLE] : [CLI, ...(program.words ?? [])]
    const child = spawn(process.execPath, ['--require', preload, ...words], {
      cwd: root,
      env: { ...arenaEnvironment(root), [PLAN_VARIABLE]: JSON.stringify(plan) },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    return watch(child, program)
  }

  const runFrom = async (gate: Gate, programs: readonly Program[]): Promise<Outcome[]> => {
    const started = programs.map((program) => (program.program === 'shell' ? undefined : start(program, gate)))
    await Promise.all(started.map((one) => one?.ready))
    let running = true
    const looking = lookUntil(() => !running, files.look)
    const ends = programs.map((program, index) => {
      const one = started[index]
      if (one === undefined) return bash(root, program)
      one.release()
      return one.ended
    })
    try {
      return await Promise.all(ends)
    } finally {
      running = false
      await looking
    }
  }

  return {
    ...files,
    crowd,
    runFrom,
    run: (programs) => runFrom('first-call', programs),
    alone: (program) => runHere(program, root, arenaEnvironment(root)),
    async close() {
      files.remove()
      compiled.remove()
    },
  }
}

function watch(child: ChildProcess, program: Program) {
  const output = outputOf(child)
  child.stdin?.on('error', () => {})
  const signal = child.stdio[READY] as unknown as NodeJS.ReadWriteStream
  signal.on('error', () => {})
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, killed) => {
      clearTimeout(timer)
      if (killed !== null) reject(new Error(`ended by ${killed}: ${output.stderr}`))
      else resolve({ ...UNSEEN, ...output, exitCode: code ?? -1 })
    })
  })
  // A process that ends before the gate also resolves this; `ended` reports its result.
  const ready = new Promise<void>((resolve) => {
    signal.once('data', () => resolve())
    child.once('close', () => resolve())
  })
  child.stdin?.end(program.payload ?? '')
  return { ready, ended, release: () => signal.write('.') }
}

/** Reads the files again and again while programs write them. */
async function lookUntil(isOver: () => boolean, look: () => void): Promise<void> {
  while (!isOver()) {
    look()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function bash(root: string, program: Program): Promise<Outcome> {
  for (const change of program.shell ?? []) {
    changeByShell(root, change)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return UNSEEN
}

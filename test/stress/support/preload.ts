/**
 * Loaded into a hook or CLI process by `node --require`: kills the process, or makes a call fail, at one file-system
 * call. The plan is in the environment, so that the program's arguments do not change.
 */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { halfOf, instrument, original, systemError } from './instrument.ts'

/** The plan of a fault. Calls are counted from 1. */
export interface Plan {
  /** Only calls about files below these folders count. */
  readonly folders: readonly string[]
  /** The call at which the fault happens; 0 for none. */
  readonly at: number
  readonly what:
    | { readonly kind: 'kill'; readonly when: 'before' | 'half' | 'after' }
    /** `all`: the call and every later one of its name fail. */
    | { readonly kind: 'error'; readonly code: string; readonly all?: boolean }
    /** The write takes only half of its bytes, as on a disk that is nearly full. */
    | { readonly kind: 'short' }
    | { readonly kind: 'nothing' }
  /** A file that gets a line for each call. */
  readonly log?: string
  /**
   * A descriptor that gets a byte when the program reaches the gate: it begins to read stdin, or it is about to make its
   * first call. There it waits until it can read a byte from the descriptor.
   */
  readonly ready?: { readonly descriptor: number; readonly gate: 'stdin' | 'first-call' }
}

export const PLAN_VARIABLE = 'POSTFLIGHT_TEST_PLAN'

const planText = process.env[PLAN_VARIABLE]
if (planText !== undefined) {
  delete process.env[PLAN_VARIABLE]
  follow(JSON.parse(planText) as Plan)
}

function follow({ folders, at, what, log, ready }: Plan): void {
  const logDescriptor = log === undefined ? undefined : (original.openSync?.(log, 'a') as number)
  let count = 0
  let failing: string | undefined
  instrument(folders, (call, run) => {
    count += 1
    if (count === 1 && ready?.gate === 'first-call') passGate(ready.descriptor)
    if (logDescriptor !== undefined) original.writeSync?.(logDescriptor, `${call.name} ${call.file}\n`)
    // Errors of stdout are left out: the program could not report them.
    const isAnswer = call.file.startsWith('<')
    if (what.kind === 'error' && failing === call.name && !isAnswer) throw systemError(what.code, call)
    if (count !== at) return run()
    switch (what.kind) {
      case 'kill': {
        if (what.when === 'after') run()
        const half = what.when === 'half' ? halfOf(call) : undefined
        if (half !== undefined) run(half.args)
        return die()
      }
      case 'error':
        if (isAnswer) return run()
        if (what.all === true) failing = call.name
        throw systemError(what.code, call)
      case 'short': {
        const half = halfOf(call)
        return half === undefined ? run() : run(half.args)
      }
      case 'nothing':
        return run()
    }
  })
  if (ready?.gate === 'stdin') onceStdinIsRead(() => passGate(ready.descriptor))
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // Nothing else may happen before the signal arrives.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
}

/** Waits for the other programs. The time until then does not count: many starts at once take longer than a hook may. */
function passGate(descriptor: number): void {
  original.writeSync?.(descriptor, '.')
  original.readSync?.(descriptor, Buffer.alloc(1))
  const passed = process.uptime()
  const uptime = process.uptime.bind(process)
  process.uptime = () => uptime() - passed
}

/** Calls `action` when the program begins to read stdin, which begins with an `fstat`. */
function onceStdinIsRead(action: () => void): void {
  const { fstatSync } = fs
  const asked = ((descriptor: number, options?: fs.StatSyncOptions) => {
    if (descriptor === 0) {
      fs.fstatSync = fstatSync
      syncBuiltinESMExports()
      action()
    }
    return fstatSync(descriptor, options)
  }) as typeof fstatSync
  fs.fstatSync = asked
  syncBuiltinESMExports()
}

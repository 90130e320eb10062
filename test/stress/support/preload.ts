/**
 * Loaded into a hook or CLI process by `node --require`: kills the process, or makes a call fail, at one file-system
 * call. The plan is in the environment, so that the program's arguments do not change.
 */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { type Fault, instrument, original, withFault } from './instrument.ts'

export interface Plan {
  /** Only calls about files below these folders count. */
  readonly folders: readonly string[]
  /** The call at which the fault happens, counted from 1. */
  readonly at?: number | undefined
  readonly fault?: Fault | undefined
  /** A file that gets a line for each call. */
  readonly log?: string
  /**
   * A descriptor that gets a byte when the program reaches the gate: it begins to read stdin, or it is about to make its
   * first call. There it waits until it can read a byte from the descriptor.
   */
  readonly ready?: { readonly descriptor: number; readonly gate: 'stdin' | 'first-call' } | undefined
}

export const PLAN_VARIABLE = 'POSTFLIGHT_TEST_PLAN'

const planText = process.env[PLAN_VARIABLE]
if (planText !== undefined) {
  delete process.env[PLAN_VARIABLE]
  follow(JSON.parse(planText) as Plan)
}

function follow({ folders, at = 0, fault = 'none', log, ready }: Plan): void {
  const logDescriptor = log === undefined ? undefined : (original.openSync?.(log, 'a') as number)
  const around = withFault(at, fault, die)
  let isWaiting = ready?.gate === 'first-call'
  instrument(folders, (call, run) => {
    if (isWaiting) passGate(ready?.descriptor as number)
    isWaiting = false
    if (logDescriptor !== undefined) original.writeSync?.(logDescriptor, `${call.name} ${call.file}\n`)
    return around(call, run)
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

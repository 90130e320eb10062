import fs from 'node:fs'
import { attempt } from '../kernel/values.ts'
import { createFile, temporaryBeside, tryRemoveFile } from './write.ts'

/** Monotonic. `performance.now()` would load a module: almost 1 ms on Node 20. */
export function processAgeMs(): number {
  return process.uptime() * 1000
}

export function partWay(deadline: number | undefined, share: number): number | undefined {
  if (deadline === undefined) return undefined
  const ageMs = processAgeMs()
  return ageMs + (deadline - ageMs) * share
}

export function isPast(deadline: number | undefined): boolean {
  return deadline !== undefined && processAgeMs() > deadline
}

export function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Ends early, without an error, if `signal` aborts or was aborted before. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const timers = process.getBuiltinModule('node:timers/promises')
  await timers.setTimeout(ms, undefined, signal && { signal }).catch(() => {})
}

/** The kernel counts in hundredths of a second and rounds down. */
const KERNEL_TICK_MS = 10

/** Some containers count from another time. */
const LONGEST_START_MS = 10_000

/** Since the epoch, never too early. The kernel reports the fork: on a busy machine Node starts many ms later. */
export function processStartMs(): number {
  const ownMs = processAgeMs()
  // The launcher comes first, because it started Node.
  for (const pid of [process.env.POSTFLIGHT_LAUNCHER_PID, 'self']) {
    const ageMs = pid === undefined ? undefined : kernelAgeMs(pid)
    if (ageMs !== undefined && ageMs > ownMs && ageMs < ownMs + LONGEST_START_MS) return Date.now() - ageMs
  }
  return Date.now() - ownMs
}

function kernelAgeMs(pid: string): number | undefined {
  if (!/^(?:self|[1-9]\d{0,9})$/.test(pid)) return undefined
  return attempt(() => {
    const [uptime = ''] = fs.readFileSync('/proc/uptime', 'utf8').split(' ')
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name before it may hold any character.
    const startTicks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
    return Number(uptime) * 1000 - (startTicks + 1) * KERNEL_TICK_MS
  })
}

/** How often a process touches a file to show that it is alive. */
export const TOUCH_EVERY_MS = 2_000
/** A killed process's file is untouched for longer. */
const SILENT_MS = 15_000

/** Whether its process may be alive. */
export function isTouched({ mtimeMs }: Pick<fs.Stats, 'mtimeMs'>): boolean {
  // A time in the future is stale too: the clock was set back.
  return Math.abs(Date.now() - mtimeMs) <= SILENT_MS
}

/** In ms. */
export function fileSystemNow(folder: string): number {
  const file = temporaryBeside(`${folder}/now`)
  try {
    createFile(file, '', { durable: false })
    return fs.lstatSync(file).mtimeMs
  } finally {
    tryRemoveFile(file)
  }
}

/** Up to 10 ms on Linux, and up to 2 s on a file system without fractions of a second (FAT). */
const LONGEST_STEP_MS = 2_100

/** Ends once every later change has a later time than the result, in ms. */
export async function waitForNextFileTime(folder: string): Promise<number> {
  const nowMs = fileSystemNow(folder)
  const deadline = processAgeMs() + LONGEST_STEP_MS
  while (fileSystemNow(folder) <= nowMs && !isPast(deadline)) await sleep(5)
  return nowMs
}

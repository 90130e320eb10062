import fs from 'node:fs'

/**
 * The age of this process in ms: a clock that never goes back, for deadlines. `performance.now()` gives the same but
 * loads a module for it, which costs Node 20 most of a millisecond at every start.
 */
export function processAgeMs(): number {
  return process.uptime() * 1000
}

/** The age (ms) of this process at which `share` of the time until `deadline` will have passed. */
export function partWay(deadline: number, share: number): number {
  const ageMs = processAgeMs()
  return ageMs + (deadline - ageMs) * share
}

/** True when this process is older than `deadline` (ms); false without a deadline. */
export function isPast(deadline: number | undefined): boolean {
  return deadline !== undefined && processAgeMs() > deadline
}

/** The kernel counts in hundredths of a second and rounds down, so an age computed from its figures may be too high by this much (ms). */
const KERNEL_TICK_MS = 10

/** A start further than this (ms) before Node's own is not this process's: some containers count from another time. */
const LONGEST_START_MS = 10_000

/**
 * The time at which this process, or the launcher that started it, was created (ms since the epoch); never earlier than
 * the true time. If the kernel reports it, this is the time of the fork: on a busy machine Node starts to run many ms
 * later, and so does the launcher that starts Node.
 */
export function processStartMs(): number {
  const ownMs = processAgeMs()
  const likely = kernelAgesMs(['self', process.env.POSTFLIGHT_LAUNCHER_PID])
    .map((ageMs) => ageMs - KERNEL_TICK_MS)
    .filter((ageMs) => ageMs > ownMs && ageMs < ownMs + LONGEST_START_MS)
  return Date.now() - Math.max(ownMs, ...likely)
}

/** The ages (ms) of the processes (`self` or a number) that the kernel knows. */
function kernelAgesMs(pids: readonly (string | undefined)[]): number[] {
  try {
    const [uptime = ''] = fs.readFileSync('/proc/uptime', 'utf8').split(' ')
    return pids.flatMap((pid) => {
      const startedMs = pid === undefined ? undefined : kernelStartMs(pid)
      return startedMs === undefined ? [] : [Number(uptime) * 1000 - startedMs]
    })
  } catch {
    return []
  }
}

/** The time at which a process was created, in ms since the machine started. */
function kernelStartMs(pid: string): number | undefined {
  if (!/^(?:self|[1-9]\d{0,9})$/.test(pid)) return undefined
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name stands before it in parentheses and may hold any character.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) * KERNEL_TICK_MS
  } catch {
    return undefined
  }
}

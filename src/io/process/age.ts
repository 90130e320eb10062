import fs from 'node:fs'

/**
 * The age of this process, in ms: a clock that never goes back, for deadlines. `performance.now()` says the same and
 * loads a module for it, which costs Node 20 most of a ms at every start.
 */
export function processAgeMs(): number {
  return process.uptime() * 1000
}

/** True when this process is older than `deadline` (ms); none never passes. */
export function isPast(deadline: number | undefined): boolean {
  return deadline !== undefined && processAgeMs() > deadline
}

/** The kernel counts in hundredths of a second, and cuts off the rest: an age by its figures may be too high by so much (ms). */
const KERNEL_TICK_MS = 10

/** A start that lies further (ms) before Node's own is none of this process: some containers count from elsewhere. */
const LONGEST_START_MS = 10_000

/**
 * When this process was made, or the launcher that started it, by the clock on the wall (ms since the epoch): never
 * earlier than it was. Where the kernel tells it, that is the moment of the fork: on a busy machine Node comes to itself
 * many ms later, and the launcher to starting it.
 */
export function processStartMs(): number {
  const ownMs = processAgeMs()
  const likely = kernelAgesMs(['self', process.env.POSTFLIGHT_LAUNCHER_PID])
    .map((ageMs) => ageMs - KERNEL_TICK_MS)
    .filter((ageMs) => ageMs > ownMs && ageMs < ownMs + LONGEST_START_MS)
  return Date.now() - Math.max(ownMs, ...likely)
}

/** The ages of those of the processes, `self` or a number, that the kernel tells of. */
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

/** When a process was made, in ms since the machine's start. */
function kernelStartMs(pid: string): number | undefined {
  if (!/^(?:self|[1-9]\d{0,9})$/.test(pid)) return undefined
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes before it, in parentheses, and may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) * KERNEL_TICK_MS
  } catch {
    return undefined
  }
}

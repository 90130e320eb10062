import fs from 'node:fs'

/**
 * The age of this process, in ms: a clock that never goes back, for deadlines. `performance.now()` says the same and
 * loads a module for it, which costs Node 20 most of a ms at every start.
 */
export function processAgeMs(): number {
  return process.uptime() * 1000
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
  const ages = ['self', process.env.POSTFLIGHT_LAUNCHER_PID].map((pid) => (kernelAgeMs(pid) ?? 0) - KERNEL_TICK_MS)
  const likely = ages.filter((ageMs) => ageMs > ownMs && ageMs < ownMs + LONGEST_START_MS)
  return Date.now() - Math.max(ownMs, ...likely)
}

/** `pid`: `self`, or a number. */
function kernelAgeMs(pid: string | undefined): number | undefined {
  if (pid === undefined || !/^(?:self|[1-9]\d{0,9})$/.test(pid)) return undefined
  try {
    const [uptime = ''] = fs.readFileSync('/proc/uptime', 'utf8').split(' ')
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes before it, in parentheses, and may hold anything.
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
    const ageMs = Number(uptime) * 1000 - ticks * KERNEL_TICK_MS
    return Number.isFinite(ageMs) ? ageMs : undefined
  } catch {
    return undefined
  }
}

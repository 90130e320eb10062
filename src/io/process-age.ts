/**
 * The age of this process, in ms: a clock that never goes back, for deadlines. `performance.now()` says the same and
 * loads a module for it, which costs Node 20 most of a ms at every start.
 */
export function processAgeMs(): number {
  return process.uptime() * 1000
}

/** When this process was started, by the clock on the wall (ms since the epoch). */
export function processStartMs(): number {
  return Date.now() - processAgeMs()
}

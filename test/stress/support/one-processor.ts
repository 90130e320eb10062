import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Keeps this process on one processor until the result is called. Threads of which one runs at a time hand over twice as
 * fast there. Files that run beside each other get different processors. Without Linux or `taskset` it does nothing.
 */
export function stayOnOneProcessor(): () => void {
  const allowed = allowedProcessors()
  if (allowed.length < 2 || !allow([allowed[Number(process.env.VITEST_POOL_ID ?? 0) % allowed.length] ?? 0])) {
    return () => {}
  }
  return () => {
    allow(allowed)
  }
}

/** Sets the processors of all threads; threads that start later get those of the thread that starts them. */
function allow(processors: readonly number[]): boolean {
  return spawnSync('taskset', ['-a', '-c', '-p', processors.join(), String(process.pid)]).status === 0
}

function allowedProcessors(): number[] {
  try {
    const [, list = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return list.split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
  } catch {
    return []
  }
}

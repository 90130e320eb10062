import fs from 'node:fs'
import path from 'node:path'
import { CHECKING_FILE } from '../kernel/files.ts'

/** Tells whether a folder's checks are running. The hook asks this. */

/** A lock that was not touched for this time (ms) was left behind by a process that was killed. */
const SILENT_MS = 15_000

/** The time (ms) between two touches of the lock. */
export const TOUCH_EVERY_MS = 2_000

/** The path of the lock in a task folder. */
export function checkingPath(folder: string): string {
  return path.join(folder, CHECKING_FILE)
}

/** Since when a process has been running the folder's checks (ms since the epoch); undefined if none does. Never throws. */
export function checkingSince(folder: string): number | undefined {
  try {
    const stats = fs.lstatSync(checkingPath(folder), { throwIfNoEntry: false })
    if (!stats?.isFile() || isLeftBehind(stats)) return undefined
    // If the birth time is unknown, the last touch has to do.
    return stats.birthtimeMs > 0 ? stats.birthtimeMs : stats.mtimeMs
  } catch {
    return undefined
  }
}

/** True for a lock whose process was killed. A time in the future (the clock was set back) counts too. */
function isLeftBehind({ mtimeMs }: { readonly mtimeMs: number }): boolean {
  return Math.abs(Date.now() - mtimeMs) > SILENT_MS
}

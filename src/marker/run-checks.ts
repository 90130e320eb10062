import fs from 'node:fs'
import path from 'node:path'
import { runBounded } from '../disk/bounded-run.ts'
import { closeQuietly, type FileIdentity, fileIdentity, identityOfStats, isFull, kindAt } from '../disk/file-facts.ts'
import { COMMAND_PATIENCE_MS, withLockIfRoom } from '../disk/lock.ts'
import { tryRemoveFile } from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { KIND_NAMES } from '../kernel/file-messages.ts'
import { CHECKING_FILE } from '../kernel/files.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import type { CheckFailure, CheckResult } from './check.ts'

/**
 * Runs the checks of a folder (docs/design.md, "Checks"): one process at a time, one check after another. The lock is one of
 * its own, because checks take minutes and the lock of the marker is held for milliseconds. It is touched while the checks
 * run, so that one of a killed process is known.
 */

/** The time (ms) that a check may take unless another limit is given. */
export const CHECK_LIMIT_MS = 600_000

/** A lock that was not touched for this time (ms) was left behind by a process that was killed. */
const SILENT_MS = 15_000

/** The time (ms) between two touches of the lock. */
const TOUCH_EVERY_MS = 2_000

/** A check that was run. One that was interrupted has no result. */
export interface RunCheck extends Omit<CheckResult, 'failure'> {
  readonly failure: CheckFailure | { readonly kind: 'interrupted'; readonly by: string } | undefined
}

/** The check that failed; undefined if all succeeded. */
export function failedOf(done: readonly RunCheck[]): (RunCheck & { readonly failure: object }) | undefined {
  const last = done.at(-1)
  return last?.failure === undefined ? undefined : { ...last, failure: last.failure }
}

/** The limits of checks. */
export interface CheckLimits {
  readonly limitMs: number
  readonly signal?: AbortSignal | undefined
  /** True if a signal that ends this process also ends the checks. */
  readonly obeysSignals: boolean
}

/** The result of `whileChecking`: another process runs the checks since that time (ms since the epoch), or the result. */
export type Checking<T> =
  | { readonly kind: 'busy'; readonly sinceMs: number }
  | { readonly kind: 'done'; readonly result: T }

/** Runs commands at the root until one fails. The last entry of the result is the failed one, if any. */
type RunChecks = (commands: readonly string[]) => Promise<RunCheck[]>

/**
 * Runs `action`, which gets what runs checks, while holding the lock of the folder's checks.
 * @throws {PostflightError} `shell-missing` when the shell cannot be started; `file-unreadable` when something other than a
 * file has the lock's name; file-system errors.
 */
export async function whileChecking<T>(
  folder: TaskFolder,
  limits: CheckLimits,
  action: (run: RunChecks) => Promise<T>,
): Promise<Checking<T>> {
  const lock = checkingPath(folder.path)
  let held = take(folder.path, lock)
  if (typeof held === 'number') return { kind: 'busy', sinceMs: held }
  const touching = setInterval(() => {
    held = touch(lock, held as FileIdentity | undefined)
  }, TOUCH_EVERY_MS)
  try {
    return { kind: 'done', result: await action((commands) => runInOrder(commands, { ...limits, cwd: folder.root })) }
  } finally {
    clearInterval(touching)
    release(lock, held as FileIdentity | undefined)
  }
}

async function runInOrder(
  commands: readonly string[],
  place: CheckLimits & { readonly cwd: string },
): Promise<RunCheck[]> {
  const done: RunCheck[] = []
  for (const run of commands) {
    const { end, durationMs, output } = await runBounded({ command: run, ...place })
    if (end.kind === 'not-started') throw new PostflightError('shell-missing', { detail: end.detail })
    const failure = end.kind === 'exited' && end.exitCode === 0 ? undefined : end
    done.push({ run, failure, durationMs, output })
    if (failure !== undefined) break
  }
  return done
}

/**
 * Takes the lock. Returns since when another process holds it; undefined where the disk has no room for it: `clear` works
 * there too.
 */
function take(folder: string, lock: string): FileIdentity | number | undefined {
  return withLockIfRoom(folder, COMMAND_PATIENCE_MS, () => {
    const sinceMs = checkingSince(folder)
    if (sinceMs !== undefined) return sinceMs
    const kind = kindAt(lock)
    if (kind !== undefined && kind !== 'file') {
      throw new PostflightError('file-unreadable', { path: lock, detail: KIND_NAMES[kind] })
    }
    tryRemoveFile(lock)
    try {
      return create(lock)
    } catch (error) {
      if (!isFull(error)) throw error
      return undefined
    }
  })
}

function create(lock: string): FileIdentity {
  const descriptor = fs.openSync(lock, 'wx', 0o644)
  try {
    return identityOfStats(fs.fstatSync(descriptor, { bigint: true }))
  } finally {
    closeQuietly(descriptor)
  }
}

/** Touches our lock. Returns its identity, which changes where the file system has no birth times. */
function touch(lock: string, held: FileIdentity | undefined): FileIdentity | undefined {
  try {
    if (held === undefined || fileIdentity(lock) !== held) return undefined
    const now = new Date()
    fs.utimesSync(lock, now, now)
    return fileIdentity(lock)
  } catch {
    // It was removed by hand. The checks go on.
    return undefined
  }
}

/** Removes our lock; another process may have taken it over if this one slept. */
function release(lock: string, held: FileIdentity | undefined): void {
  try {
    if (held !== undefined && fileIdentity(lock) === held) tryRemoveFile(lock)
  } catch {
    // It becomes stale.
  }
}

/** The path of the lock in a task folder. */
function checkingPath(folder: string): string {
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

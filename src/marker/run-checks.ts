import fs from 'node:fs'
import path from 'node:path'
import { isTouched, TOUCH_EVERY_MS } from '../disk/age.ts'
import { type RunLimits, runBounded } from '../disk/bounded-run.ts'
import { fileIdentity, isFull, kindAt } from '../disk/file-facts.ts'
import { createLock, releaseLock, retryWhileLocked, withLockIfRoom } from '../disk/lock.ts'
import { tryRemoveFile } from '../disk/write.ts'
import { KIND_NAMES } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { CHECKING_FILE } from '../kernel/files.ts'
import { attempt } from '../kernel/values.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import type { Failure } from './check-messages.ts'
import type { CheckResult } from './marker.ts'

/** Checks take minutes, so their process touches its lock to show that it is alive. */

export const CHECK_LIMIT_MS = 600_000

export type RunCheck = Omit<CheckResult, 'failure'> & { readonly failure: Failure | undefined }

export function failedOf(done: readonly RunCheck[]) {
  const last = done.at(-1)
  return last?.failure === undefined ? undefined : { ...last, failure: last.failure }
}

/** Another process runs them. `sinceMs`: since the epoch. */
export type Busy = Readonly<{ kind: 'busy'; sinceMs: number }>

/** `run` stops at the first failure. */
export async function whileChecking<T>(
  folder: TaskFolder,
  limits: RunLimits,
  action: (run: (commands: readonly string[]) => Promise<RunCheck[]>) => Promise<T>,
): Promise<{ readonly kind: 'done'; readonly result: T } | Busy> {
  const lock = path.join(folder.path, CHECKING_FILE)
  const taken = await retryWhileLocked(() => take(folder.path, lock))
  if (typeof taken === 'number') return { kind: 'busy', sinceMs: taken }
  let held = taken
  const touching = setInterval(() => {
    held = touch(lock, held)
  }, TOUCH_EVERY_MS)
  try {
    return { kind: 'done', result: await action((commands) => runInOrder(commands, { ...limits, cwd: folder.root })) }
  } finally {
    clearInterval(touching)
    releaseLock(lock, held)
  }
}

async function runInOrder(commands: readonly string[], location: RunLimits & { readonly cwd: string }) {
  const done: RunCheck[] = []
  for (const run of commands) {
    const { end, durationMs, output } = await runBounded({ command: run, ...location })
    if (end.kind === 'not-started') throw new PostflightError('shell-missing', { detail: end.detail })
    const failure = end.kind === 'exited' && end.exitCode === 0 ? undefined : end
    done.push({ run, failure, durationMs, output })
    if (failure !== undefined) break
  }
  return done
}

/** Undefined if the disk is full: `clear` must still work. */
function take(folder: string, lock: string): string | number | undefined {
  return withLockIfRoom(folder, () => {
    const sinceMs = checkingSince(folder)
    if (sinceMs !== undefined) return sinceMs
    const kind = kindAt(lock) ?? 'file'
    if (kind !== 'file') throw new PostflightError('file-unreadable', { path: lock, detail: KIND_NAMES[kind] })
    tryRemoveFile(lock)
    try {
      return createLock(lock)
    } catch (error) {
      if (!isFull(error)) throw error
      return undefined
    }
  })
}

/** Returns the identity, which changes on file systems without birth times. */
function touch(lock: string, held: string | undefined): string | undefined {
  // If it was removed by hand, the checks continue.
  return attempt(() => {
    if (held === undefined || fileIdentity(lock) !== held) return undefined
    const now = new Date()
    fs.utimesSync(lock, now, now)
    return fileIdentity(lock)
  })
}

/** In ms since the epoch. Never throws. */
export function checkingSince(folder: string): number | undefined {
  const stats = attempt(() => fs.lstatSync(path.join(folder, CHECKING_FILE), { throwIfNoEntry: false }))
  if (!stats?.isFile() || !isTouched(stats)) return undefined
  // Some file systems have no birth time.
  return stats.birthtimeMs > 0 ? stats.birthtimeMs : stats.mtimeMs
}

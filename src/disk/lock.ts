import fs from 'node:fs'
import path from 'node:path'
import { KIND_NAMES } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { LOCK_FILE } from '../kernel/files.ts'
import { attempt } from '../kernel/values.ts'
import { processAgeMs, sleep, sleepSync } from './age.ts'
import { closeQuietly, errorCode, fileIdentity, identityOfStats, isFull, kindOfStats, named } from './file-facts.ts'
import { tryRemoveFile } from './write.ts'

/**
 * No rewrite may restore a marker that another process has just removed. The lock is an empty file, because `clear`
 * must work on a full disk. A server must not sleep: it uses `retryWhileLocked` or `withoutSleep`.
 */

/** Work under a lock takes milliseconds. */
const STALE_MS = 5_000

/** Longer than STALE_MS: a lock left behind must not stop a command. */
export const COMMAND_PATIENCE_MS = 7_000

/** The hook must answer within 5 s. */
export const HOOK_PATIENCE_MS = 1_000

const POLL_MS = 3

/** After a clock change or sleep, a living process's lock looks stale too. */
const WATCH_MS = 150

const watched = new Map<string, { readonly identity: string; readonly sinceMs: number }>()

/** Runs without a lock if no inodes are left: then no other process can create a lock or a marker's text either. */
export function withLockIfRoom<T>(folder: string, action: () => T): T {
  return withLock(folder, COMMAND_PATIENCE_MS, action, false)
}

export function withLock<T>(folder: string, patienceMs: number, action: () => T, needsRoom = true): T {
  const lock = path.join(folder, LOCK_FILE)
  let held: string | undefined
  try {
    held = take(lock, patienceMs)
  } catch (error) {
    if (needsRoom || !isFull(error)) throw error
  }
  try {
    return action()
  } finally {
    releaseLock(lock, held)
  }
}

export class LockBusy extends Error {}

let askedSinceMs: number | undefined

/** What `action` does before it takes its locks must be repeatable. */
export async function retryWhileLocked<T>(action: () => T): Promise<T> {
  const sinceMs = processAgeMs()
  for (;;) {
    try {
      return withoutSleep(action, sinceMs)
    } catch (error) {
      if (!(error instanceof LockBusy)) throw error
    }
    await sleep(POLL_MS)
  }
}

/** Throws `LockBusy` instead of sleeping. */
export function withoutSleep<T>(action: () => T, sinceMs = processAgeMs()): T {
  const before = askedSinceMs
  askedSinceMs = sinceMs
  try {
    return action()
  } finally {
    askedSinceMs = before
  }
}

/** The lock may be another process's if this one slept for seconds. */
export function releaseLock(lock: string, held: string | undefined): void {
  // If the owner is unknown, the lock becomes stale.
  if (held !== undefined && attempt(() => fileIdentity(lock)) === held) tryRemoveFile(lock)
}

function take(lock: string, patienceMs: number): string {
  const deadline = (askedSinceMs ?? processAgeMs()) + patienceMs
  for (;;) {
    try {
      return createLock(lock)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    const status = takeOverStale(lock)
    if (status === 'gone') continue
    // We watch it even if the caller does not wait, or it would never be removed. If the disk's clock differs, each new
    // lock looks stale.
    const endMs = status === 'watched' ? deadline + 2 * WATCH_MS : deadline
    if (processAgeMs() >= endMs) throw new PostflightError('locked', { path: path.dirname(lock), lock })
    if (askedSinceMs !== undefined) throw new LockBusy()
    sleepSync(POLL_MS)
  }
}

export function createLock(lock: string): string {
  const descriptor = fs.openSync(lock, 'wx', 0o644)
  try {
    return identityOfStats(fs.fstatSync(descriptor, { bigint: true }))
  } catch (error) {
    tryRemoveFile(lock)
    throw named(error, lock)
  } finally {
    closeQuietly(descriptor)
  }
}

/** A late process must not remove the first one's new lock: a file named after the stale lock's identity decides. */
function takeOverStale(lock: string): 'gone' | 'watched' | 'held' {
  const stats = fs.lstatSync(lock, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return 'gone'
  if (!stats.isFile()) {
    throw new PostflightError('file-unreadable', { path: lock, detail: KIND_NAMES[kindOfStats(stats)] })
  }
  if (!isStale(stats)) return 'held'
  const identity = identityOfStats(stats)
  if (!wasWatched(lock, identity)) return 'watched'
  const right = `${lock}.${identity}.tmp`
  try {
    createLock(right)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EACCES' || code === 'EROFS') throw new PostflightError('cannot-write', { path: lock, detail: code })
    const other = attempt(() => fs.lstatSync(right, { bigint: true, throwIfNoEntry: false }))
    if (other !== undefined && isStale(other)) tryRemoveFile(right)
    return 'held'
  }
  if (attempt(() => fileIdentity(lock)) === identity) tryRemoveFile(lock)
  tryRemoveFile(right)
  watched.delete(lock)
  return 'gone'
}

function wasWatched(lock: string, identity: string): boolean {
  const seen = watched.get(lock)
  if (seen?.identity === identity) return processAgeMs() - seen.sinceMs >= WATCH_MS
  watched.set(lock, { identity, sinceMs: processAgeMs() })
  return false
}

/** Never throws. False for a lock that a killed process left. */
export function isLocked(folder: string): boolean {
  const stats = attempt(() => fs.lstatSync(path.join(folder, LOCK_FILE), { bigint: true, throwIfNoEntry: false }))
  return stats !== undefined && !isStale(stats)
}

/** A future time (the clock was set back) is stale too. */
function isStale(stats: fs.BigIntStats): boolean {
  return Math.abs(Date.now() - Number(stats.mtimeMs)) > STALE_MS
}

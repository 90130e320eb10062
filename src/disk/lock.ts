import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../kernel/errors.ts'
import { KIND_NAMES } from '../kernel/file-messages.ts'
import { LOCK_FILE } from '../kernel/files.ts'
import { processAgeMs } from './age.ts'
import {
  closeQuietly,
  errorCode,
  type FileIdentity,
  fileIdentity,
  identityOfStats,
  isFull,
  kindAt,
  named,
} from './file-facts.ts'
import { tryRemoveFile } from './write.ts'

/**
 * One writer at a time in a folder: a process that rewrites, removes or abandons a marker holds this lock for the few
 * milliseconds that this takes, so that no rewrite restores a file that another process has just removed. Counting a
 * continuation needs no lock (see `continuations/claim.ts`).
 *
 * The lock is an empty file, because an empty file can be created on a full disk, and `clear` must work there. A lock
 * that its process left behind is taken over after STALE_MS.
 *
 * The hook and the CLI have nothing else to do, so they sleep until the lock is free. A server must not sleep: there
 * `retryWhileLocked` surrounds the call, and the wait happens between two attempts.
 */

/** A lock older than this (ms) was left behind: work under a lock takes milliseconds. */
const STALE_MS = 5_000

/** The time (ms) that a command waits: longer than STALE_MS, so that a lock that was left behind never stops it. */
export const COMMAND_PATIENCE_MS = 7_000

/** The time (ms) that the hook waits: it must answer within 5 s. */
export const HOOK_PATIENCE_MS = 1_000

const POLL_MS = 3

/**
 * A lock that looks left behind must stay for this time (ms) before it is taken over: when a clock is set, or the machine
 * was asleep, the lock of a living process looks old too, and that process removes it in milliseconds.
 */
const WATCH_MS = 150

/** The locks that look left behind, and since when this process has seen them (its age in ms). */
const watched = new Map<string, { readonly identity: FileIdentity; readonly sinceMs: number }>()

/**
 * Runs `action` while holding the folder's lock, and returns its result.
 * @throws {PostflightError} `locked` when the lock was not free within `patienceMs`; `file-unreadable` when something
 * other than a file has the lock's name.
 */
export function withLock<T>(folder: string, patienceMs: number, action: () => T): T {
  const lock = path.join(folder, LOCK_FILE)
  const held = take(lock, patienceMs)
  try {
    return action()
  } finally {
    release(lock, held)
  }
}

/**
 * The same for an action that only removes and renames files: where the lock cannot be created because the disk has no room (no inodes are left),
 * `action` runs without it. Then no other process can create a lock either, nor the new text of a marker.
 */
export function withLockIfRoom<T>(folder: string, patienceMs: number, action: () => T): T {
  const lock = path.join(folder, LOCK_FILE)
  let held: FileIdentity | undefined
  try {
    held = take(lock, patienceMs)
  } catch (error) {
    if (!isFull(error)) throw error
  }
  try {
    return action()
  } finally {
    if (held !== undefined) release(lock, held)
  }
}

/** Thrown instead of sleeping, inside `retryWhileLocked`. */
export class LockBusy extends Error {}

/** The beginning of the asynchronous wait whose attempt is running (age of this process in ms). An attempt is synchronous, so there is one at most. */
let waitingSinceMs: number | undefined

/**
 * Runs `action`, which may take locks, without ever blocking the event loop. Where a lock is held, `action` is left by
 * a `LockBusy` and runs again a moment later, until the lock is free or its patience is over; so anything that it does
 * before it has its locks must be harmless when repeated.
 * @throws the errors of `action`.
 */
export async function retryWhileLocked<T>(action: () => T): Promise<T> {
  const sinceMs = processAgeMs()
  for (;;) {
    try {
      return attempt(action, sinceMs)
    } catch (error) {
      if (!(error instanceof LockBusy)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function attempt<T>(action: () => T, sinceMs: number): T {
  waitingSinceMs = sinceMs
  try {
    return action()
  } finally {
    waitingSinceMs = undefined
  }
}

/** Removes our lock; another process may have taken it over if this one slept for seconds. */
function release(lock: string, held: FileIdentity): void {
  try {
    if (fileIdentity(lock) === held) tryRemoveFile(lock)
  } catch {
    // The lock's owner is unknown: it becomes stale.
  }
}

function take(lock: string, patienceMs: number): FileIdentity {
  const deadline = (waitingSinceMs ?? processAgeMs()) + patienceMs
  for (;;) {
    try {
      return createLock(lock)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    const standing = takeOverStale(lock)
    if (standing === 'gone') continue
    if (standing === 'held') refuseForeign(lock)
    // A lock that looks left behind is watched to the end without any patience too: otherwise nothing would ever remove
    // it. But where the clock of the disk differs, each new holder's lock looks so and is watched anew.
    const endMs = standing === 'watched' ? deadline + 2 * WATCH_MS : deadline
    if (processAgeMs() >= endMs) throw new PostflightError('locked', { path: path.dirname(lock), lock })
    if (waitingSinceMs !== undefined) throw new LockBusy()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
  }
}

function createLock(lock: string): FileIdentity {
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

/** A folder or a link of that name does not belong to postflight-guard: it is left alone, and waiting would not help. */
function refuseForeign(lock: string): void {
  const kind = kindAt(lock)
  if (kind === undefined || kind === 'file') return
  throw new PostflightError('file-unreadable', { path: lock, detail: KIND_NAMES[kind] })
}

/**
 * Removes a stale lock that was watched long enough; `gone` when it is worth trying again. Several processes may find the same lock stale, and a late
 * one must not remove the new lock of the first: so a file named after the stale lock's identity decides which process
 * may remove it.
 */
function takeOverStale(lock: string): 'gone' | 'watched' | 'held' {
  try {
    const stats = fs.lstatSync(lock, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return 'gone'
    if (!stats.isFile() || !isStale(stats)) return 'held'
    if (!wasWatched(lock, identityOfStats(stats))) return 'watched'
    const right = `${lock}.${identityOfStats(stats)}.tmp`
    try {
      createLock(right)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
      // Another process is about to remove the lock, unless it was killed.
      const other = fs.lstatSync(right, { bigint: true, throwIfNoEntry: false })
      if (other !== undefined && isStale(other)) tryRemoveFile(right)
      return 'held'
    }
    if (fileIdentity(lock) === identityOfStats(stats)) tryRemoveFile(lock)
    tryRemoveFile(right)
    watched.delete(lock)
    return 'gone'
  } catch (error) {
    const code = errorCode(error)
    // Waiting does not help here.
    if (code === 'EACCES' || code === 'EROFS') throw new PostflightError('cannot-write', { path: lock, detail: code })
    return 'held'
  }
}

/** True if this process has seen the same lock for long enough. */
function wasWatched(lock: string, identity: FileIdentity): boolean {
  const seen = watched.get(lock)
  if (seen?.identity === identity) return processAgeMs() - seen.sinceMs >= WATCH_MS
  watched.set(lock, { identity, sinceMs: processAgeMs() })
  return false
}

/** A time in the future (the clock was set back) counts as stale too; otherwise the lock would last until then. */
function isStale(stats: fs.BigIntStats): boolean {
  return Math.abs(Date.now() - Number(stats.mtimeMs)) > STALE_MS
}

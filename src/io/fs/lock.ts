import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { LOCK_FILE } from '../../core/files.ts'
import { processAgeMs } from '../process/age.ts'
import { closeQuietly, named } from './descriptors.ts'
import { errorCode } from './errors.ts'
import { type FileIdentity, fileIdentity, identityOfStats } from './file-identity.ts'
import { kindAt } from './path-kind.ts'
import { tryRemoveFile } from './write.ts'

/**
 * One writer at a time for a folder's marker: whoever rewrites, removes or abandons it holds this lock for the few
 * milliseconds that takes, so that no rewrite brings back what another process has just removed. Counting a
 * continuation needs no lock (see `continuations/claim.ts`).
 *
 * The lock is an empty file, because on a full disk one can still be made, and `clear` must work there. One that its
 * holder left behind is taken over after STALE_MS, so none lasts.
 */

/** A lock older than this (ms) was left behind: what happens under it takes milliseconds. */
const STALE_MS = 5_000

/** How long (ms) a command waits: longer than a lock can be stale, so that a left one never stops it. */
export const COMMAND_PATIENCE_MS = 7_000

/** How long (ms) the hook waits: it must answer within 5 s. */
export const HOOK_PATIENCE_MS = 1_000

const POLL_MS = 3

/**
 * Runs `action` alone.
 * @throws {PostflightError} `locked` when the lock was not to be had within `patienceMs`; `file-unreadable` when
 * what has its name is no file.
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

/** One that was taken over meanwhile (this process slept for seconds) is not ours to remove. */
function release(lock: string, held: FileIdentity): void {
  try {
    if (fileIdentity(lock) === held) tryRemoveFile(lock)
  } catch {
    // Whose it is cannot be told: it goes stale.
  }
}

function take(lock: string, patienceMs: number): FileIdentity {
  const deadline = processAgeMs() + patienceMs
  for (;;) {
    try {
      return createLock(lock)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    if (takeOverStale(lock)) continue
    refuseForeign(lock)
    if (processAgeMs() >= deadline) {
      throw new PostflightError('locked', { path: path.dirname(lock), lock })
    }
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

/** A folder or a link of that name is somebody else's: not ours to move, and no waiting makes it go away. */
function refuseForeign(lock: string): void {
  const kind = kindAt(lock)
  if (kind !== undefined && kind !== 'file') throw new PostflightError('file-unreadable', { path: lock, detail: kind })
}

/**
 * Removes a stale lock; true when the way may be free. Several may find the same one stale, and whoever comes late must
 * not remove the fresh lock of who was first: so who may remove it is settled by a file that bears the lock's identity.
 */
function takeOverStale(lock: string): boolean {
  try {
    const stats = fs.lstatSync(lock, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return true
    if (!stats.isFile() || !isStale(stats)) return false
    const right = `${lock}.${identityOfStats(stats)}.tmp`
    try {
      createLock(right)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
      // Somebody is about to remove it, unless he was killed over it.
      const other = fs.lstatSync(right, { bigint: true, throwIfNoEntry: false })
      if (other !== undefined && isStale(other)) tryRemoveFile(right)
      return false
    }
    if (fileIdentity(lock) === identityOfStats(stats)) tryRemoveFile(lock)
    tryRemoveFile(right)
    return true
  } catch (error) {
    const code = errorCode(error)
    // No waiting gives the right to write here.
    if (code === 'EACCES' || code === 'EROFS') throw new PostflightError('cannot-write', { path: lock, detail: code })
    return false
  }
}

/** A time in the future (a clock that was set back) counts as stale too, or it would last until then. */
function isStale(stats: fs.BigIntStats): boolean {
  return Math.abs(Date.now() - Number(stats.mtimeMs)) > STALE_MS
}

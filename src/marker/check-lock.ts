import fs from 'node:fs'
import { closeQuietly } from '../disk/descriptors.ts'
import { isFull } from '../disk/file-errors.ts'
import { type FileIdentity, fileIdentity, identityOfStats } from '../disk/file-identity.ts'
import { COMMAND_PATIENCE_MS, withLockIfRoom } from '../disk/lock.ts'
import { kindAt } from '../disk/path-kind.ts'
import { tryRemoveFile } from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { KIND_NAMES } from '../kernel/file-messages.ts'
import { checkingPath, checkingSince, TOUCH_EVERY_MS } from './checking.ts'

/**
 * One process at a time runs the checks of a folder. It holds a lock of its own, because checks take minutes and the lock of
 * the marker is held for milliseconds. The lock is touched while the checks run, so that one of a killed process is known.
 */

/** The result of `whileChecking`: another process runs the checks since that time (ms since the epoch), or the result. */
export type Checking<T> =
  | { readonly kind: 'busy'; readonly sinceMs: number }
  | { readonly kind: 'done'; readonly result: T }

/**
 * Runs `action` while holding the lock of the folder's checks.
 * @throws {PostflightError} `file-unreadable` when something other than a file has the lock's name; file-system errors.
 */
export async function whileChecking<T>(folder: string, action: () => Promise<T>): Promise<Checking<T>> {
  const lock = checkingPath(folder)
  let held = take(folder, lock)
  if (typeof held === 'number') return { kind: 'busy', sinceMs: held }
  const touching = setInterval(() => {
    held = touch(lock, held as FileIdentity | undefined)
  }, TOUCH_EVERY_MS)
  try {
    return { kind: 'done', result: await action() }
  } finally {
    clearInterval(touching)
    release(lock, held as FileIdentity | undefined)
  }
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

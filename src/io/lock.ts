import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../core/errors.ts'
import { LOCK_FILE } from '../core/files.ts'
import { createFile, errorCode, kindAt, readSmallFile, temporaryBeside, tryRemoveFile } from './file-access.ts'

/**
 * One writer at a time for a folder's marker: whoever rewrites, removes or abandons it holds this lock for the few
 * milliseconds that takes, so that no rewrite brings back what another process has just removed. Counting a
 * continuation needs no lock (see `claims.ts`).
 *
 * A lock that its holder left behind is taken over after STALE_MS, so none lasts.
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
 * @throws {PostflightError} `marker-locked` when the lock was not to be had within `patienceMs`; `file-unreadable` when
 * what has its name is no file.
 */
export function withLock<T>(folder: string, patienceMs: number, action: () => T): T {
  const lock = path.join(folder, LOCK_FILE)
  const token = `${process.pid} ${process.hrtime.bigint()}\n`
  take(lock, token, patienceMs)
  try {
    return action()
  } finally {
    // Taken over meanwhile (this process slept for seconds): then it is not ours to remove.
    const held = readSmallFile(lock, 200)
    if (held.kind === 'text' && held.text === token) tryRemoveFile(lock)
  }
}

function take(lock: string, token: string, patienceMs: number): void {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      createFile(lock, token, false)
      return
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    if (takeOverStale(lock)) continue
    refuseForeign(lock)
    if (performance.now() >= deadline) {
      throw new PostflightError('marker-locked', { path: path.dirname(lock), lock })
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
  }
}

/** A folder or a link of that name is somebody else's: not ours to move, and no waiting makes it go away. */
function refuseForeign(lock: string): void {
  const kind = kindAt(lock)
  if (kind !== undefined && kind !== 'file') throw new PostflightError('file-unreadable', { path: lock, detail: kind })
}

/** Moves a stale lock aside; true when the way may be free. */
function takeOverStale(lock: string): boolean {
  try {
    const stats = fs.lstatSync(lock, { throwIfNoEntry: false })
    if (stats === undefined) return true
    if (!stats.isFile()) return false
    // A time in the future (a clock that was set back) counts as stale too, or it would last until then.
    const age = Date.now() - stats.mtimeMs
    if (age >= -STALE_MS && age <= STALE_MS) return false
    const aside = temporaryBeside(lock)
    fs.renameSync(lock, aside)
    // Somebody else took over first and this is the lock that he holds: give it back.
    if (fs.lstatSync(aside).ino !== stats.ino) fs.linkSync(aside, lock)
    tryRemoveFile(aside)
    return true
  } catch (error) {
    const code = errorCode(error)
    // No waiting gives the right to write here.
    if (code === 'EACCES' || code === 'EROFS') throw new PostflightError('cannot-write', { path: lock, detail: code })
    return false
  }
}

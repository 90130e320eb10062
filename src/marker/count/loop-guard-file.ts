import path from 'node:path'
import { readSmallFile } from '../../disk/read.ts'
import { replaceFile, temporaryBeside } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { CLAIMS_FOLDER, LOOP_GUARD_FILE } from '../../kernel/files.ts'
import { type Claim, type LoopGuard, parseLoopGuard } from '../loop-guard.ts'
import { highestSlot, readClaims } from './claim-files.ts'

/** Reads and writes the loop guard: one integer, for `cat` and for the skills that remove it. */

const GUARD_MAX_BYTES = 64

/**
 * The loop guard of a task folder.
 * @throws {PostflightError} `cannot-write` when it is not a file or cannot be read.
 */
export function readLoopGuard(folder: string): LoopGuard {
  const guard = path.join(folder, LOOP_GUARD_FILE)
  const read = readSmallFile(guard, GUARD_MAX_BYTES)
  if (read.kind === 'absent') return { kind: 'absent' }
  // Something other than a file, or without read rights, is not ours to replace: then nothing can be counted here.
  if (read.kind === 'unreadable') throw new PostflightError('cannot-write', { path: guard, detail: read.detail })
  return read.whole ? parseLoopGuard(read.text) : { kind: 'garbled' }
}

/**
 * Writes `count` to the loop guard, or a higher number if other processes have claimed more in the meantime. The loop
 * guard only repeats the claims, which are on disk already, so nothing waits for the disk here.
 * @returns the claims as read after the write.
 */
export function showCount(folder: string, count: number): Claim[] {
  const guard = path.join(folder, LOOP_GUARD_FILE)
  for (;;) {
    // Written inside the claims' folder, so that a kill leaves no temporary file beside the marker.
    replaceFile(guard, `${count}\n`, temporaryBeside(path.join(folder, CLAIMS_FOLDER, 'loop-guard')), false)
    const claims = readClaims(folder)
    const highest = Math.max(count, highestSlot(claims))
    if (highest === count) return claims
    count = highest
  }
}

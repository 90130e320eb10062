import path from 'node:path'
import { readSmallFile } from '../../disk/read.ts'
import { replaceFile, temporaryBeside } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { CLAIMS_FOLDER, LOOP_GUARD_FILE } from '../../kernel/files.ts'
import { type Claim, type LoopGuard, parseLoopGuard } from '../loop-guard.ts'
import { highestSlot, readClaims } from './claim-files.ts'

const GUARD_MAX_BYTES = 64

export function readLoopGuard(folder: string): LoopGuard {
  const guard = path.join(folder, LOOP_GUARD_FILE)
  const read = readSmallFile(guard, GUARD_MAX_BYTES)
  if (read.kind === 'absent') return { kind: 'absent' }
  // Not ours to replace, so nothing can be counted.
  if (read.kind === 'unreadable') throw new PostflightError('cannot-write', { path: guard, detail: read.detail })
  return read.whole ? parseLoopGuard(read.text) : { kind: 'garbled' }
}

/** Shows `count`, or more if others claimed meanwhile. No sync: the claims are on disk. */
export function showCount(folder: string, count: number): Claim[] {
  const guard = path.join(folder, LOOP_GUARD_FILE)
  for (;;) {
    // A kill leaves no temporary file beside the marker.
    replaceFile(guard, `${count}\n`, temporaryBeside(path.join(folder, CLAIMS_FOLDER, 'loop-guard')), false)
    const claims = readClaims(folder)
    const highest = Math.max(count, highestSlot(claims))
    if (highest === count) return claims
    count = highest
  }
}

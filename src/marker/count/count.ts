import path from 'node:path'
import { readSmallFile } from '../../disk/read.ts'
import { replaceFile, temporaryBeside } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { ABANDONED_FILE, CLAIMS_FOLDER, LOOP_GUARD_FILE } from '../../kernel/files.ts'
import { isMarkerId } from '../../project/task-folder.ts'
import {
  type Claim,
  CONTINUATION_LIMIT,
  claimKey,
  countSpent,
  countsFor,
  isSpent,
  type LoopGuard,
  type MarkerIdentity,
  parseLoopGuard,
} from '../loop-guard.ts'
import { MARKER_MAX_BYTES, parseMarker } from '../marker.ts'
import { highestSlot, readClaimedFile, readClaims } from './claim-files.ts'

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

interface Count {
  readonly spent: number
  readonly stale: readonly Claim[]
  /** The loop guard's number if another program set it above every claim, otherwise 0. */
  readonly floor: number
}

export function readSpent(folder: string, marker: MarkerIdentity): number {
  return readCount(folder, marker).spent
}

export function readCount(folder: string, marker: MarkerIdentity): Count {
  const own = readOwnCount(folder, marker)
  return isSpent(own.spent) || !liesBesideAbandoned(folder, marker) ? own : { ...own, spent: CONTINUATION_LIMIT }
}

export function readOwnCount(folder: string, marker: MarkerIdentity): Count {
  const guard = readLoopGuard(folder)
  let claims = readClaims(folder)
  const key = claimKey(marker)
  if (guard.kind === 'absent') {
    claims = claims.map((claim) => (claim.key === key ? claim : { ...claim, file: readClaimedFile(folder, claim) }))
  }
  return {
    spent: countSpent(claims, marker, guard),
    stale: claims.filter((claim) => !countsFor(claim, marker, guard)),
    floor: guard.kind === 'number' && guard.value > highestSlot(claims) ? guard.value : 0,
  }
}

/** Whether it has the abandoned marker's id: `git checkout` restores tracked markers. Its continuations are used up. */
export function liesBesideAbandoned(folder: string, { id }: MarkerIdentity): boolean {
  if (!isMarkerId(id)) return false
  const read = readSmallFile(path.join(folder, ABANDONED_FILE), MARKER_MAX_BYTES)
  return read.kind === 'text' && read.whole && parseMarker(read.text).id === id
}

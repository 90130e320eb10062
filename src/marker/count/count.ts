import path from 'node:path'
import { readSmallFile } from '../../disk/read.ts'
import { ABANDONED_FILE } from '../../kernel/files.ts'
import { isMarkerId } from '../../project/task-folder.ts'
import {
  type Claim,
  CONTINUATION_LIMIT,
  claimKey,
  countSpent,
  countsFor,
  isSpent,
  type MarkerIdentity,
} from '../loop-guard.ts'
import { MARKER_MAX_BYTES, parseMarker } from '../marker.ts'
import { highestSlot, readClaimedFile, readClaims } from './claim-files.ts'
import { readLoopGuard } from './loop-guard-file.ts'

export interface Count {
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

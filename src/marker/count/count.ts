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

/** Reads how many continuations are spent from claims and loop guard; their meaning: see `marker/loop-guard.ts`. */

/** The continuations of a marker, as read from disk. */
export interface Count {
  readonly spent: number
  /** Claims that do not count for this marker. */
  readonly stale: readonly Claim[]
  /** The loop guard's number where it is higher than every claim (another program wrote it), otherwise 0. */
  readonly floor: number
}

/** The number of continuations spent for this marker: 0 to 3. Writes nothing. */
export function readSpent(folder: string, marker: MarkerIdentity): number {
  return readCount(folder, marker).spent
}

/**
 * The continuations of a marker. Writes nothing.
 * @throws {PostflightError} `cannot-write` when the loop guard cannot be read, `not-a-folder` when something else has the
 * claims' folder's name; file-system errors.
 */
export function readCount(folder: string, marker: MarkerIdentity): Count {
  const own = readOwnCount(folder, marker)
  return isSpent(own.spent) || !liesBesideAbandoned(folder, marker) ? own : { ...own, spent: CONTINUATION_LIMIT }
}

/** The same from the marker's own claims and loop guard alone. @throws as `readCount`. */
export function readOwnCount(folder: string, marker: MarkerIdentity): Count {
  const guard = readLoopGuard(folder)
  let claims = readClaims(folder)
  const key = claimKey(marker)
  if (guard.kind === 'absent') {
    // In that case the claims under other keys count or not, depending on the file that they were made on.
    claims = claims.map((claim) => (claim.key === key ? claim : { ...claim, file: readClaimedFile(folder, claim) }))
  }
  return {
    spent: countSpent(claims, marker, guard),
    stale: claims.filter((claim) => !countsFor(claim, marker, guard)),
    floor: guard.kind === 'number' && guard.value > highestSlot(claims) ? guard.value : 0,
  }
}

/**
 * True when the abandoned marker beside it has the same id: `git checkout` restores a tracked marker in this way. It is the
 * same promise, and its continuations are spent.
 */
export function liesBesideAbandoned(folder: string, { id }: MarkerIdentity): boolean {
  if (!isMarkerId(id)) return false
  const read = readSmallFile(path.join(folder, ABANDONED_FILE), MARKER_MAX_BYTES)
  return read.kind === 'text' && read.whole && parseMarker(read.text).id === id
}

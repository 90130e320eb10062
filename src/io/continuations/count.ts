import path from 'node:path'
import { ABANDONED_FILE, CLAIMS_FOLDER, LOOP_GUARD_FILE } from '../../core/files.ts'
import {
  type Claim,
  CONTINUATION_LIMIT,
  claimKey,
  countSpent,
  countsFor,
  type MarkerIdentity,
} from '../../core/loop-guard.ts'
import { isMarkerId, MARKER_MAX_BYTES, parseMarker } from '../../core/marker.ts'
import { kindAt } from '../fs/path-kind.ts'
import { readSmallFile } from '../fs/read.ts'
import { highestSlot, readClaimedFile, readClaims } from './claim-files.ts'
import { readLoopGuard } from './loop-guard-file.ts'

/** How many continuations are spent, as claims and loop guard tell it; what they mean, `core/loop-guard.ts` says. */

/** The continuations of a marker as they lie on disk. */
export interface Count {
  readonly spent: number
  /** Claims that count for nobody, as far as the one who reads them knows. */
  readonly stale: readonly Claim[]
  /** The loop guard's number where no claim explains it: somebody else wrote it. Else 0. */
  readonly floor: number
}

/** How many continuations are spent for this marker: 0 to 3. Writes nothing. */
export function readSpent(folder: string, marker: MarkerIdentity): number {
  return readCount(folder, marker).spent
}

/**
 * The continuations of a marker. Writes nothing.
 * @throws {PostflightError} `cannot-write` when the loop guard cannot be read, `not-a-folder` when something else has the
 * claims' folder's name; file-system errors.
 */
export function readCount(folder: string, marker: MarkerIdentity): Count {
  const guard = readLoopGuard(folder)
  let claims = readClaims(folder)
  const key = claimKey(marker)
  if (guard.kind === 'absent') {
    // Only now does it matter which file another key's claim was made on.
    claims = claims.map((claim) => (claim.key === key ? claim : { ...claim, file: readClaimedFile(folder, claim) }))
  }
  const spent = countSpent(claims, marker, guard)
  return {
    spent: spent === 0 && wasGivenUp(folder, marker) ? CONTINUATION_LIMIT : spent,
    stale: claims.filter((claim) => !countsFor(claim, marker, guard)),
    floor: guard.kind === 'number' && guard.value > highestSlot(claims) ? guard.value : 0,
  }
}

/**
 * True for a marker that was given up, and has come back beside the evidence of that, as `git checkout` brings back one
 * that is tracked: it is the same promise, and nothing of it is left.
 */
function wasGivenUp(folder: string, { id }: MarkerIdentity): boolean {
  if (!isMarkerId(id)) return false
  const read = readSmallFile(path.join(folder, ABANDONED_FILE), MARKER_MAX_BYTES)
  return read.kind === 'text' && read.whole && parseMarker(read.text).id === id
}

/** True when something is left of continuations: a loop guard or claims. */
export function hasContinuations(folder: string): boolean {
  return kindAt(path.join(folder, LOOP_GUARD_FILE)) === 'file' || kindAt(path.join(folder, CLAIMS_FOLDER)) === 'folder'
}

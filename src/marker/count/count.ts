import { kindAt, pathIn } from '../../disk/file-facts.ts'
import { readSmallFile, textIn } from '../../disk/read.ts'
import { removeFile, replaceFile, sync, temporaryBeside, tryRemoveFile } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { ABANDONED_FILE, CLAIMS_FOLDER, LOOP_GUARD_FILE } from '../../kernel/files.ts'
import { succeeds } from '../../kernel/values.ts'
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
import { MARKER_BYTES, parseMarker } from '../marker.ts'
import {
  confirmClaim,
  createClaim,
  highestSlot,
  listClaimFiles,
  prepareClaims,
  readClaimedFile,
  readClaims,
  removeClaimFiles,
} from './claim-files.ts'

const GUARD_MAX_BYTES = 64

export function readLoopGuard(folder: string): LoopGuard {
  const guard = pathIn(folder, LOOP_GUARD_FILE)
  const read = readSmallFile(guard, GUARD_MAX_BYTES)
  if (read.kind === 'absent') return 0
  // We must not replace it, so nothing can be counted.
  if (read.kind === 'unreadable') throw new PostflightError('cannot-write', { path: guard, detail: read.detail })
  return read.whole ? parseLoopGuard(read.text) : undefined
}

/** Shows `count`, or more if others claimed meanwhile. No sync: the claims are on disk. */
export function showCount(folder: string, count: number): Claim[] {
  const guard = pathIn(folder, LOOP_GUARD_FILE)
  for (;;) {
    // A kill leaves no temporary file beside the marker.
    const from = temporaryBeside(pathIn(folder, CLAIMS_FOLDER, 'loop-guard'))
    replaceFile(guard, `${count}\n`, { from, durable: false })
    const claims = readClaims(folder)
    const highest = Math.max(count, highestSlot(claims))
    if (highest === count) return claims
    count = highest
  }
}

/** `floor`: the loop guard's number if another program set it above every claim, otherwise 0. */
export function readCount(folder: string, marker: MarkerIdentity) {
  const own = readOwnCount(folder, marker)
  return isSpent(own.spent) || !liesBesideAbandoned(folder, marker) ? own : { ...own, spent: CONTINUATION_LIMIT }
}

export function readOwnCount(folder: string, marker: MarkerIdentity) {
  const guard = readLoopGuard(folder)
  let claims = readClaims(folder)
  const key = claimKey(marker)
  if (guard === 0) {
    claims = claims.map((claim) => (claim.key === key ? claim : { ...claim, file: readClaimedFile(folder, claim) }))
  }
  return {
    spent: countSpent(claims, marker, guard),
    stale: claims.filter((claim) => !countsFor(claim, marker, guard)),
    floor: guard !== undefined && guard > highestSlot(claims) ? guard : 0,
  }
}

/** Whether it has the abandoned marker's id: `git checkout` restores tracked markers. Its continuations are used up. */
export function liesBesideAbandoned(folder: string, { id }: MarkerIdentity): boolean {
  if (!isMarkerId(id)) return false
  const text = textIn(pathIn(folder, ABANDONED_FILE), MARKER_BYTES)
  return text !== undefined && parseMarker(text).id === id
}

/** Callers hold the folder's lock, but hooks claim without it. */

export function carryCount(folder: string, marker: MarkerIdentity, rewritten: MarkerIdentity): void {
  const kind = kindAt(pathIn(folder, CLAIMS_FOLDER))
  // Nothing can be counted, so no stop is blocked, but steps can be ticked.
  if (kind !== undefined && kind !== 'folder') return
  restoreLoopGuard(folder, marker)
  claimSpent(folder, marker, rewritten)
}

function restoreLoopGuard(folder: string, marker: MarkerIdentity): void {
  if ((readLoopGuard(folder) ?? 0) > 0) return
  const { spent } = readCount(folder, marker)
  if (spent === 0) return
  // It may be missing if git restored the marker.
  prepareClaims(folder)
  showCount(folder, spent)
}

function claimSpent(folder: string, marker: MarkerIdentity, rewritten: MarkerIdentity): void {
  const key = claimKey(rewritten)
  const { spent } = readCount(folder, marker)
  if (spent === 0 || readClaims(folder).some((claim) => claim.key === key && claim.slot >= spent)) return
  const claim = { key, slot: spent }
  if (createClaim(folder, claim, rewritten)) confirmClaim(folder, claim)
}

/**
 * Ends a marker's count around `action`. A kill leaves both marker and count, or neither: the count is pinned under the
 * marker's key before the loop guard goes. If pinning fails (full disk), the guard goes last, so that the marker still
 * counts if `action` fails. Claims go after the sync: a power cut could restore the marker without them.
 */
export function endContinuations(folder: string, marker: MarkerIdentity | undefined, action: () => void): void {
  const guard = pathIn(folder, LOOP_GUARD_FILE)
  const names = listClaimFiles(folder) ?? []
  // Failure must not prevent removing the marker.
  const isPinned = marker === undefined || succeeds(() => claimSpent(folder, marker, marker))
  // It is not our file: removing it fails, so the marker stays too.
  const goesFirst = isPinned || (kindAt(guard) ?? 'file') !== 'file'
  if (goesFirst) removeFile(guard)
  action()
  // A running hook may have rewritten it; it then finds its marker gone.
  if (goesFirst) tryRemoveFile(guard)
  else removeFile(guard)
  sync(folder)
  removeClaimFiles(folder, names, marker === undefined ? undefined : claimKey(marker))
}

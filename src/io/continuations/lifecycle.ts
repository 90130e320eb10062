import path from 'node:path'
import { CLAIMS_FOLDER, LOOP_GUARD_FILE } from '../../core/files.ts'
import { claimKey, type MarkerIdentity } from '../../core/loop-guard.ts'
import { kindAt } from '../fs/path-kind.ts'
import { removeFile, tryRemoveFile } from '../fs/write.ts'
import { confirmClaim, createClaim, listClaimFiles, readClaims, removeClaimFiles } from './claim-files.ts'
import { readCount } from './count.ts'
import { readLoopGuard, showCount } from './loop-guard-file.ts'

/**
 * What becomes of a marker's count when the marker is rewritten, or ends: whoever changes a marker, under its folder's
 * lock, comes here, while hooks go on claiming without one.
 */

/** Sees to it that what is spent for `marker` counts on when it is rewritten, also where it gets another key by that. */
export function carryCount(folder: string, marker: MarkerIdentity, rewritten: MarkerIdentity): void {
  const kind = kindAt(path.join(folder, CLAIMS_FOLDER))
  // Where something else lies in its place nothing can be counted, so nobody is held: ticking a step may go on.
  if (kind !== undefined && kind !== 'folder') return
  restoreLoopGuard(folder, marker)
  claimSpent(folder, marker, rewritten)
}

/** Writes the loop guard where it is missing though continuations are spent. */
function restoreLoopGuard(folder: string, marker: MarkerIdentity): void {
  if (readLoopGuard(folder).kind === 'number') return
  const { spent } = readCount(folder, marker)
  if (spent > 0) showCount(folder, spent)
}

function claimSpent(folder: string, marker: MarkerIdentity, rewritten: MarkerIdentity): void {
  const key = claimKey(rewritten)
  const { spent } = readCount(folder, marker)
  if (spent === 0 || readClaims(folder).some((claim) => claim.key === key && claim.slot >= spent)) return
  const claim = { key, slot: spent }
  if (createClaim(folder, claim, rewritten)) confirmClaim(folder, claim)
}

/**
 * Ends a marker's count by `action`, which removes, renames, replaces or makes the marker. In this order a kill between
 * any two steps leaves either the marker and its count, or neither: the count is put where it does not need the loop
 * guard, and the loop guard goes first. Where it cannot be put there (a full disk), the loop guard goes last: what the
 * action leaves when it fails is counted still. Claims of a marker that comes after it stay.
 */
export function endContinuations(folder: string, marker: MarkerIdentity | undefined, action: () => void): void {
  const guard = path.join(folder, LOOP_GUARD_FILE)
  const names = listClaimFiles(folder) ?? []
  const isPinned = marker === undefined || pinCount(folder, marker)
  // What is no file is not ours to remove: then the marker stays too.
  const goesFirst = isPinned || (kindAt(guard) ?? 'file') !== 'file'
  if (goesFirst) removeFile(guard)
  action()
  // A hook that runs now may have written it in between; that hook then sees that its marker is gone.
  if (goesFirst) tryRemoveFile(guard)
  else removeFile(guard)
  removeClaimFiles(folder, names, marker === undefined ? undefined : claimKey(marker))
}

/** Claims under the marker's own key whatever it has spent. False where that cannot be: it must not keep a marker. */
function pinCount(folder: string, marker: MarkerIdentity): boolean {
  try {
    claimSpent(folder, marker, marker)
    return true
  } catch {
    return false
  }
}

import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { removeFile, sync, tryRemoveFile } from '../../disk/write.ts'
import { CLAIMS_FOLDER, LOOP_GUARD_FILE } from '../../kernel/files.ts'
import { claimKey, type MarkerIdentity } from '../loop-guard.ts'
import {
  confirmClaim,
  createClaim,
  listClaimFiles,
  prepareClaims,
  readClaims,
  removeClaimFiles,
} from './claim-files.ts'
import { readCount } from './count.ts'
import { readLoopGuard, showCount } from './loop-guard-file.ts'

/**
 * Keeps a marker's count right when the marker is rewritten or ends. The marker store calls this under the folder's lock,
 * while hooks go on claiming without one.
 */

/** Carries the count of `marker` over to the same marker rewritten, also where its key changes. */
export function carryCount(folder: string, marker: MarkerIdentity, rewritten: MarkerIdentity): void {
  const kind = kindAt(path.join(folder, CLAIMS_FOLDER))
  // If something else has the folder's name, nothing can be counted and no stop is blocked, but a step can still be
  // ticked.
  if (kind !== undefined && kind !== 'folder') return
  restoreLoopGuard(folder, marker)
  claimSpent(folder, marker, rewritten)
}

/** Writes the loop guard where continuations are spent and it is missing. */
function restoreLoopGuard(folder: string, marker: MarkerIdentity): void {
  if (readLoopGuard(folder).kind === 'number') return
  const { spent } = readCount(folder, marker)
  if (spent === 0) return
  // It may be missing where git brought the marker back.
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
 * Ends a marker's count around `action`, which removes, renames, replaces or creates the marker. A kill between any two
 * steps leaves either the marker and its count, or neither: first the count is pinned under the marker's own key, where it
 * needs no loop guard, then the loop guard is removed. If the count cannot be pinned (a full disk), the loop guard is
 * removed last, so that a marker which stays because the action fails is still counted. Claims of a later marker stay. The
 * claims go when the end of the marker is on disk: otherwise a power cut could bring back the marker without its count.
 */
export function endContinuations(folder: string, marker: MarkerIdentity | undefined, action: () => void): void {
  const guard = path.join(folder, LOOP_GUARD_FILE)
  const names = listClaimFiles(folder) ?? []
  const isPinned = marker === undefined || pinCount(folder, marker)
  // Something other than a file is not ours: removing it fails, and the marker stays too.
  const goesFirst = isPinned || (kindAt(guard) ?? 'file') !== 'file'
  if (goesFirst) removeFile(guard)
  action()
  // A hook that runs now may have written it again; that hook then sees that its marker is gone.
  if (goesFirst) tryRemoveFile(guard)
  else removeFile(guard)
  sync(folder)
  removeClaimFiles(folder, names, marker === undefined ? undefined : claimKey(marker))
}

/** Claims the marker's count under its own key. False where that fails: this must not keep a marker from being removed. */
function pinCount(folder: string, marker: MarkerIdentity): boolean {
  try {
    claimSpent(folder, marker, marker)
    return true
  } catch {
    return false
  }
}

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
import { readCount, readLoopGuard, showCount } from './count.ts'

/** Callers hold the folder's lock, but hooks claim without it. */

export function carryCount(folder: string, marker: MarkerIdentity, rewritten: MarkerIdentity): void {
  const kind = kindAt(path.join(folder, CLAIMS_FOLDER))
  // Nothing can be counted, so no stop is blocked, but steps can be ticked.
  if (kind !== undefined && kind !== 'folder') return
  restoreLoopGuard(folder, marker)
  claimSpent(folder, marker, rewritten)
}

function restoreLoopGuard(folder: string, marker: MarkerIdentity): void {
  if (readLoopGuard(folder).kind === 'number') return
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
  const guard = path.join(folder, LOOP_GUARD_FILE)
  const names = listClaimFiles(folder) ?? []
  const isPinned = marker === undefined || pinCount(folder, marker)
  // Not ours: removing it fails, so the marker stays too.
  const goesFirst = isPinned || (kindAt(guard) ?? 'file') !== 'file'
  if (goesFirst) removeFile(guard)
  action()
  // A running hook may have rewritten it; it then finds its marker gone.
  if (goesFirst) tryRemoveFile(guard)
  else removeFile(guard)
  sync(folder)
  removeClaimFiles(folder, names, marker === undefined ? undefined : claimKey(marker))
}

/** Failure must not prevent removing the marker. */
function pinCount(folder: string, marker: MarkerIdentity): boolean {
  try {
    claimSpent(folder, marker, marker)
    return true
  } catch {
    return false
  }
}

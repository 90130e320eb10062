import path from 'node:path'
import { LOOP_GUARD_FILE, MARKER_FILE } from '../../core/files.ts'
import { type Claim, claimKey, isSpent, type MarkerIdentity } from '../../core/loop-guard.ts'
import { isAbsent } from '../fs/errors.ts'
import { fileIdentity } from '../fs/file-identity.ts'
import { kindAt } from '../fs/path-kind.ts'
import { tryRemoveFile } from '../fs/write.ts'
import { claimPath, confirmClaim, createClaim, highestSlot, readClaims, tidyClaims } from './claim-files.ts'
import { readCount } from './count.ts'
import { showCount } from './loop-guard-file.ts'

/**
 * Counting a continuation (DESIGN section 6). It is claimed by creating a file exclusively, one per slot, so any number
 * of processes may try at once, none waits, and a kill at any instant leaves at most a slot that is spent without a
 * block. The loop guard file is written after the claim and shows the number to `cat`.
 */

/** Every retry means that another process got on; more of them than this is no contention any more. */
const MAX_ATTEMPTS = 20

/** What came of trying to claim one continuation. */
export type ClaimResult =
  /** The count is on disk: a block may be printed. */
  | { readonly kind: 'claimed'; readonly count: number }
  /** All continuations are spent. */
  | { readonly kind: 'spent' }
  /** The marker was replaced or removed meanwhile, nothing is counted: judge it again. */
  | { readonly kind: 'changed' }

/**
 * Counts one continuation, durably, if one is left. `reread` gives the marker as it lies there now, if it still holds
 * the same agent: one that was only rewritten (a step ticked, an owner learnt) is blocked all the same.
 * @throws when the count cannot be put on disk; nothing is counted then.
 */
export function claimContinuation(
  folder: string,
  marker: MarkerIdentity,
  reread: () => MarkerIdentity | undefined,
): ClaimResult {
  try {
    return tryClaim(folder, marker, reread)
  } catch (error) {
    // A folder of ours, or the task folder itself, was removed between two calls, as `clear` does.
    if (isAbsent(error)) return { kind: 'changed' }
    throw error
  }
}

function tryClaim(folder: string, marker: MarkerIdentity, reread: () => MarkerIdentity | undefined): ClaimResult {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { spent, stale, floor } = readCount(folder, marker)
    if (isSpent(spent)) return { kind: 'spent' }
    if (stale.length > 0) {
      // To whoever still has a marker in hand that was replaced, the new one's claims look stale.
      if (!isPending(folder, marker)) return { kind: 'changed' }
      // Left by a marker that was removed together with its loop guard: they count for nobody any more.
      for (const claim of stale) tryRemoveFile(claimPath(folder, claim))
    }
    const claim = { key: claimKey(marker), slot: spent + 1 }
    if (!createClaim(folder, claim, marker)) continue
    const outcome = confirm(folder, marker, claim, reread)
    if (outcome === 'stands') return { kind: 'claimed', count: claim.slot }
    tryRemoveFile(claimPath(folder, claim))
    if (outcome === 'shown') settleLoopGuard(folder, floor)
    if (isGone(folder)) tidyClaims(folder)
    return { kind: 'changed' }
  }
  return { kind: 'changed' }
}

/**
 * The claim is on disk. It stands if, after the loop guard shows it, the marker is still the one that was judged, or
 * that one rewritten: what replaces it later is judged by somebody who sees the loop guard. Else it must be given back,
 * and where the loop guard shows it already, that too.
 */
function confirm(
  folder: string,
  judged: MarkerIdentity,
  claim: Claim,
  reread: () => MarkerIdentity | undefined,
): 'stands' | 'shown' | 'not-shown' {
  let marker: MarkerIdentity | undefined = judged
  let outcome: 'shown' | 'not-shown' = 'not-shown'
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      // Asked before too, so that as a rule nothing is shown for a marker that is gone.
      if (isPending(folder, marker)) {
        outcome = 'shown'
        const claims = showCount(folder, claim.slot)
        if (claims.some((other) => other.key !== claim.key && other.slot >= claim.slot)) return outcome
        if (isPending(folder, marker)) {
          confirmClaim(folder, claim)
          return 'stands'
        }
      }
      marker = reread()
      if (marker === undefined || claimKey(marker) !== claim.key) return outcome
    }
    return outcome
  } catch (error) {
    tryRemoveFile(claimPath(folder, claim))
    throw error
  }
}

/** True while the marker that was judged is the one that lies there. */
function isPending(folder: string, marker: MarkerIdentity): boolean {
  return fileIdentity(path.join(folder, MARKER_FILE)) === marker.file
}

/**
 * After a claim was given back: the loop guard shows what is left (the remaining claims, or what it showed without
 * any), or goes, in any case with the marker: one that stayed would count for the next promise here.
 */
function settleLoopGuard(folder: string, floor: number): void {
  let shown: number | undefined
  // Looked at again after each change, because what was written or removed may be what another process had just shown.
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const count = isGone(folder) ? 0 : Math.max(floor, highestSlot(readClaims(folder)))
    if (count === shown) break
    shown = count
    if (count === 0) tryRemoveFile(path.join(folder, LOOP_GUARD_FILE))
    else tryShowCount(folder, count)
  }
}

/** True where no marker lies any more, of whatever kind. */
function isGone(folder: string): boolean {
  return kindAt(path.join(folder, MARKER_FILE)) === undefined
}

function tryShowCount(folder: string, count: number): void {
  try {
    showCount(folder, count)
  } catch (error) {
    if (!isAbsent(error)) throw error
  }
}

import path from 'node:path'
import { fileIdentity, isAbsent, kindAt } from '../../disk/file-facts.ts'
import { tryRemoveFile } from '../../disk/write.ts'
import { LOOP_GUARD_FILE, MARKER_FILE } from '../../kernel/files.ts'
import { type Claim, claimKey, isSpent, type MarkerIdentity } from '../loop-guard.ts'
import { claimPath, confirmClaim, createClaim, highestSlot, readClaims, tidyClaims } from './claim-files.ts'
import { readCount } from './count.ts'
import { showCount } from './loop-guard-file.ts'

/**
 * Counts a continuation (docs/design.md, "Counting blocked stops"). It is claimed by creating a file exclusively, one per
 * slot. So any number of processes may try at once, none waits for another, and a kill at any instant leaves at most a
 * slot that is spent without a block. The loop guard file is written after the claim and shows the number to `cat`.
 */

/** Each retry means that another process made progress; contention alone does not cause more retries than this. */
const MAX_ATTEMPTS = 20

/** The result of trying to claim one continuation. */
export type ClaimResult =
  /** The count is on disk: a block may be printed. */
  | { readonly kind: 'claimed'; readonly count: number }
  /** All continuations are spent. */
  | { readonly kind: 'spent' }
  /** The marker was replaced or removed in the meantime and nothing is counted: judge it again. */
  | { readonly kind: 'changed' }

/**
 * Counts one continuation, durably, if one is left. `reread` returns the marker as it lies there now, if it still holds
 * the same agent: a marker that was only rewritten (a step ticked, an owner noted) still blocks.
 * @throws when the count cannot be written to disk; then nothing is counted.
 */
export function claimContinuation(
  folder: string,
  marker: MarkerIdentity,
  reread: () => MarkerIdentity | undefined,
): ClaimResult {
  try {
    return tryClaim(folder, marker, reread)
  } catch (error) {
    // The claims' folder or the task folder was removed between two calls, as `clear` does.
    if (isAbsent(error)) return { kind: 'changed' }
    throw error
  }
}

function tryClaim(folder: string, marker: MarkerIdentity, reread: () => MarkerIdentity | undefined): ClaimResult {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { spent, stale, floor } = readCount(folder, marker)
    if (isSpent(spent)) return { kind: 'spent' }
    if (stale.length > 0) {
      // To a process that judged a marker which was then replaced, the new marker's claims look stale.
      if (!isPending(folder, marker)) return { kind: 'changed' }
      // Left by a marker that was removed together with its loop guard: they do not count any more.
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
 * Decides whether the claim, which is on disk, stands. It stands if, after the loop guard shows it, the marker is still
 * the one that was judged, or that marker rewritten: a marker that replaces it later is judged by a process that sees the
 * loop guard. Otherwise the claim must be given back, and so must the loop guard where it shows the claim already.
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
      // Checked before as well, so that usually nothing is shown for a marker that is gone.
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
    // The claims' folder was removed between two writes of the loop guard, as `clear` does: the first one may have left it.
    if (isAbsent(error)) return outcome
    tryRemoveFile(claimPath(folder, claim))
    throw error
  }
}

/** True while the marker in the folder is the one that was judged. */
function isPending(folder: string, marker: MarkerIdentity): boolean {
  return fileIdentity(path.join(folder, MARKER_FILE)) === marker.file
}

/**
 * Corrects the loop guard after a claim was given back: it shows the remaining claims or the number that it had without
 * claims, or is removed. It is always removed where the marker is gone: a loop guard that stayed would count for the next
 * promise here.
 */
function settleLoopGuard(folder: string, floor: number): void {
  let shown: number | undefined
  // Read again after each change, because the number just written or removed may be one that another process had shown.
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const count = isGone(folder) ? 0 : Math.max(floor, highestSlot(readClaims(folder)))
    if (count === shown) break
    shown = count
    if (count === 0) tryRemoveFile(path.join(folder, LOOP_GUARD_FILE))
    else tryShowCount(folder, count)
  }
}

/** True where nothing has the marker's name. */
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

import { fileIdentity, isAbsent, kindAt, pathIn, unlessAbsent } from '../../disk/file-facts.ts'
import { isLocked } from '../../disk/lock.ts'
import { tryRemoveFile } from '../../disk/write.ts'
import { LOOP_GUARD_FILE, MARKER_FILE } from '../../kernel/files.ts'
import { type Claim, claimKey, isSpent, type MarkerIdentity } from '../loop-guard.ts'
import { claimPath, confirmClaim, createClaim, highestSlot, readClaims, tidyClaims } from './claim-files.ts'
import { readCount, showCount } from './count.ts'

/** Counts a continuation by exclusively creating a file per slot (docs/design.md, "Counting blocked stops"). */

/** Contention alone needs fewer retries: each one means that another process made progress. */
const MAX_ATTEMPTS = 20

/** `claimed`: on disk, so a block may be printed. `changed`: nothing was counted, so the marker is judged again. */
export type ClaimResult = Readonly<{ kind: 'claimed'; count: number } | { kind: 'spent' | 'changed' }>

/** Returns the current marker if it still blocks the agent. */
type Reread = () => MarkerIdentity | undefined

export function claimContinuation(folder: string, marker: MarkerIdentity, reread: Reread): ClaimResult {
  // `clear` may remove a folder meanwhile.
  return unlessAbsent(() => tryClaim(folder, marker, reread)) ?? { kind: 'changed' }
}

function tryClaim(folder: string, marker: MarkerIdentity, reread: Reread): ClaimResult {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { spent, stale, floor } = readCount(folder, marker)
    if (isSpent(spent)) return { kind: 'spent' }
    if (stale.length > 0) {
      // If the marker was replaced, the new one's claims look stale to us.
      if (!isPending(folder, marker)) return { kind: 'changed' }
      // Abandoning removes the loop guard first. A marker without an id that bash writes then is the same one, rewritten.
      if (marker.id === undefined && isLocked(folder)) return { kind: 'changed' }
      for (const claim of stale) tryRemoveFile(claimPath(folder, claim))
    }
    const claim = { key: claimKey(marker), slot: spent + 1 }
    if (!createClaim(folder, claim, marker)) continue
    const outcome = confirm(folder, marker, claim, reread)
    if (outcome === 'counted') return { kind: 'claimed', count: claim.slot }
    tryRemoveFile(claimPath(folder, claim))
    if (outcome === 'shown') updateLoopGuard(folder, floor)
    if (isGone(folder)) tidyClaims(folder)
    return { kind: 'changed' }
  }
  return { kind: 'changed' }
}

/**
 * Confirms a claim if the marker is unchanged (or only rewritten) after the loop guard shows the claim. A process that
 * judges a later marker sees the guard.
 */
function confirm(folder: string, judged: MarkerIdentity, claim: Claim, reread: Reread) {
  let marker: MarkerIdentity | undefined = judged
  let outcome: 'shown' | 'not-shown' = 'not-shown'
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      // Usually avoids showing a count for a removed marker.
      if (isPending(folder, marker)) {
        outcome = 'shown'
        const claims = showCount(folder, claim.slot)
        if (claims.some((other) => other.key !== claim.key && other.slot >= claim.slot)) return outcome
        if (isPending(folder, marker)) {
          confirmClaim(folder, claim)
          return 'counted'
        }
      }
      marker = reread()
      if (marker === undefined || claimKey(marker) !== claim.key) return outcome
    }
    return outcome
  } catch (error) {
    // `clear` removed the claims' folder; the loop guard may remain.
    if (isAbsent(error)) return outcome
    tryRemoveFile(claimPath(folder, claim))
    throw error
  }
}

function isPending(folder: string, marker: MarkerIdentity): boolean {
  return fileIdentity(pathIn(folder, MARKER_FILE)) === marker.file
}

/** Corrects the loop guard after a withdrawn claim. If the marker is gone, the guard would count for the next one. */
function updateLoopGuard(folder: string, floor: number): void {
  let shown: number | undefined
  // We may have replaced a number that another process had shown.
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const count = isGone(folder) ? 0 : Math.max(floor, highestSlot(readClaims(folder)))
    if (count === shown) break
    shown = count
    if (count === 0) tryRemoveFile(pathIn(folder, LOOP_GUARD_FILE))
    else unlessAbsent(() => showCount(folder, count))
  }
}

function isGone(folder: string): boolean {
  return kindAt(pathIn(folder, MARKER_FILE)) === undefined
}

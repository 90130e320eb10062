import fs from 'node:fs'
import path from 'node:path'
import { CONTINUATION_LIMIT } from '../core/decision.ts'
import { PostflightError } from '../core/errors.ts'
import { CLAIMS_FOLDER, LOOP_GUARD_FILE, MARKER_FILE } from '../core/files.ts'
import {
  type Claim,
  claimKey,
  claimName,
  countSpent,
  countsFor,
  type LoopGuard,
  type MarkerIdentity,
  parseClaimName,
  parseLoopGuard,
} from '../core/loop-guard.ts'
import {
  createFile,
  errorCode,
  fileIdentity,
  hideFromGit,
  isAbsent,
  kindAt,
  makeOwnFolder,
  readSmallFile,
  removeFile,
  replaceFile,
  temporaryBeside,
  tryRemoveFile,
} from './file-access.ts'

/**
 * Continuations on disk (DESIGN section 6). A continuation is claimed by creating a file exclusively, one per slot, so
 * any number of processes may try at once, none waits, and a kill at any instant leaves at most a slot that is spent
 * without a block. The loop guard file is written after the claim and shows the number to `cat`.
 */

/** What came of trying to claim one continuation. */
export type ClaimResult =
  /** The count is on disk: a block may be printed. */
  | { readonly kind: 'claimed'; readonly count: number }
  /** All continuations are spent. */
  | { readonly kind: 'spent' }
  /** The marker was replaced or removed meanwhile, nothing is counted: judge it again. */
  | { readonly kind: 'changed' }

const GUARD_MAX_BYTES = 64
const CLAIM_MAX_BYTES = 200
/** Beside a claim: its process has seen to everything, and the marker may be given up. */
const CONFIRMED = '.confirmed'
/** A claim that is not confirmed after this long (ms) belongs to a process that was killed: the hook answers sooner. */
const UNDERWAY_MS = 5_000
/** Every retry means that another process got on; more of them than this is no contention any more. */
const MAX_ATTEMPTS = 20

/** How many continuations are spent for this marker: 0 to 3. Writes nothing. */
export function readSpent(folder: string, marker: MarkerIdentity): number {
  return readCount(folder, marker).spent
}

/**
 * Counts one continuation, durably, if one is left.
 * @throws when the count cannot be put on disk; nothing is counted then.
 */
export function claimContinuation(folder: string, marker: MarkerIdentity): ClaimResult {
  try {
    return tryClaim(folder, marker)
  } catch (error) {
    // A folder of ours, or the task folder itself, was removed between two calls, as `clear` does.
    if (isAbsent(error)) return { kind: 'changed' }
    throw error
  }
}

function tryClaim(folder: string, marker: MarkerIdentity): ClaimResult {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { spent, stale } = readCount(folder, marker)
    if (spent >= CONTINUATION_LIMIT) return { kind: 'spent' }
    // Left by a marker that was removed together with its loop guard: they count for nobody any more.
    for (const claim of stale) removeClaim(folder, claim)
    const claim = { key: claimKey(marker), slot: spent + 1 }
    if (!createClaim(folder, claim, marker)) continue
    return confirm(folder, marker, claim)
  }
  return { kind: 'changed' }
}

/** The claim is on disk. It stands if the loop guard shows it and the marker is still the one that was judged. */
function confirm(folder: string, marker: MarkerIdentity, claim: Claim): ClaimResult {
  let claims: Claim[]
  try {
    claims = showCount(folder, claim.slot)
  } catch (error) {
    tryRemoveFile(claimPath(folder, claim))
    throw error
  }
  const rivals = claims.filter((other) => other.key !== claim.key && other.slot >= claim.slot)
  if (fileIdentity(path.join(folder, MARKER_FILE)) === marker.file && rivals.length === 0) {
    confirmClaim(folder, claim)
    return { kind: 'claimed', count: claim.slot }
  }
  tryRemoveFile(claimPath(folder, claim))
  settleLoopGuard(folder)
  return { kind: 'changed' }
}

function confirmClaim(folder: string, claim: Claim): void {
  try {
    createFile(claimPath(folder, claim) + CONFIRMED, '', false)
  } catch {
    // Then it counts as underway for a while, which delays nothing but giving the marker up.
  }
}

/**
 * True while another process may be between its claim and its block. Giving the marker up now would take it from
 * under that process: its continuation would be spent without a block, and it could leave a loop guard behind.
 */
export function hasClaimsUnderway(folder: string, nowMs: number): boolean {
  return readClaims(folder).some((claim) => {
    const file = claimPath(folder, claim)
    if (kindAt(file + CONFIRMED) !== undefined) return false
    const madeMs = fs.lstatSync(file, { throwIfNoEntry: false })?.mtimeMs
    return madeMs !== undefined && Math.abs(nowMs - madeMs) < UNDERWAY_MS
  })
}

/** Removes the loop guard and every claim: a full reset. The marker must be gone, or be about to be replaced. */
export function resetContinuations(folder: string): void {
  removeFile(path.join(folder, LOOP_GUARD_FILE))
  removeClaims(folder)
}

/** Removes every claim and their folder. What is not ours in there stays. */
export function removeClaims(folder: string): void {
  const claims = path.join(folder, CLAIMS_FOLDER)
  if (kindAt(claims) !== 'folder') return
  for (const name of fs.readdirSync(claims)) {
    if (
      parseClaimName(name) !== undefined ||
      name === '.gitignore' ||
      name.endsWith('.tmp') ||
      name.endsWith(CONFIRMED) ||
      name.endsWith('.expired')
    ) {
      tryRemoveFile(path.join(claims, name))
    }
  }
  try {
    fs.rmdirSync(claims)
  } catch {
    // Not empty: a claim was made meanwhile, or somebody keeps files in there.
  }
}

/**
 * Sees to it that the count outlives what happens next to marker or loop guard: every slot is claimed under the
 * marker's own key, however the count came about.
 */
export function claimAllSlots(folder: string, marker: MarkerIdentity): void {
  createClaim(folder, { key: claimKey(marker), slot: CONTINUATION_LIMIT }, marker)
}

/** Writes the loop guard where it is missing though continuations are spent, so that a rewrite keeps the count. */
export function restoreLoopGuard(folder: string, marker: MarkerIdentity): void {
  if (readLoopGuard(folder).kind === 'number') return
  const { spent } = readCount(folder, marker)
  if (spent > 0) showCount(folder, spent)
}

/** Notes once that a marker expired; false when that was noted before, or cannot be. */
export function noteExpired(folder: string, marker: MarkerIdentity): boolean {
  try {
    prepareClaims(folder)
    createFile(path.join(folder, CLAIMS_FOLDER, `${claimKey(marker)}.expired`), '')
    return true
  } catch {
    return false
  }
}

/** True when something is left of continuations: a loop guard or claims. */
export function hasContinuations(folder: string): boolean {
  return kindAt(path.join(folder, LOOP_GUARD_FILE)) === 'file' || kindAt(path.join(folder, CLAIMS_FOLDER)) === 'folder'
}

function readCount(folder: string, marker: MarkerIdentity): { spent: number; stale: Claim[] } {
  const guard = readLoopGuard(folder)
  let claims = readClaims(folder)
  const key = claimKey(marker)
  if (guard.kind === 'absent') {
    // Only now does it matter which file another key's claim was made on.
    claims = claims.map((claim) => (claim.key === key ? claim : { ...claim, file: readClaimedFile(folder, claim) }))
  }
  return {
    spent: countSpent(claims, marker, guard),
    stale: claims.filter((claim) => !countsFor(claim, marker, guard)),
  }
}

function readLoopGuard(folder: string): LoopGuard {
  const guard = path.join(folder, LOOP_GUARD_FILE)
  const read = readSmallFile(guard, GUARD_MAX_BYTES)
  if (read.kind === 'absent') return { kind: 'absent' }
  // What is no file, or may not be read, is not ours to replace: then nothing can be counted here.
  if (read.kind === 'unreadable') throw new PostflightError('cannot-write', { path: guard, detail: read.detail })
  return read.whole ? parseLoopGuard(read.text) : { kind: 'garbled' }
}

function readClaims(folder: string): Claim[] {
  const claims = path.join(folder, CLAIMS_FOLDER)
  let names: string[]
  try {
    requireOwnFolder(claims)
    names = fs.readdirSync(claims)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
  return names.map(parseClaimName).filter((claim) => claim !== undefined)
}

/** A link of that name would lead our writes to elsewhere. */
function requireOwnFolder(folder: string): void {
  const kind = kindAt(folder)
  if (kind !== undefined && kind !== 'folder') throw new PostflightError('not-a-folder', { path: folder, kind })
}

function readClaimedFile(folder: string, claim: Claim): string | undefined {
  const read = readSmallFile(claimPath(folder, claim), CLAIM_MAX_BYTES)
  return read.kind === 'text' ? read.text.trim() : undefined
}

function claimPath(folder: string, claim: Claim): string {
  return path.join(folder, CLAIMS_FOLDER, claimName(claim.key, claim.slot))
}

function removeClaim(folder: string, claim: Claim): void {
  tryRemoveFile(claimPath(folder, claim))
  tryRemoveFile(claimPath(folder, claim) + CONFIRMED)
}

/** True when the slot is ours now, false when another process has it. */
function createClaim(folder: string, claim: Claim, marker: MarkerIdentity): boolean {
  prepareClaims(folder)
  try {
    createFile(claimPath(folder, claim), `${marker.file}\n`)
    return true
  } catch (error) {
    // ENOENT: the folder was removed between the two calls, as `clear` does.
    if (errorCode(error) === 'EEXIST' || isAbsent(error)) return false
    throw error
  }
}

function prepareClaims(folder: string): void {
  const claims = path.join(folder, CLAIMS_FOLDER)
  if (makeOwnFolder(claims)) hideFromGit(claims)
}

/**
 * Shows `count` to `cat`, and a higher one if other processes have claimed more meanwhile. The loop guard is a view:
 * the claims are on disk already, so nothing waits for the disk here.
 * @returns the claims as they are after it was written.
 */
function showCount(folder: string, count: number): Claim[] {
  const guard = path.join(folder, LOOP_GUARD_FILE)
  for (;;) {
    // Written inside the claims' folder, so that a kill leaves no litter beside the marker.
    replaceFile(guard, `${count}\n`, temporaryBeside(path.join(folder, CLAIMS_FOLDER, 'loop-guard')), false)
    const claims = readClaims(folder)
    const highest = Math.max(count, ...claims.map((claim) => claim.slot))
    if (highest === count) return claims
    count = highest
  }
}

/**
 * After a claim was given back: the loop guard shows what the remaining claims say, or goes with the last of them, and
 * in any case with the marker: one that stayed would count for the next promise here.
 */
function settleLoopGuard(folder: string): void {
  const count = Math.max(0, ...readClaims(folder).map((claim) => claim.slot))
  const isPending = (): boolean => kindAt(path.join(folder, MARKER_FILE)) !== undefined
  if (count > 0 && isPending()) showCount(folder, count)
  if (count > 0 && isPending()) return
  tryRemoveFile(path.join(folder, LOOP_GUARD_FILE))
  if (count === 0 && !isPending()) removeClaims(folder)
}

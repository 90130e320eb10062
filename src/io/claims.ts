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
import { errorCode, isAbsent } from './file-access/errors.ts'
import { fileIdentity, kindAt } from './file-access/looking.ts'
import { hideFromGit, makeOwnFolder } from './file-access/own-folder.ts'
import { readSmallFile } from './file-access/reading.ts'
import { createFile, removeFile, replaceFile, temporaryBeside, tryRemoveFile } from './file-access/writing.ts'

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

/** The continuations of a marker as they lie on disk. */
interface Count {
  readonly spent: number
  /** Claims that count for nobody, as far as the one who reads them knows. */
  readonly stale: readonly Claim[]
  /** The loop guard's number where no claim explains it: somebody else wrote it. Else 0. */
  readonly floor: number
}

const GUARD_MAX_BYTES = 64
const CLAIM_MAX_BYTES = 200
/** A claim younger than this (ms) may be underway; an older one's process was killed: the hook answers sooner. */
const UNDERWAY_MS = 5_000
/** The time (s since the epoch) that a claim is given when its process has seen to everything: long ago. */
const CONFIRMED_TIME = 946_684_800
/** Every retry means that another process got on; more of them than this is no contention any more. */
const MAX_ATTEMPTS = 20

/** How many continuations are spent for this marker: 0 to 3. Writes nothing. */
export function readSpent(folder: string, marker: MarkerIdentity): number {
  return readCount(folder, marker).spent
}

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
    if (spent >= CONTINUATION_LIMIT) return { kind: 'spent' }
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

function confirmClaim(folder: string, claim: Claim): void {
  try {
    fs.lutimesSync(claimPath(folder, claim), CONFIRMED_TIME, CONFIRMED_TIME)
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
    const stats = fs.lstatSync(claimPath(folder, claim), { throwIfNoEntry: false })
    // What is no file was made by nobody's hook.
    return stats?.isFile() === true && Math.abs(nowMs - stats.mtimeMs) < UNDERWAY_MS
  })
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

/** Sees to it that what is spent for `marker` counts on when it is rewritten, also where it gets another key by that. */
export function carryCount(folder: string, marker: MarkerIdentity, rewritten: MarkerIdentity): void {
  const kind = kindAt(path.join(folder, CLAIMS_FOLDER))
  // Where something else lies in its place nothing can be counted, so nobody is held: ticking a step may go on.
  if (kind !== undefined && kind !== 'folder') return
  restoreLoopGuard(folder, marker)
  claimSpent(folder, marker, rewritten)
}

function claimSpent(folder: string, marker: MarkerIdentity, rewritten: MarkerIdentity): void {
  const key = claimKey(rewritten)
  const { spent } = readCount(folder, marker)
  if (spent === 0 || readClaims(folder).some((claim) => claim.key === key && claim.slot >= spent)) return
  const claim = { key, slot: spent }
  if (createClaim(folder, claim, rewritten)) confirmClaim(folder, claim)
}

/** The names in the claims' folder; undefined where there is none. */
function listClaimFiles(folder: string): string[] | undefined {
  const claims = path.join(folder, CLAIMS_FOLDER)
  try {
    return kindAt(claims) === 'folder' ? fs.readdirSync(claims) : undefined
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** Removes those of `names` that are ours, what lies there under `key`, and the folder if nothing else is in it. */
function removeClaimFiles(folder: string, names: readonly string[], key: string | undefined): void {
  try {
    const later = listClaimFiles(folder)?.filter((name) => key !== undefined && name.startsWith(`${key}.`)) ?? []
    for (const name of new Set([...names, ...later])) {
      if (parseClaimName(name) !== undefined || name.endsWith('.expired') || name.endsWith('.tmp')) {
        tryRemoveFile(path.join(folder, CLAIMS_FOLDER, name))
      }
    }
    tidyClaims(folder)
  } catch {
    // They count for nobody any more.
  }
}

/** Removes the claims' folder if there is nothing in it: no claim, and no file of somebody else's. */
function tidyClaims(folder: string): void {
  const claims = path.join(folder, CLAIMS_FOLDER)
  if (listClaimFiles(folder)?.every((name) => name === '.gitignore') !== true) return
  tryRemoveFile(path.join(claims, '.gitignore'))
  try {
    fs.rmdirSync(claims)
  } catch {
    // A claim was made meanwhile.
    if (kindAt(claims) === 'folder') hideFromGit(claims)
  }
}

/** Writes the loop guard where it is missing though continuations are spent. */
function restoreLoopGuard(folder: string, marker: MarkerIdentity): void {
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

function readCount(folder: string, marker: MarkerIdentity): Count {
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
    floor: guard.kind === 'number' && guard.value > highestSlot(claims) ? guard.value : 0,
  }
}

function highestSlot(claims: readonly Claim[]): number {
  return Math.max(0, ...claims.map((claim) => claim.slot))
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
    const highest = Math.max(count, highestSlot(claims))
    if (highest === count) return claims
    count = highest
  }
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

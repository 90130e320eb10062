import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent, kindAt, pathIn, unlessAbsent } from '../../disk/file-facts.ts'
import { hideFromGit, makeOwnFolder, removeIfEmpty } from '../../disk/folders.ts'
import { readSmallFile } from '../../disk/read.ts'
import { createFile, sync, tryRemoveFile } from '../../disk/write.ts'
import { SIZE_DETAILS } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { CLAIMS_FOLDER } from '../../kernel/files.ts'
import { attempt, succeeds } from '../../kernel/values.ts'
import { type Claim, claimKey, claimName, type MarkerIdentity, parseClaimName } from '../loop-guard.ts'

const CLAIM_MAX_BYTES = 200
/** A clone may contain any number of claims, and a stop opens each of them. A marker has at most three. */
const MAX_CLAIMS = 1_000
/** In ms. Hooks answer sooner, so an older claim's process was killed. */
const UNDERWAY_MS = 5_000

/**
 * A claim's name holds the count, so we sync only that. Windows and some other file systems cannot; there we sync the
 * text, and a journaling file system then writes the name too.
 */
const SYNCS_NAMES = process.platform !== 'win32'
/** In seconds since the epoch: a time long past. */
const CONFIRMED_TIME = 946_684_800

export function readClaims(folder: string): Claim[] {
  const location = pathIn(folder, CLAIMS_FOLDER)
  const kind = kindAt(location)
  // Links would redirect our writes.
  if (kind !== undefined && kind !== 'folder') throw new PostflightError('not-a-folder', { path: location, kind })
  const claims = (listClaimFiles(folder) ?? []).map(parseClaimName).filter((claim) => claim !== undefined)
  if (claims.length <= MAX_CLAIMS) return claims
  throw new PostflightError('file-unreadable', { path: location, detail: SIZE_DETAILS.tooManyFiles })
}

export function highestSlot(claims: readonly Claim[]): number {
  return Math.max(0, ...claims.map((claim) => claim.slot))
}

export function readClaimedFile(folder: string, claim: Claim): string | undefined {
  const read = readSmallFile(claimPath(folder, claim), CLAIM_MAX_BYTES)
  return read.kind === 'text' ? read.text.trim() : undefined
}

export function claimPath(folder: string, claim: Claim): string {
  return pathIn(folder, CLAIMS_FOLDER, claimName(claim.key, claim.slot))
}

/** Returns false if another process has the slot. */
export function createClaim(folder: string, claim: Claim, marker: MarkerIdentity): boolean {
  const isNew = prepareClaims(folder)
  const target = claimPath(folder, claim)
  try {
    createFile(target, `${marker.file}\n`, { durable: !SYNCS_NAMES })
  } catch (error) {
    // `clear` removed the folder meanwhile.
    if (errorCode(error) === 'EEXIST' || isAbsent(error)) return false
    throw error
  }
  try {
    if (!sync(path.dirname(target))) sync(target)
    // The process that made the folder may have been killed before it synced it.
    if (isNew || claim.slot === 1) sync(folder)
  } catch (error) {
    tryRemoveFile(target)
    throw error
  }
  return true
}

export function prepareClaims(folder: string): boolean {
  const claims = pathIn(folder, CLAIMS_FOLDER)
  const isNew = makeOwnFolder(claims)
  if (isNew) hideFromGit(claims)
  return isNew
}

/** Never throws. */
export function confirmClaim(folder: string, claim: Claim): void {
  // Failure only delays abandoning the marker.
  attempt(() => fs.lutimesSync(claimPath(folder, claim), CONFIRMED_TIME, CONFIRMED_TIME))
}

/** Whether a process may be between its claim and its block. Abandoning the marker now would lose that block. */
export function hasClaimsUnderway(folder: string, nowMs: number): boolean {
  return readClaims(folder).some((claim) => {
    const stats = fs.lstatSync(claimPath(folder, claim), { throwIfNoEntry: false })
    // Hooks create regular files only.
    return stats?.isFile() === true && Math.abs(nowMs - stats.mtimeMs) < UNDERWAY_MS
  })
}

/** Returns false if noted before, or on failure. */
export function noteExpired(folder: string, marker: MarkerIdentity): boolean {
  return succeeds(() => {
    prepareClaims(folder)
    createFile(pathIn(folder, CLAIMS_FOLDER, `${claimKey(marker)}.expired`), '', { durable: false })
  })
}

export function listClaimFiles(folder: string): string[] | undefined {
  const claims = pathIn(folder, CLAIMS_FOLDER)
  return unlessAbsent(() => (kindAt(claims) === 'folder' ? fs.readdirSync(claims) : undefined))
}

/** Never throws. */
export function removeClaimFiles(folder: string, names: readonly string[], key: string | undefined): void {
  // If it fails, these claims no longer count all the same.
  attempt(() => {
    const later = listClaimFiles(folder)?.filter((name) => key !== undefined && name.startsWith(`${key}.`)) ?? []
    for (const name of new Set([...names, ...later])) {
      if (parseClaimName(name) !== undefined || name.endsWith('.expired') || name.endsWith('.tmp')) {
        tryRemoveFile(pathIn(folder, CLAIMS_FOLDER, name))
      }
    }
    tidyClaims(folder)
  })
}

export function tidyClaims(folder: string): void {
  const claims = pathIn(folder, CLAIMS_FOLDER)
  if (listClaimFiles(folder)?.every((name) => name === '.gitignore') !== true) return
  tryRemoveFile(pathIn(claims, '.gitignore'))
  if (!removeIfEmpty(claims) && kindAt(claims) === 'folder') hideFromGit(claims)
}

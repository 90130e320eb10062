import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent, kindAt } from '../../disk/file-facts.ts'
import { hideFromGit, makeOwnFolder } from '../../disk/own-folder.ts'
import { readSmallFile } from '../../disk/read.ts'
import { createFile, sync, tryRemoveFile } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { CLAIMS_FOLDER } from '../../kernel/files.ts'
import { type Claim, claimKey, claimName, type MarkerIdentity, parseClaimName } from '../loop-guard.ts'

/**
 * Reads and writes the claims' folder: one file per claim, and one per marker that was noted as expired. The claims that
 * count for a marker: see `marker/loop-guard.ts`.
 */

const CLAIM_MAX_BYTES = 200

/** A claim younger than this (ms) may be underway. The process of an older one was killed: the hook answers sooner. */
const UNDERWAY_MS = 5_000

/**
 * A claim's name counts, so its name is synced and not its text: that is one wait for the disk and not two. Windows and some
 * other file systems cannot sync names; there the text is synced, with which a file system with a journal writes the name.
 */
const SYNCS_NAMES = process.platform !== 'win32'

/** The file time (s since the epoch) of a confirmed claim: long ago. */
const CONFIRMED_TIME = 946_684_800

/**
 * Every claim in a task folder, for any marker; none where the claims' folder is missing. Other files are ignored.
 * @throws {PostflightError} `not-a-folder` when something else has the claims' folder's name; file-system errors.
 */
export function readClaims(folder: string): Claim[] {
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

/** Refuses anything other than a folder: a link would redirect our writes. */
function requireOwnFolder(folder: string): void {
  const kind = kindAt(folder)
  if (kind !== undefined && kind !== 'folder') throw new PostflightError('not-a-folder', { path: folder, kind })
}

/** The highest slot among claims; 0 where there are none. */
export function highestSlot(claims: readonly Claim[]): number {
  return Math.max(0, ...claims.map((claim) => claim.slot))
}

/** The identity of the marker file that a claim was made on; undefined where the claim cannot be read. Never throws. */
export function readClaimedFile(folder: string, claim: Claim): string | undefined {
  const read = readSmallFile(claimPath(folder, claim), CLAIM_MAX_BYTES)
  return read.kind === 'text' ? read.text.trim() : undefined
}

/** The path of a claim. */
export function claimPath(folder: string, claim: Claim): string {
  return path.join(folder, CLAIMS_FOLDER, claimName(claim.key, claim.slot))
}

/**
 * Claims a slot for a marker, durably; false when another process has the slot.
 * @throws {PostflightError} `not-a-folder` when something else has the claims' folder's name; file-system errors.
 */
export function createClaim(folder: string, claim: Claim, marker: MarkerIdentity): boolean {
  const isNew = prepareClaims(folder)
  const target = claimPath(folder, claim)
  try {
    createFile(target, `${marker.file}\n`, !SYNCS_NAMES)
  } catch (error) {
    // Absent: the folder was removed between the two calls, as `clear` does.
    if (errorCode(error) === 'EEXIST' || isAbsent(error)) return false
    throw error
  }
  try {
    if (!sync(path.dirname(target))) sync(target)
    // With the first claim too: a process that made the folder may have been killed before it got here.
    if (isNew || claim.slot === 1) sync(folder)
  } catch (error) {
    tryRemoveFile(target)
    throw error
  }
  return true
}

/** Makes the claims' folder; false where it is there already. @throws file-system errors. */
export function prepareClaims(folder: string): boolean {
  const claims = path.join(folder, CLAIMS_FOLDER)
  const isNew = makeOwnFolder(claims)
  if (isNew) hideFromGit(claims)
  return isNew
}

/** Marks a claim as confirmed: its process has finished with it, so it is not underway. Never throws. */
export function confirmClaim(folder: string, claim: Claim): void {
  try {
    fs.lutimesSync(claimPath(folder, claim), CONFIRMED_TIME, CONFIRMED_TIME)
  } catch {
    // The claim counts as underway for a few seconds, which only delays abandoning the marker.
  }
}

/**
 * True while another process may be between its claim and its block. If the marker were abandoned now, that process's
 * continuation would be spent without a block, and it could leave a loop guard behind.
 */
export function hasClaimsUnderway(folder: string, nowMs: number): boolean {
  return readClaims(folder).some((claim) => {
    const stats = fs.lstatSync(claimPath(folder, claim), { throwIfNoEntry: false })
    // Hooks create regular files only.
    return stats?.isFile() === true && Math.abs(nowMs - stats.mtimeMs) < UNDERWAY_MS
  })
}

/** Notes that a marker expired; false when that was noted before, or cannot be noted. Never throws. */
export function noteExpired(folder: string, marker: MarkerIdentity): boolean {
  try {
    prepareClaims(folder)
    createFile(path.join(folder, CLAIMS_FOLDER, `${claimKey(marker)}.expired`), '', false)
    return true
  } catch {
    return false
  }
}

/** The names in the claims' folder; undefined where there is none. @throws file-system errors. */
export function listClaimFiles(folder: string): string[] | undefined {
  const claims = path.join(folder, CLAIMS_FOLDER)
  try {
    return kindAt(claims) === 'folder' ? fs.readdirSync(claims) : undefined
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/**
 * Removes the files of ours among `names`, all files under `key`, and the folder if nothing else is in it. Never throws.
 */
export function removeClaimFiles(folder: string, names: readonly string[], key: string | undefined): void {
  try {
    const later = listClaimFiles(folder)?.filter((name) => key !== undefined && name.startsWith(`${key}.`)) ?? []
    for (const name of new Set([...names, ...later])) {
      if (parseClaimName(name) !== undefined || name.endsWith('.expired') || name.endsWith('.tmp')) {
        tryRemoveFile(path.join(folder, CLAIMS_FOLDER, name))
      }
    }
    tidyClaims(folder)
  } catch {
    // These claims do not count any more.
  }
}

/**
 * Removes the claims' folder if it holds only our `.gitignore`.
 * @throws file-system errors.
 */
export function tidyClaims(folder: string): void {
  const claims = path.join(folder, CLAIMS_FOLDER)
  if (listClaimFiles(folder)?.every((name) => name === '.gitignore') !== true) return
  tryRemoveFile(path.join(claims, '.gitignore'))
  try {
    fs.rmdirSync(claims)
  } catch {
    // Another process made a claim in the meantime.
    if (kindAt(claims) === 'folder') hideFromGit(claims)
  }
}

import path from 'node:path'
import { kindAt, realPath } from '../disk/file-facts.ts'
import { sha256 } from '../disk/hash.ts'
import { makeFolders } from '../disk/own-folder.ts'
import { readSmallFile } from '../disk/read.ts'
import { replaceFile } from '../disk/write.ts'
import type { Environment } from '../kernel/environment.ts'
import { isJsonObject } from '../kernel/json-object.ts'
import { toIsoSeconds } from '../kernel/time.ts'
import { stateFolder } from '../project/home-folder.ts'
import { findRepository } from '../project/root.ts'
import { type DoneRule, readRules, rulesFile } from './done-rules.ts'

/**
 * The rules that a person trusted on this machine. They lie outside of the repository, because everything inside may have
 * come with a clone, or been changed by an agent.
 */

/** The person at this machine. */
export interface Person {
  readonly environment: Environment
  readonly findHome: () => string
}

/** The copy of a definition of done. */
export interface TrustedCopy {
  readonly rules: readonly DoneRule[]
  /** The SHA-256 of the file that was trusted. */
  readonly fileHash: string
  /** When it was trusted, in ISO 8601. */
  readonly trusted: string
}

/** The largest copy that is read, in bytes. The file may be 1 MiB, and JSON writes some characters longer. */
const COPY_LIMIT = 8_388_608

/** The copy for a root; undefined if there is none, or if it cannot be read. Never throws. */
export function readTrusted(root: string, person: Person): TrustedCopy | undefined {
  try {
    const read = readSmallFile(trustFile(root, person), COPY_LIMIT)
    if (read.kind !== 'text' || !read.whole) return undefined
    const held: unknown = JSON.parse(read.text)
    if (!isJsonObject(held) || typeof held.file_hash !== 'string') return undefined
    const result = readRules({ done: held.done })
    return 'rules' in result
      ? { rules: result.rules, fileHash: held.file_hash, trusted: String(held.trusted) }
      : undefined
  } catch {
    return undefined
  }
}

/** Keeps a copy of the rules for a root, durably. @throws file-system errors, `home-unknown`. */
export function keepTrusted(
  root: string,
  { rules, fileHash }: Pick<TrustedCopy, 'rules' | 'fileHash'>,
  person: Person,
  nowMs: number,
): void {
  const file = trustFile(root, person)
  makeFolders(path.dirname(file))
  const copy = { root: trustedRoot(root), file_hash: fileHash, trusted: toIsoSeconds(nowMs), ...rulesFile(rules) }
  replaceFile(file, `${JSON.stringify(copy, null, 2)}\n`)
}

function trustFile(root: string, { environment, findHome }: Person): string {
  return path.join(stateFolder(environment, findHome), 'done', `${sha256(trustedRoot(root))}.json`)
}

/** The largest file of git's that is read, in bytes: each holds one path. */
const GIT_FILE_LIMIT = 8_192

/**
 * The root whose copy counts for a root: in a linked worktree, that of its main checkout. Git's two files must name each other,
 * so that no folder can pass for a worktree of somebody else's checkout.
 */
export function trustedRoot(root: string): string {
  const top = findRepository(root)
  const main = top === undefined ? undefined : mainCheckout(top)
  return top === undefined || main === undefined ? root : path.join(main, path.relative(top, root))
}

function mainCheckout(top: string): string | undefined {
  try {
    const link = path.join(top, '.git')
    const own = /^gitdir: (.+)$/.exec(lineIn(link) ?? '')?.[1]
    if (own === undefined) return undefined
    const gitFolder = realPath(path.resolve(top, own))
    const back = lineIn(path.join(gitFolder, 'gitdir'))
    const commonLine = lineIn(path.join(gitFolder, 'commondir'))
    if (back === undefined || commonLine === undefined) return undefined
    if (realPath(path.resolve(gitFolder, back)) !== realPath(link)) return undefined
    const common = realPath(path.resolve(gitFolder, commonLine))
    const isWorktree = path.dirname(gitFolder) === path.join(common, 'worktrees') && path.basename(common) === '.git'
    return isWorktree && kindAt(common) === 'folder' ? path.dirname(common) : undefined
  } catch {
    return undefined
  }
}

/** The one line of a file of git's; undefined for anything else. */
function lineIn(file: string): string | undefined {
  const read = readSmallFile(file, GIT_FILE_LIMIT)
  return read.kind === 'text' && read.whole ? read.text.replace(/\r?\n$/, '') : undefined
}

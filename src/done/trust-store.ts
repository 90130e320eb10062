import path from 'node:path'
import { kindAt, kindIfSeen } from '../disk/file-facts.ts'
import { makeFolders } from '../disk/folders.ts'
import { newNonce, sha256 } from '../disk/ids.ts'
import { readSmallFile } from '../disk/read.ts'
import { removeFile, replaceFile } from '../disk/write.ts'
import { commandLine } from '../kernel/command-line.ts'
import { SIZE_DETAILS } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { DONE_FILE, SPECS_FOLDER } from '../kernel/files.ts'
import { abandonedFix } from '../kernel/text.ts'
import { toIsoSeconds } from '../kernel/time.ts'
import { attempt, jsonObjectIn } from '../kernel/values.ts'
import type { CommandContext } from '../project/command-context.ts'
import { stateFolder } from '../project/home-folder.ts'
import { inMainCheckout } from '../project/root.ts'
import { DONE_WORD, isSessionFolderName } from '../project/task-folders.ts'
import { type DoneRule, type DoneStatus, readRules, rulesFile } from './done-rules.ts'

/** `specs/done.yaml` as bytes. The hook compares them with the trusted ones, and parses no YAML. */

export function doneFilePath(root: string): string {
  return path.join(root, SPECS_FOLDER, DONE_FILE)
}

/** Never throws. */
export function hasDoneFile(root: string): boolean {
  return kindIfSeen(doneFilePath(root)) !== undefined
}

/** `isOver`: the marker is abandoned. */
export function unfinishedFix(root: string, rootOption: string | undefined, task: string, isOver: boolean): string {
  const clear = commandLine(['clear', task], rootOption)
  if (!isSessionFolderName(task)) return abandonedFix(commandLine(['adopt', task], rootOption), clear)
  const prove = hasDoneFile(root) ? 'to run its checks:' : 'to run its checks, restore specs/done.yaml, then:'
  const done = commandLine([DONE_WORD], rootOption)
  return `${prove} ${done}; if it is no longer wanted: ${clear}${isOver ? '' : ' --unchecked'}`
}

/** Never throws, never follows a link. */
export function readDoneFile(root: string) {
  const read = readSmallFile(doneFilePath(root))
  if (read.kind !== 'text') return read
  if (!read.whole) return { kind: 'unreadable' as const, detail: SIZE_DETAILS.tooLarge }
  return { kind: 'text' as const, text: read.text, hash: sha256(read.text) }
}

/** Outside of the repository: everything inside may come with a clone, or from an agent. */

export type Person = Pick<CommandContext, 'environment'>

export interface TrustedRules {
  readonly rules: readonly DoneRule[]
  /** Seals the receipts of this checkout: one that came with a clone proves nothing. Stays when rules are trusted again. */
  readonly nonce: string
}

type TrustedCopy = TrustedRules & { readonly fileHash: string }

/** In bytes. */
const COPY_LIMIT = 8_388_608

/** Never throws. */
export function readTrusted(root: string, person: Person): TrustedCopy | undefined {
  return attempt(() => requireTrusted(root, person))
}

/** Throws if a copy cannot be read: a stop must not ignore it silently. */
export function requireTrusted(root: string, person: Person): TrustedCopy | undefined {
  // If nothing was ever trusted, nothing is hashed: `node:crypto` takes 3 ms to load.
  if (kindAt(trustFolder(person)) === undefined) return undefined
  const path = trustFile(root, person)
  const read = readSmallFile(path, COPY_LIMIT)
  if (read.kind === 'unreadable') throw new PostflightError('file-unreadable', { path, detail: read.detail })
  if (read.kind !== 'text' || !read.whole) return undefined
  const value = jsonObjectIn(read.text)
  const { file_hash: fileHash, nonce } = value
  if (typeof fileHash !== 'string' || typeof nonce !== 'string') return undefined
  const result = readRules({ done: value.done })
  return 'rules' in result ? { rules: result.rules, nonce, fileHash } : undefined
}

export function keepTrusted(root: string, { rules, fileHash }: Omit<TrustedCopy, 'nonce'>, who: Person, nowMs: number) {
  const file = trustFile(root, who)
  makeFolders(path.dirname(file))
  const nonce = readTrusted(root, who)?.nonce ?? newNonce()
  const about = { root: trustedRoot(root), file_hash: fileHash, trusted: toIsoSeconds(nowMs), nonce }
  replaceFile(file, `${JSON.stringify({ ...about, ...rulesFile(rules) }, null, 2)}\n`)
}

export function forgetTrusted(root: string, person: Person): void {
  removeFile(trustFile(root, person))
}

function trustFile(root: string, person: Person): string {
  return path.join(trustFolder(person), `${sha256(trustedRoot(root))}.json`)
}

function trustFolder({ environment }: Person): string {
  return path.join(stateFolder(environment), 'done')
}

export function trustedRoot(root: string): string {
  return inMainCheckout(root) ?? root
}

/** The main checkout of a linked worktree, if the rules that both share still have their file there. */
export function mainWithDoneFile(root: string): string | undefined {
  const main = trustedRoot(root)
  return main !== root && hasDoneFile(main) ? main : undefined
}

/** Never throws. */
export function doneStatus(root: string, person: Person): DoneStatus | undefined {
  return compareWithCopy(readDoneFile(root), readTrusted(root, person))
}

export function compareWithCopy(file: ReturnType<typeof readDoneFile>, copy: TrustedCopy | undefined) {
  if (file.kind === 'absent') return copy === undefined ? undefined : 'missing'
  if (copy === undefined) return 'untrusted'
  if (file.kind === 'unreadable') return 'unreadable'
  return file.hash === copy.fileHash ? 'trusted' : 'changed'
}

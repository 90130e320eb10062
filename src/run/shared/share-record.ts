import path from 'node:path'
import { readSmallFile } from '../../disk/read.ts'
import { removeFile, replaceFile } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { RUN_SHARE_FILE } from '../../kernel/files.ts'
import { oneLine } from '../../kernel/text.ts'
import { fromIso, toIso } from '../../kernel/time.ts'
import { jsonObjectIn } from '../../kernel/values.ts'
import { beginsWithDigit, isNewName, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { listTaskFolders, taskFolderBelow } from '../../project/task-folders.ts'
import { isInsidePath } from '../definition/definition-limits.ts'
import { count, listOf, objectOf, optional, type Reader, text, type Values, WRONG } from '../definition/fields.ts'
import type { WorkflowState } from '../machine/state.ts'

const HOLDER_BYTES = 8_192
/** Enough for a week without the remote: each publish adds a commit to `sent`. */
const RECORD_BYTES = 4_194_304
export const MAX_SENT = 50_000

const line: Reader<string> = (value) => (typeof value === 'string' ? oneLine(value, 300) : WRONG)
const time: Reader<number> = (value) => (typeof value === 'string' ? (fromIso(value) ?? WRONG) : WRONG)
const commit: Reader<string> = (value) =>
  typeof value === 'string' && /^(?:[0-9a-f]{40,64})?$/.test(value) ? value : WRONG
const nonce: Reader<string> = (value) => (typeof value === 'string' && /^[0-9a-f]{32}$/.test(value) ? value : WRONG)
/** Below `specs/`: a new folder may get this name, and the search finds it there. */
const folderPath: Reader<string> = (value) => {
  if (typeof value !== 'string' || !isInsidePath(value)) return WRONG
  const names = value.split('/')
  const isFound = names.length === 1 || (names.length === 2 && !beginsWithDigit(value))
  return isFound && names.every(isNewName) ? value : WRONG
}

const HOLDER_FIELDS = {
  /** Undefined after a release, like the session. */
  machine: optional(line),
  session: optional(line),
  sinceMs: { key: 'since', read: time },
  /** Counts claims from 1. */
  generation: count,
  /** 128 random bits: two machines never make the same commit. */
  nonce,
  path: folderPath,
  /** Folder in the repository of the project, which numbers its own tasks; undefined at the top. */
  project: optional(text),
}

export interface Holder extends Values<typeof HOLDER_FIELDS> {}

const readFields = objectOf(HOLDER_FIELDS)

export function readHolder(bytes: Buffer | undefined): Holder | undefined {
  if (bytes === undefined || bytes.length > HOLDER_BYTES) return undefined
  const read = readFields(jsonObjectIn(bytes.toString()))
  return read === WRONG ? undefined : read
}

export function formatHolder({ sinceMs, ...holder }: Holder): string {
  return `${JSON.stringify({ ...holder, since: toIso(sinceMs) }, null, 2)}\n`
}

const RECORD_FIELDS = {
  run: text,
  remote: text,
  /** The last commit published or taken over here. */
  commit,
  /** Commits sent later without an answer: the ref may hold one of them. */
  sent: listOf(commit),
  /** The commit of a takeover without an answer. Until its files are in place, the state here is older than the ref. */
  claim: optional(commit),
  /** The unpublished commit that a takeover replaced. */
  kept: optional(commit),
  generation: count,
  nonce,
  sinceMs: { key: 'since', read: time },
  publishedMs: { key: 'published_at', read: optional(time) },
  sequence: count,
  problem: optional(line),
}

export interface ShareRecord extends Values<typeof RECORD_FIELDS> {}

const readRecord = objectOf(RECORD_FIELDS)

export function holderWords({ machine, session }: Holder): string {
  const on = oneLine(machine ?? '', 100)
  return session === undefined ? on : `${on} (session ${oneLine(session, 100)})`
}

/** Never throws. */
export function shareOf(folder: TaskFolder, run: string): ShareRecord | undefined {
  const record = recordIn(folder)
  return record === WRONG || record?.run !== run ? undefined : record
}

export function isOurs(share: ShareRecord | undefined, commit: string): boolean {
  return share !== undefined && (share.commit === commit || share.sent.includes(commit))
}

/** The folder that has the run here, which may have been renamed, or else the one of that path. */
export function folderOfShare(root: string, below: string, run: string): TaskFolder {
  const named = taskFolderBelow(root, below)
  if (shareOf(named, run) !== undefined) return named
  return listTaskFolders(root).folders.find((folder) => shareOf(folder, run) !== undefined) ?? named
}

/** Throws `share-unreadable`: an unreadable record must not count as not shared. */
export function readShare(folder: TaskFolder, run: string): ShareRecord | undefined {
  if (recordIn(folder) !== WRONG) return shareOf(folder, run)
  throw new PostflightError('share-unreadable', { path: `${folder.relative}/${RUN_SHARE_FILE}` })
}

function recordIn(folder: TaskFolder): ShareRecord | undefined | typeof WRONG {
  const read = readSmallFile(recordFile(folder), RECORD_BYTES)
  if (read.kind === 'absent') return undefined
  return read.kind === 'text' ? readRecord(jsonObjectIn(read.text)) : WRONG
}

export function refuseMoved(folder: TaskFolder, { outcome, why, id }: WorkflowState): void {
  if (outcome !== 'moved') return
  const remote = shareOf(folder, id)?.remote ?? 'origin'
  throw new PostflightError('workflow-moved', { task: taskWord(folder), run: id, remote, why: why ?? '' })
}

/** Needs the run's lock. */
export function writeShare(folder: TaskFolder, { sinceMs, publishedMs, sequence, ...record }: ShareRecord): void {
  const times = { since: toIso(sinceMs), published_at: publishedMs === undefined ? undefined : toIso(publishedMs) }
  replaceFile(recordFile(folder), `${JSON.stringify({ ...record, ...times, sequence }, null, 2)}\n`)
}

export function removeShare(folder: TaskFolder): void {
  removeFile(recordFile(folder))
}

function recordFile(folder: TaskFolder): string {
  return path.join(folder.path, RUN_SHARE_FILE)
}

export function newShare(run: string, remote: string, claim: Pick<ShareRecord, 'generation' | 'nonce' | 'sinceMs'>) {
  const nothing = { claim: undefined, kept: undefined, publishedMs: undefined, problem: undefined }
  return { ...nothing, ...claim, run, remote, commit: '', sent: [], sequence: 0 }
}

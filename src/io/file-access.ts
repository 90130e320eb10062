import fs from 'node:fs'
import { PostflightError } from '../core/errors.ts'
import { errorMessage } from '../core/messages.ts'

/**
 * Reading and replacing small files of ours in folders that somebody else may have filled: never through a link, never
 * a pipe or a device, never more than asked for, and a replaced file is the old or the new one, never half.
 */

// Not defined on Windows, where links need a privilege and pipes do not lie in folders.
const NO_FOLLOW = fs.constants.O_NOFOLLOW ?? 0
const NON_BLOCKING = fs.constants.O_NONBLOCK ?? 0

/** Flags to open a file for reading. It is never a link, and a named pipe is not waited for. */
export const READING = fs.constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING
/** The same to add to a file at its end; whether it is read too is the caller's to say. */
export const APPENDING = fs.constants.O_APPEND | fs.constants.O_CREAT | NO_FOLLOW | NON_BLOCKING

/** What tells one file from another, and from a later one of the same name. */
export type FileIdentity = string

/** Why nothing could be read. */
export type NotRead = { readonly kind: 'absent' } | { readonly kind: 'unreadable'; readonly detail: string }

/** A file's beginning, or why there is none. */
export type BytesRead =
  | {
      readonly kind: 'bytes'
      readonly bytes: Buffer
      /** False when the file is longer than what was read. */
      readonly whole: boolean
      readonly identity: FileIdentity
      /** Last change in ms since the epoch. */
      readonly modifiedMs: number
    }
  | NotRead

/** The same as text. */
export type FileRead =
  | (Omit<Extract<BytesRead, { kind: 'bytes' }>, 'kind' | 'bytes'> & { readonly kind: 'text'; readonly text: string })
  | NotRead

/** The code of a file-system error (`ENOENT`), or its message. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}

/** An error in words where it is one of ours, else its code: for a notice, which says what to do. */
export function errorText(error: unknown): string {
  return error instanceof PostflightError ? errorMessage(error.code, error.args) : errorCode(error)
}

/** True when the error says that nothing is there. */
export function isAbsent(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Inode and birth time. The birth time tells a file from a later one that was given the same inode, as ext4 does at
 * once; rewriting in place (`cat > marker`) changes neither.
 */
export function identityOf(stats: fs.BigIntStats): FileIdentity {
  return `f${stats.ino.toString(36)}-${stats.birthtimeNs.toString(36)}`
}

/** The identity of the regular file at `path`; undefined where there is none. @throws where that cannot be told. */
export function fileIdentity(path: string): FileIdentity | undefined {
  try {
    const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return stats?.isFile() ? identityOf(stats) : undefined
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** Reads at most `limit` bytes of a regular file as UTF-8. Never throws, never waits for a pipe, never follows a link. */
export function readSmallFile(path: string, limit: number, likely = false): FileRead {
  const read = readSmallBytes(path, limit, likely)
  if (read.kind !== 'bytes') return read
  const { bytes, whole, identity, modifiedMs } = read
  return { kind: 'text', text: bytes.toString('utf8'), whole, identity, modifiedMs }
}

/** The same as bytes. `likely`: the caller has just seen that something is there. */
export function readSmallBytes(path: string, limit: number, likely = false): BytesRead {
  let descriptor: number | undefined
  try {
    // Asked first, because an error is the slowest way to learn that a file is not there.
    if (!likely && fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) return { kind: 'absent' }
    descriptor = fs.openSync(path, READING)
    const stats = fs.fstatSync(descriptor, { bigint: true })
    if (!stats.isFile()) return { kind: 'unreadable', detail: kindName(stats) }
    // One byte more than asked for, to see whether there is more.
    const buffer = Buffer.allocUnsafe(Math.min(limit, Number(stats.size)) + 1)
    let length = 0
    // Until the size that it had when it was opened: asking again for the end would double the calls.
    do {
      const count = readPart(descriptor, buffer, length)
      if (count === 0) break
      length += count
    } while (length < Math.min(limit, Number(stats.size)))
    return {
      kind: 'bytes',
      bytes: buffer.subarray(0, Math.min(length, limit)),
      whole: length <= limit && Number(stats.size) <= limit,
      identity: identityOf(stats),
      modifiedMs: Number(stats.mtimeMs),
    }
  } catch (error) {
    if (isAbsent(error)) return { kind: 'absent' }
    const code = errorCode(error)
    return { kind: 'unreadable', detail: code === 'ELOOP' ? 'a link' : code }
  } finally {
    if (descriptor !== undefined) closeQuietly(descriptor)
  }
}

/** A read that is interrupted more often than this (times) is no accident. */
const MAX_INTERRUPTIONS = 100

/** A signal may interrupt a read, and Node hands that on; of no other call. */
function readPart(descriptor: number, buffer: Buffer, offset: number): number {
  for (let interruptions = 0; ; interruptions++) {
    try {
      return fs.readSync(descriptor, buffer, offset, buffer.length - offset, null)
    } catch (error) {
      if (errorCode(error) !== 'EINTR' || interruptions >= MAX_INTERRUPTIONS) throw error
    }
  }
}

/** Closes a file of which nothing more is wanted: what was read is read, what was written was synced or need not be. */
export function closeQuietly(descriptor: number): void {
  try {
    fs.closeSync(descriptor)
  } catch {
    // Nothing depends on it.
  }
}

function kindName(stats: { isDirectory(): boolean; isFIFO(): boolean; isSymbolicLink(): boolean }): string {
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a named pipe'
  return stats.isSymbolicLink() ? 'a link' : 'no regular file'
}

/** What is at `path`, not following links: `file`, `folder`, what else it is, or undefined for nothing. */
export function kindAt(path: string): string | undefined {
  let stats: fs.Stats | undefined
  try {
    stats = fs.lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
  if (stats === undefined) return undefined
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : kindName(stats)
}

/**
 * Creates `path` with `text`; the file must not be there yet. The text is on disk when this returns, unless the caller
 * says that it need not be: what is only a view of other files is not worth waiting for a disk.
 */
export function createFile(path: string, text: string, durable = true, mode = 0o644): void {
  const descriptor = fs.openSync(path, 'wx', mode)
  try {
    writeWhole(descriptor, text)
    if (durable) fs.fsyncSync(descriptor)
  } catch (error) {
    closeQuietly(descriptor)
    tryRemoveFile(path)
    throw named(error, path)
  }
  closeQuietly(descriptor)
}

/** Writes all of `text`: a disk that is nearly full takes a part, and says so only at the next write. */
export function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) written += fs.writeSync(descriptor, bytes, written)
}

/**
 * Creates `path` with its whole text, exclusively: a reader sees no file or all of it, and so does whoever comes after a
 * kill.
 */
export function createWhole(path: string, text: string, mode = 0o644): void {
  const temporary = temporaryBeside(path)
  createFile(temporary, text, true, mode)
  try {
    fs.linkSync(temporary, path)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EOPNOTSUPP') throw error
    // A file system without hard links (exFAT, some network folders): exclusive, if not in one go.
    createFile(path, text, true, mode)
  } finally {
    tryRemoveFile(temporary)
  }
}

/** Calls on a descriptor fail without saying for which file. */
export function named(error: unknown, path: string): unknown {
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error
}

let temporaryCount = 0

/** A name beside `path` that no other process uses. */
export function temporaryBeside(path: string): string {
  temporaryCount += 1
  return `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}-${temporaryCount}.tmp`
}

/** Replaces `path` (or creates it) by a rename. `temporary` lies on the same file system. */
export function replaceFile(path: string, text: string, temporary = temporaryBeside(path), durable = true): void {
  createFile(temporary, text, durable)
  try {
    fs.renameSync(temporary, path)
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
}

/**
 * Makes a folder of ours where there is none; true when it was made now.
 * @throws {PostflightError} `not-a-folder` when something else has its name: a link would lead our writes elsewhere.
 */
export function makeOwnFolder(folder: string): boolean {
  const kind = kindAt(folder)
  if (kind === 'folder') return false
  if (kind !== undefined) throw new PostflightError('not-a-folder', { path: folder, kind })
  try {
    fs.mkdirSync(folder)
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    return makeOwnFolder(folder)
  }
}

/** Keeps git from seeing a folder of ours, so that a skill's `git add -A` does not commit it. A convenience only. */
export function hideFromGit(folder: string): void {
  try {
    createFile(`${folder}/.gitignore`, '*\n', false)
  } catch {
    // It is there, or cannot be: nothing depends on it.
  }
}

/** Removes a file; true when it was there. Never a folder. */
export function removeFile(path: string): boolean {
  try {
    fs.unlinkSync(path)
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

/** Removes a file where it can: for what is litter, not a promise. */
export function tryRemoveFile(path: string): void {
  try {
    fs.unlinkSync(path)
  } catch {
    // Litter that stays harms nobody.
  }
}

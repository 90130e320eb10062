import fs from 'node:fs'
import { errorMessage } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import type { PathKind } from '../kernel/files.ts'

/** What is known of a file: its kind, its identity, and what the errors of calls say about it. */

/** The kind of file at `path`, links not followed; undefined if the path does not exist. @throws file-system errors. */
export function kindAt(path: string): PathKind | undefined {
  try {
    const stats = fs.lstatSync(path, { throwIfNoEntry: false })
    return stats && kindOfStats(stats)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** The kind of a file, from its status. */
export function kindOfStats(
  stats: Pick<fs.StatsBase<unknown>, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO'>,
): PathKind {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  if (stats.isSymbolicLink()) return 'link'
  return stats.isFIFO() ? 'pipe' : 'other'
}

/** The path with all links resolved; the path itself where nothing lies there. @throws file-system errors. */
export function realPath(path: string): string {
  try {
    return fs.realpathSync(path)
  } catch (error) {
    if (isAbsent(error)) return path
    throw error
  }
}

/**
 * The error code that prevents new files in the folder at `path`, as far as can be told without trying; undefined where
 * files can be created, or where the folder does not exist.
 */
export function unwritableBecause(path: string): string | undefined {
  try {
    fs.accessSync(path, fs.constants.W_OK | fs.constants.X_OK)
    return undefined
  } catch (error) {
    return isAbsent(error) ? undefined : errorCode(error)
  }
}

/** The code of a file-system error (`ENOENT`), or its message. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}

/** The sentence of a PostflightError, or the code of any other error: the reason inside a notice. */
export function errorText(error: unknown): string {
  return error instanceof PostflightError ? errorMessage(error.code, error.args) : errorCode(error)
}

/** True when the error says that nothing lies at the path. */
export function isAbsent(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** True when the error says that the disk, or the user's share of it, has no room: no blocks or no inodes. */
export function isFull(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** A text that identifies one file, and no later file of the same name. */
export type FileIdentity = string

/**
 * The identity of a file: inode and birth time. ext4 reuses a freed inode at once, so the birth time tells a file from a
 * later one. Rewriting in place (`cat > marker`) changes neither.
 *
 * Where the file system knows no birth time (ext2, NFS), the last change of the content replaces it, and rewriting in
 * place makes another file. No birth time begins with 0.
 */
export function identityOfStats({ ino, birthtimeNs, mtimeNs }: fs.BigIntStats): FileIdentity {
  // Unsigned, because `touch` can set any time, and a claim's name has no room for a sign.
  const time = birthtimeNs > 0n ? birthtimeNs.toString(36) : `0${BigInt.asUintN(64, mtimeNs).toString(36)}`
  return `f${ino.toString(36)}-${time}`
}

/** The identity of the regular file at `path`; undefined where there is none. @throws file-system errors. */
export function fileIdentity(path: string): FileIdentity | undefined {
  try {
    const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return stats?.isFile() ? identityOfStats(stats) : undefined
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** The identity of a place: two paths to it (a bind mount, for example) have the same text. Undefined if it is unknown. */
export function placeIdentity(path: string): string | undefined {
  try {
    const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
    // Some file systems have no inode numbers.
    return stats === undefined || stats.ino === 0n ? undefined : `${stats.dev}-${stats.ino}`
  } catch {
    return undefined
  }
}

/** The birth time of the file at `path`, in ms since the epoch; undefined where the file or its birth time is missing. */
export function birthMs(path: string): number | undefined {
  try {
    const stats = fs.statSync(path, { throwIfNoEntry: false })
    return stats !== undefined && stats.birthtimeMs > 0 ? stats.birthtimeMs : undefined
  } catch {
    return undefined
  }
}

// Undefined on Windows, where links need a privilege and pipes do not lie in folders.
const NO_FOLLOW = fs.constants.O_NOFOLLOW ?? 0
const NON_BLOCKING = fs.constants.O_NONBLOCK ?? 0

/** The flags to open a file for reading: a link is refused, and opening a named pipe does not wait. */
export const READING = fs.constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING

/** The flags to change a part of a file in its place, with the same protection. */
export const CHANGING = fs.constants.O_RDWR | NO_FOLLOW | NON_BLOCKING

/** The flags to append to a file, with the same protection. The caller adds `O_WRONLY` or `O_RDWR`. */
export const APPENDING = fs.constants.O_APPEND | fs.constants.O_CREAT | NO_FOLLOW | NON_BLOCKING

/** Writes all of `text`: a disk that is nearly full takes a part of it and reports the error only at the next write. */
export function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) written += fs.writeSync(descriptor, bytes, written)
}

/** The error with its file's path: calls on a descriptor fail without naming the file. */
export function named(error: unknown, path: string): unknown {
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error
}

/** Closes a descriptor without throwing: everything was read, or was synced where that matters. */
export function closeQuietly(descriptor: number): void {
  try {
    fs.closeSync(descriptor)
  } catch {}
}

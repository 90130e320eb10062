import fs from 'node:fs'
import path from 'node:path'
import { errorMessage, PostflightError, systemCode } from '../kernel/errors.ts'
import type { PathKind } from '../kernel/files.ts'
import { attempt } from '../kernel/values.ts'

/** For plain names: `path.join` looks at each character, and a block needs thirty paths. */
export function pathIn(folder: string, ...names: readonly string[]): string {
  return [folder, ...names].join(path.sep)
}

export function kindAt(path: string): PathKind | undefined {
  const stats = unlessAbsent(() => fs.lstatSync(path, { throwIfNoEntry: false }))
  return stats && kindOfStats(stats)
}

/** Never throws. */
export function kindIfSeen(path: string): PathKind | undefined {
  return attempt(() => kindAt(path))
}

export function requireKind(path: string): PathKind | undefined {
  return requireRead(path, () => kindAt(path))
}

export function requireRead<T>(path: string, read: () => T): T | undefined {
  try {
    return unlessAbsent(read)
  } catch (error) {
    throw new PostflightError('file-unreadable', { path, detail: errorCode(error) }, error)
  }
}

export function kindOfStats(stats: fs.StatsBase<unknown>): PathKind {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  if (stats.isSymbolicLink()) return 'link'
  return stats.isFIFO() ? 'pipe' : 'other'
}

/** Only `native` gives a folder one spelling, whatever the case (macOS) or short name (Windows). */
export function realPath(path: string): string {
  return unlessAbsent(() => fs.realpathSync.native(path)) ?? path
}

export function realPathIfSeen(path: string): string {
  return attempt(() => fs.realpathSync.native(path), path)
}

export function unwritableBecause(path: string): string | undefined {
  try {
    const { W_OK, X_OK } = fs.constants
    fs.accessSync(path, fs.statSync(path).isDirectory() ? W_OK | X_OK : W_OK)
    return undefined
  } catch (error) {
    return isAbsent(error) ? undefined : errorCode(error)
  }
}

export function errorCode(error: unknown): string {
  return systemCode(error) ?? (error as Error).message
}

/** Without the final period, for use in parentheses. */
export function errorText(error: unknown): string {
  return error instanceof PostflightError ? errorMessage(error.code, error.args).replace(/\.$/, '') : errorCode(error)
}

export function isAbsent(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

export function unlessAbsent<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

export function isFull(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/**
 * Inode and birth time, because ext4 reuses an inode at once. File systems without a birth time (ext2, NFS) use the
 * last change: rewriting in place (`cat > marker`) then makes another file. No birth time begins with 0.
 */
export function identityOfStats({ ino, birthtimeNs, mtimeNs }: fs.BigIntStats): string {
  // Unsigned: `touch` can set any time, and a claim's name has no room for a sign.
  const time = birthtimeNs > 0n ? birthtimeNs.toString(36) : `0${BigInt.asUintN(64, mtimeNs).toString(36)}`
  return `f${ino.toString(36)}-${time}`
}

export function fileIdentity(path: string): string | undefined {
  const stats = unlessAbsent(() => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false }))
  return stats?.isFile() ? identityOfStats(stats) : undefined
}

/** Equal for two paths to one place (a bind mount). */
export function locationIdentity(path: string): string | undefined {
  const stats = attempt(() => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false }))
  // Some file systems have no inode numbers.
  return stats === undefined || stats.ino === 0n ? undefined : `${stats.dev}-${stats.ino}`
}

export function birthMs(path: string): number | undefined {
  const stats = attempt(() => fs.statSync(path, { throwIfNoEntry: false }))
  return stats !== undefined && stats.birthtimeMs > 0 ? stats.birthtimeMs : undefined
}

// Undefined on Windows, where links need a privilege and pipes are not in folders.
const NO_FOLLOW = fs.constants.O_NOFOLLOW ?? 0
const NON_BLOCKING = fs.constants.O_NONBLOCK ?? 0

/** Refuses links, and does not block on pipes. */
export const READING = fs.constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING
export const CHANGING = fs.constants.O_RDWR | NO_FOLLOW | NON_BLOCKING
export const APPENDING = fs.constants.O_APPEND | fs.constants.O_CREAT | NO_FOLLOW | NON_BLOCKING

/** A nearly full disk writes a part, and reports the error only at the next write. */
export function writeWhole(descriptor: number, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let written = 0; written < bytes.length; ) written += fs.writeSync(descriptor, bytes, written)
}

/** Calls on a descriptor fail without the path. */
export function named(error: unknown, path: string): unknown {
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error
}

export function closeQuietly(descriptor: number): void {
  attempt(() => fs.closeSync(descriptor))
}

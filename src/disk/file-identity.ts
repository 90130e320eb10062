import fs from 'node:fs'
import { isAbsent } from './file-errors.ts'

/** Tells the file at a path from a later file of the same name. */

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

import fs from 'node:fs'
import { isAbsent } from './errors.ts'

/** Which file lies at a path: told apart from a later one of the same name. */

/** What tells one file from another, and from a later one of the same name. */
export type FileIdentity = string

/**
 * Inode and birth time. The birth time tells a file from a later one that was given the same inode, as ext4 does at
 * once; rewriting in place (`cat > marker`) changes neither.
 */
export function identityOfStats(stats: fs.BigIntStats): FileIdentity {
  return `f${stats.ino.toString(36)}-${stats.birthtimeNs.toString(36)}`
}

/** The identity of the regular file at `path`; undefined where there is none. @throws where that cannot be told. */
export function fileIdentity(path: string): FileIdentity | undefined {
  try {
    const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return stats?.isFile() ? identityOfStats(stats) : undefined
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** When the file at `path` was made, in ms since the epoch; undefined where it is absent or its file system does not know. */
export function birthMs(path: string): number | undefined {
  try {
    const stats = fs.statSync(path, { throwIfNoEntry: false })
    return stats !== undefined && stats.birthtimeMs > 0 ? stats.birthtimeMs : undefined
  } catch {
    return undefined
  }
}

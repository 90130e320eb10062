import fs from 'node:fs'
import type { PathKind } from '../kernel/files.ts'
import { errorCode, isAbsent } from './file-errors.ts'

/** Looks at paths without opening them. */

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

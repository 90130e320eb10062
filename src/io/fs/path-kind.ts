import fs from 'node:fs'
import { errorCode, isAbsent } from './errors.ts'

/** What lies at a path, links not followed. */

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

/** Where a path leads, all links followed; the path itself where nothing lies there. @throws where that cannot be told. */
export function realPath(path: string): string {
  try {
    return fs.realpathSync(path)
  } catch (error) {
    if (isAbsent(error)) return path
    throw error
  }
}

/**
 * Why nothing can be made in the folder at `path`, as far as that can be told without trying; undefined where it can, or
 * where there is none.
 */
export function unwritableBecause(path: string): string | undefined {
  try {
    fs.accessSync(path, fs.constants.W_OK | fs.constants.X_OK)
    return undefined
  } catch (error) {
    return isAbsent(error) ? undefined : errorCode(error)
  }
}

/** What something that is no regular file is called, for people. */
export function kindName(stats: { isDirectory(): boolean; isFIFO(): boolean; isSymbolicLink(): boolean }): string {
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a named pipe'
  return stats.isSymbolicLink() ? 'a link' : 'no regular file'
}

import fs from 'node:fs'
import path from 'node:path'
import { FILE_DETAILS, KIND_NAMES } from '../kernel/file-messages.ts'
import type { PathKind } from '../kernel/files.ts'
import { errorCode, kindAt } from './file-facts.ts'
import { makeLastingFolder } from './own-folder.ts'
import { type FileRead, readSmallFile } from './read.ts'
import { sync } from './write.ts'

/** Files below a task folder, which an agent or a cloned repository may have filled. */

/** The result of looking at a path inside a folder; `what` describes it for people. */
export type Inside =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'file'
      readonly path: string
      readonly size: number
      readonly modifiedMs: number
      /** ctime. */
      readonly changedMs: number
    }
  /** Something other than a file. */
  | { readonly kind: 'other'; readonly what: string }
  /** The path leads through something other than a folder, or through a folder that cannot be searched. */
  | { readonly kind: 'elsewhere'; readonly what: string }

/**
 * Looks at `relative` (with `/`, without `..`) below `folder`, through real folders only.
 * @throws file-system errors.
 */
export function lookInside(folder: string, relative: string): Inside {
  const parts = relative.split('/')
  let current = folder
  for (const [index, part] of parts.entries()) {
    current = path.join(current, part)
    const kind = kindAt(current)
    if (kind === undefined) return { kind: 'absent' }
    const isLast = index === parts.length - 1
    if (!isLast && kind !== 'folder') return { kind: 'elsewhere', what: obstacle(kind) }
    if (isLast && kind !== 'file') return { kind: 'other', what: KIND_NAMES[kind] }
  }
  const { size, mtimeMs, ctimeMs } = fs.lstatSync(current)
  return { kind: 'file', path: current, size, modifiedMs: mtimeMs, changedMs: ctimeMs }
}

function obstacle(kind: PathKind): string {
  return kind === 'file' ? FILE_DETAILS.belowFile : FILE_DETAILS.behind(kind)
}

/**
 * The same for a path that a definition names. A folder without rights, or a name that is too long, is a result and not
 * an error: the definition's author can correct it.
 */
export function lookForNamed(folder: string, relative: string): Inside {
  try {
    return lookInside(folder, relative)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EACCES' && code !== 'ENAMETOOLONG') throw error
    return { kind: 'elsewhere', what: FILE_DETAILS.outOfReach(code) }
  }
}

/** Reads a file below a folder, at most `limit` bytes. `look` finds it. */
export function readInside(folder: string, relative: string, limit: number, look = lookInside): FileRead {
  const found = look(folder, relative)
  if (found.kind === 'absent') return found
  return found.kind === 'file' ? readSmallFile(found.path, limit) : { kind: 'unreadable', detail: found.what }
}

/** Creates the folder `relative` below `folder`, durably, and returns its path. @throws {PostflightError} `not-a-folder`. */
export function makeFoldersInside(folder: string, relative: string): string {
  let current = folder
  for (const part of relative.split('/')) {
    current = path.join(current, part)
    makeLastingFolder(current)
  }
  return current
}

/** Moves a file to `name` in `folder`, durably, or to the next free name like it: no file is overwritten. */
export function moveToFree(source: string, folder: string, name: string): void {
  let number = 1
  while (kindAt(path.join(folder, numbered(name, number))) !== undefined) number += 1
  fs.renameSync(source, path.join(folder, numbered(name, number)))
  sync(folder)
}

/** The name of the last file that `moveToFree` moved to `name` in `folder`; undefined if there is none. */
export function lastNamed(folder: string, name: string): string | undefined {
  let number = 0
  while (kindAt(path.join(folder, numbered(name, number + 1))) !== undefined) number += 1
  return number === 0 ? undefined : numbered(name, number)
}

function numbered(name: string, number: number): string {
  const extension = path.extname(name)
  return number === 1 ? name : `${name.slice(0, name.length - extension.length)}.${number}${extension}`
}

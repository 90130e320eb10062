import fs from 'node:fs'
import path from 'node:path'
import { errorCode } from './errors.ts'
import { makeOwnFolder } from './own-folder.ts'
import { kindAt } from './path-kind.ts'
import { type FileRead, readSmallFile } from './read.ts'

/** Files that a definition names, in a folder that an agent, or a cloned repository, may have filled. */

/** What lies at a path inside a folder. */
export type Inside =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly path: string; readonly size: number }
  /** Something of that name that is no file: `what` says so. */
  | { readonly kind: 'other'; readonly what: string }
  /** On the way there lies something that is no folder of its own, or that nobody may look into. */
  | { readonly kind: 'elsewhere'; readonly what: string }

/**
 * Looks for `relative` (with `/`, no `..`) below `folder`, through real folders only.
 * @throws where that cannot be told.
 */
export function lookInside(folder: string, relative: string): Inside {
  const parts = relative.split('/')
  let current = folder
  for (const [index, part] of parts.entries()) {
    current = path.join(current, part)
    const kind = kindAt(current)
    if (kind === undefined) return { kind: 'absent' }
    const isLast = index === parts.length - 1
    if (!isLast && kind !== 'folder')
      return { kind: 'elsewhere', what: kind === 'file' ? 'below a file' : `behind ${kind}` }
    if (isLast && kind !== 'file') return { kind: 'other', what: kind === 'folder' ? 'a folder' : kind }
  }
  return { kind: 'file', path: current, size: fs.lstatSync(current).size }
}

/**
 * The same for a path that somebody else chose: where a folder on the way has no rights, or a name is too long, it is
 * theirs to mend.
 */
export function lookForNamed(folder: string, relative: string): Inside {
  try {
    return lookInside(folder, relative)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EACCES' && code !== 'ENAMETOOLONG') throw error
    return { kind: 'elsewhere', what: `out of reach (${code})` }
  }
}

/** Reads a file below a folder, at most `limit` bytes; `look` says what is refused. */
export function readInside(folder: string, relative: string, limit: number, look = lookInside): FileRead {
  const found = look(folder, relative)
  if (found.kind === 'absent') return found
  return found.kind === 'file' ? readSmallFile(found.path, limit) : { kind: 'unreadable', detail: found.what }
}

/** Makes a folder below `folder`, each part our own. @throws {PostflightError} `not-a-folder`. */
export function makeFoldersInside(folder: string, relative: string): string {
  let current = folder
  for (const part of relative.split('/')) {
    current = path.join(current, part)
    makeOwnFolder(current)
  }
  return current
}

/** Moves a file to `name` in `folder`, or to the next free one like it: nothing is ever written over. */
export function moveToFree(source: string, folder: string, name: string): void {
  const extension = path.extname(name)
  const stem = name.slice(0, name.length - extension.length)
  let target = path.join(folder, name)
  for (let number = 2; kindAt(target) !== undefined; number++)
    target = path.join(folder, `${stem}.${number}${extension}`)
  fs.renameSync(source, target)
}

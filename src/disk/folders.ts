import fs from 'node:fs'
import path from 'node:path'
import { FILE_DETAILS, KIND_NAMES } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { attempt, succeeds } from '../kernel/values.ts'
import { errorCode, kindAt, kindIfSeen } from './file-facts.ts'
import { type FileRead, readSmallFile } from './read.ts'
import { createFile, removeFile, sync, tryRemoveFile } from './write.ts'

const OWNERS_RIGHTS = 0o700

/** Refuses a link, which would redirect our writes. */
export function makeOwnFolder(folder: string): boolean {
  const kind = kindAt(folder)
  if (kind === 'folder') return false
  if (kind !== undefined) throw new PostflightError('not-a-folder', { path: folder, kind })
  try {
    makeFolder(folder)
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    return makeOwnFolder(folder)
  }
}

export function makeLastingFolder(folder: string): boolean {
  const isNew = makeOwnFolder(folder)
  if (isNew) sync(path.dirname(folder))
  return isNew
}

/** A umask of 0177 would remove the permission to enter the folder. */
export function makeFolder(folder: string): void {
  fs.mkdirSync(folder)
  const { mode } = fs.lstatSync(folder)
  if ((mode & OWNERS_RIGHTS) !== OWNERS_RIGHTS) fs.chmodSync(folder, (mode & 0o777) | OWNERS_RIGHTS)
}

/** Returns false for a link too. */
export function removeIfEmpty(folder: string): boolean {
  return succeeds(() => fs.rmdirSync(folder))
}

export function makeFolders(folder: string): void {
  const above = path.dirname(folder)
  // The top of a drive: Windows answers EPERM, not EEXIST.
  if (above === folder) return
  try {
    // In /proc, ENOENT can also mean that nothing can be created in an existing folder.
    if (!fs.existsSync(above)) makeFolders(above)
    makeFolder(folder)
    sync(above)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !fs.statSync(folder).isDirectory()) throw error
  }
}

/** A skill's `git add -A` must not commit it. Never throws: the guard works without it. */
export function hideFromGit(folder: string): void {
  attempt(() => createFile(`${folder}/.gitignore`, '*\n', { durable: false }))
}

export function makeHiddenFolder(folder: string): void {
  makeLastingFolder(folder)
  // A full disk or a kill may have left an older folder without it.
  if (kindIfSeen(`${folder}/.gitignore`) === undefined) hideFromGit(folder)
}

/** Through real folders only: an agent or a clone may have filled the task folder. `relative` has `/` and no `..`. */
export function inspectInside(folder: string, relative: string) {
  const parts = relative.split('/')
  let current = folder
  for (const [index, part] of parts.entries()) {
    current = path.join(current, part)
    const kind = kindAt(current)
    if (kind === undefined) return { kind: 'absent' } as const
    const isLast = index === parts.length - 1
    if (!isLast && kind === 'file') return { kind: 'elsewhere', what: FILE_DETAILS.belowFile } as const
    if (!isLast && kind !== 'folder') return { kind: 'elsewhere', what: FILE_DETAILS.behind(kind) } as const
    if (isLast && kind !== 'file') return { kind: 'other', what: KIND_NAMES[kind] } as const
  }
  const { size, mtimeMs, ctimeMs } = fs.lstatSync(current)
  return { kind: 'file', path: current, size, modifiedMs: mtimeMs, changedMs: ctimeMs } as const
}

export function inspectNamed(folder: string, relative: string) {
  try {
    return inspectInside(folder, relative)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EACCES' && code !== 'ENAMETOOLONG') throw error
    return { kind: 'elsewhere', what: FILE_DETAILS.outOfReach(code) } as const
  }
}

export function readInside(folder: string, relative: string, limit: number, inspect = inspectInside): FileRead {
  const found = inspect(folder, relative)
  if (found.kind === 'absent') return found
  return found.kind === 'file' ? readSmallFile(found.path, limit) : { kind: 'unreadable', detail: found.what }
}

export function makeFoldersInside(folder: string, relative: string): string {
  let current = folder
  for (const part of relative.split('/')) {
    current = path.join(current, part)
    makeLastingFolder(current)
  }
  return current
}

/** Durable. Overwrites no file. */
export function moveInside(folder: string, relative: string, location: string, name: string): void {
  const target = makeFoldersInside(folder, location)
  move(path.join(folder, relative), path.join(target, numbered(name, firstFree(target, name))))
  sync(target)
}

/**
 * Also to another file system. overlayfs moves no folder of the container's image (EXDEV), but each of its files.
 * `filled`: collects the folders to sync.
 */
export function move(source: string, target: string, filled = new Set<string>()): void {
  filled.add(path.dirname(target))
  try {
    fs.renameSync(source, target)
  } catch (error) {
    const kind = kindAt(source)
    if (errorCode(error) !== 'EXDEV' || (kind !== 'folder' && kind !== 'file')) throw error
    if (kind === 'folder') {
      fs.mkdirSync(target)
      for (const name of fs.readdirSync(source)) move(path.join(source, name), path.join(target, name), filled)
      fs.rmdirSync(source)
    } else {
      fs.copyFileSync(source, target, fs.constants.COPYFILE_EXCL)
      sync(target)
      sync(path.dirname(target))
      try {
        removeFile(source)
      } catch (error) {
        // Otherwise each further attempt would leave a copy.
        tryRemoveFile(target)
        throw error
      }
    }
  }
}

function firstFree(folder: string, name: string): number {
  let number = 1
  while (kindAt(path.join(folder, numbered(name, number))) !== undefined) number += 1
  return number
}

export function namesLike(folder: string, pattern: RegExp): string[] {
  const names = attempt(() => fs.readdirSync(folder), [])
  return names.filter((name) => pattern.test(name)).sort()
}

export function lastNamed(folder: string, name: string): string | undefined {
  const number = firstFree(folder, name) - 1
  return number === 0 ? undefined : numbered(name, number)
}

function numbered(name: string, number: number): string {
  const extension = path.extname(name)
  return number === 1 ? name : `${name.slice(0, name.length - extension.length)}.${number}${extension}`
}

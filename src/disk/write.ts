import fs from 'node:fs'
import nodePath from 'node:path'
import { attempt } from '../kernel/values.ts'
import { closeQuietly, errorCode, isAbsent, named, unlessAbsent, writeWhole } from './file-facts.ts'

/** Readers see the old file or the new one, even after a power cut (docs/design.md, "Power cuts"). */

/** On Windows, on some file systems (exFAT, network folders), or without the right to read folders. */
const UNSUPPORTED = ['EACCES', 'EPERM', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']

export function sync(path: string): boolean {
  let descriptor: number | undefined
  try {
    descriptor = fs.openSync(path, 'r')
    fs.fsyncSync(descriptor)
    return true
  } catch (error) {
    if (!isAbsent(error) && !UNSUPPORTED.includes(errorCode(error))) throw named(error, path)
    return false
  } finally {
    if (descriptor !== undefined) closeQuietly(descriptor)
  }
}

type Creation = Readonly<{ durable?: boolean; mode?: number | undefined }>

/** Sync the folder to make the name durable. `durable`: false for a copy of other files' data. */
export function createFile(path: string, content: string | Uint8Array, options: Creation = {}): void {
  const { durable = true, mode = 0o644 } = options
  const descriptor = fs.openSync(path, 'wx', mode)
  try {
    writeWhole(descriptor, content)
    if (durable) fs.fsyncSync(descriptor)
  } catch (error) {
    closeQuietly(descriptor)
    tryRemoveFile(path)
    throw named(error, path)
  }
  closeQuietly(descriptor)
}

/** Readers see no file or all of it, even after a kill. */
export function createWhole(path: string, text: string): void {
  const temporary = temporaryBeside(path)
  createFile(temporary, text)
  try {
    placeNew(temporary, path, text)
  } finally {
    tryRemoveFile(temporary)
  }
}

export function placeNew(temporary: string, path: string, text: string, mode?: number): void {
  try {
    fs.linkSync(temporary, path)
  } catch (error) {
    if (!UNSUPPORTED.includes(errorCode(error))) throw error
    // No hard links (on Windows, exFAT answers EISDIR): exclusive, but not in one step.
    createFile(path, text, { mode })
  }
}

let temporaryCount = 0

export function temporaryBeside(path: string): string {
  temporaryCount += 1
  return `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}-${temporaryCount}.tmp`
}

type Replacement = Readonly<{ from?: string; durable?: boolean }>

/** `from`: the temporary file, which must be on the same file system. */
export function replaceFile(path: string, content: string | Uint8Array, options: Replacement = {}): void {
  const { from = temporaryBeside(path), durable = true } = options
  createFile(from, content, { durable })
  try {
    fs.renameSync(from, path)
  } catch (error) {
    tryRemoveFile(from)
    // Node names the temporary file.
    throw Object.assign(error as Error, { path })
  }
  if (durable) sync(nodePath.dirname(path))
}

export function removeFile(path: string): boolean {
  return unlessAbsent(() => fs.unlinkSync(path) ?? true) ?? false
}

/** Only for leftovers, never for a marker. */
export function tryRemoveFile(path: string): void {
  attempt(() => fs.unlinkSync(path))
}

import fs from 'node:fs'
import path from 'node:path'
import { findIndexEntry, type HashBytes } from '../core/git-index.ts'
import { MARKER_MAX_BYTES } from '../core/marker.ts'
import { readSmallBytes, readSmallFile } from './file-access.ts'
import { findRepository } from './root.ts'

/**
 * Did this file come with a clone? It did when git tracks that very content. A file that was rewritten since, at a path
 * that git tracks (a skill's `git add -A` leaves it so), did not.
 */

/** A larger index (bytes) is not read: half a million files. */
const INDEX_MAX_BYTES = 67_108_864
const POINTER_MAX_BYTES = 8_192

/**
 * True when git tracks what `file` holds. One that is too large to be a marker anybody wrote need only be tracked.
 * False where there is no repository, or none that can be read.
 */
export function isTrackedContent(file: string): boolean {
  try {
    const folder = path.dirname(file)
    const top = findRepository(folder)
    const gitFolder = top === undefined ? undefined : findGitFolder(top)
    if (top === undefined || gitFolder === undefined) return false
    const index = readIndex(path.join(gitFolder, 'index'))
    if (index === undefined) return false
    const relative = path.relative(top, path.join(fs.realpathSync(folder), path.basename(file)))
    const hashBytes = hashBytesOf(gitFolder)
    const tracked = findIndexEntry(index, relative.split(path.sep).join('/'), hashBytes)
    if (tracked === undefined) return false
    const read = readSmallBytes(file, MARKER_MAX_BYTES)
    if (read.kind !== 'bytes') return false
    if (!read.whole) return true
    // A checkout may have turned line ends into those of the platform.
    const text = read.bytes.toString('latin1')
    return [text, text.replaceAll('\r\n', '\n')].some((body) => objectName(body, hashBytes) === tracked)
  } catch {
    return false
  }
}

/** `.git`, or where a worktree's or submodule's `.git` file points to. */
function findGitFolder(top: string): string | undefined {
  const entry = path.join(top, '.git')
  const stats = fs.lstatSync(entry)
  if (stats.isDirectory()) return entry
  const pointer = readSmallFile(entry, POINTER_MAX_BYTES)
  const target = pointer.kind === 'text' ? /^gitdir: (.+)/.exec(pointer.text)?.[1] : undefined
  return target === undefined ? undefined : path.resolve(top, target.trim())
}

function readIndex(file: string): Buffer | undefined {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false })
  return stats?.isFile() && stats.size <= INDEX_MAX_BYTES ? fs.readFileSync(file) : undefined
}

/** SHA-256 repositories say so in their configuration, which a worktree shares with the main one. */
function hashBytesOf(gitFolder: string): HashBytes {
  const common = readSmallFile(path.join(gitFolder, 'commondir'), POINTER_MAX_BYTES)
  const folder = common.kind === 'text' ? path.resolve(gitFolder, common.text.trim()) : gitFolder
  const config = readSmallFile(path.join(folder, 'config'), POINTER_MAX_BYTES)
  return config.kind === 'text' && /^\s*objectformat\s*=\s*sha256/im.test(config.text) ? 32 : 20
}

/** Git's name for a blob; `body` holds one byte per character. */
function objectName(body: string, hashBytes: HashBytes): string {
  // Loaded only here: it costs more than all the rest of the hook, and hardly ever is there anything to compare.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash(hashBytes === 32 ? 'sha256' : 'sha1')
  return hash.update(`blob ${body.length}\0${body}`, 'latin1').digest('hex')
}

import fs from 'node:fs'
import path from 'node:path'
import { ABANDONED_FILE, MARKER_FILE } from '../core/files.ts'
import { findIndexEntries, type HashBytes, type IndexEntry } from '../core/git-index.ts'
import { MARKER_MAX_BYTES } from '../core/marker.ts'
import { readSmallBytes, readSmallFile } from './fs/read.ts'
import { findRepository } from './root.ts'

/**
 * Did this file come with a clone? It did when git tracks that very content. A file that was rewritten since, at a path
 * that git tracks (a skill's `git add -A` leaves it so), did not.
 */

/** A larger index (bytes) is not read: two million files. */
const INDEX_MAX_BYTES = 268_435_456
const POINTER_MAX_BYTES = 8_192

/**
 * True when git tracks what `file` (a marker, or an abandoned one) holds. One that is too large to be a marker anybody
 * wrote need only be tracked. False where there is no repository, or none that can be read.
 */
export function isTrackedContent(file: string): boolean {
  try {
    const folder = path.dirname(file)
    const top = findRepository(folder)
    const gitFolder = top === undefined ? undefined : findGitFolder(top)
    if (top === undefined || gitFolder === undefined) return false
    const index = readIndex(gitFolder)
    // An index that is there and cannot be read may well hold it: a promise that cannot be told from a shipped one is none.
    if (index === 'unreadable') return true
    const { entries, hashBytes } = index
    const relative = path.relative(top, path.join(fs.realpathSync(folder), path.basename(file)))
    const tracked = entries.get(Buffer.from(relative.split(path.sep).join('/')).toString('latin1'))
    if (tracked === undefined) return false
    if (isUntouched(file, tracked)) return true
    const read = readSmallBytes(file, MARKER_MAX_BYTES)
    if (read.kind !== 'bytes') return false
    if (!read.whole) return true
    // A checkout may have turned line ends into those of the platform.
    const text = read.bytes.toString('latin1')
    return [text, text.replaceAll('\r\n', '\n')].some((body) => objectName(body, hashBytes) === tracked.object)
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

/**
 * True when git itself would not look into the file, because size and time are those of its checkout. A repository may
 * have content changed on checkout (`ident`, `working-tree-encoding`), and then no hash of the file is git's.
 */
function isUntouched(file: string, { modified: [seconds, nanoseconds], size }: IndexEntry): boolean {
  if (nanoseconds === 0) return false
  const stats = fs.lstatSync(file, { bigint: true })
  return (
    stats.isFile() &&
    BigInt.asUintN(32, stats.size) === BigInt(size) &&
    BigInt.asUintN(32, stats.mtimeNs / 1_000_000_000n) === BigInt(seconds) &&
    stats.mtimeNs % 1_000_000_000n === BigInt(nanoseconds)
  )
}

/** What we need of an index. */
interface TrackedMarkers {
  readonly entries: ReadonlyMap<string, IndexEntry>
  readonly hashBytes: HashBytes
}

const NOTHING_TRACKED: TrackedMarkers = { entries: new Map(), hashBytes: 20 }

/** Read once, not once per marker: a hostile repository has many of both. */
const known = new Map<string, { readonly stamp: string; readonly tracked: TrackedMarkers }>()

function readIndex(gitFolder: string): TrackedMarkers | 'unreadable' {
  const file = path.join(gitFolder, 'index')
  const stats = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return NOTHING_TRACKED
  if (!stats.isFile() || stats.size > INDEX_MAX_BYTES) return 'unreadable'
  const stamp = `${stats.ino} ${stats.size} ${stats.mtimeNs}`
  const before = known.get(file)
  if (before?.stamp === stamp) return before.tracked
  const hashBytes = hashBytesOf(gitFolder)
  const entries = findIndexEntries(fs.readFileSync(file), [MARKER_FILE, ABANDONED_FILE], hashBytes)
  const tracked = { entries, hashBytes }
  known.set(file, { stamp, tracked })
  return tracked
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

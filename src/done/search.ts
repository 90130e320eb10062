import fs from 'node:fs'
import path from 'node:path'
import fastGlob from 'fast-glob'
import { isPast, partWay, processAgeMs } from '../disk/age.ts'
import { sha256 } from '../disk/hash.ts'
import { expandPatterns } from '../kernel/file-pattern.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import type { DoneRule } from './rules.ts'

/**
 * Finds the files that the rules name, without git and within bounds. Links are not followed. Each folder is read once for all
 * rules.
 */

/** At most this many entries of folders are looked at. */
export const MAX_ENTRIES = 100_000

/** The longest search (ms). */
export const SEARCH_MS = 2_000

/** A rule's look at its files ends at this many changed ones. */
export const MAX_CHANGED = 5

/** The depth to which folders are searched. */
const SEARCH_DEPTH = 50

/** Never the work of an agent: packages, git's own files, and what editors and interpreters leave beside sources. */
const NEVER = [
  ...['**/node_modules/**', '**/.git/**', '**/.git'],
  ...['**/__pycache__/**', '**/*~', '**/.*.sw?', '**/.#*', '**/#*#', '**/.DS_Store'],
]

/** Our own files in `specs/`. */
const OURS = [
  ...['specs/**/.postflight*', 'specs/**/.postflight*/**', 'specs/**/.return-meta.json'],
  ...['specs/**/workflow/**', 'specs/**/workflow-runs/**', 'specs/**/step-results/**', 'specs/**/step-result*.json'],
]

/** The share of an event's time in which files are searched. */
const SEARCHING_SHARE = 0.6

/** The age of this process (ms) at which a search ends, for an event that must be answered at `deadline`. */
export function searchDeadline(deadline: number | undefined): number | undefined {
  return deadline === undefined ? undefined : partWay(deadline, SEARCHING_SHARE)
}

/** A search of the files below a root. */
export class FileSearch {
  readonly #root: string
  readonly #deadline: number
  readonly #maxEntries: number
  #entries = 0
  #isOver = false
  readonly #folders = new Map<string, fs.Dirent[]>()
  readonly #times = new Map<string, number>()

  /** `deadline`: the age of this process (ms) at which the search ends at the latest. */
  constructor(root: string, deadline = Number.POSITIVE_INFINITY, maxEntries = MAX_ENTRIES) {
    this.#root = root
    this.#maxEntries = maxEntries
    this.#deadline = Math.min(deadline, processAgeMs() + SEARCH_MS)
  }

  /** The paths that a rule names, relative to the root, with `/`, in order; undefined if the search came to its bounds. */
  pathsOf({ when, unless }: Pick<DoneRule, 'when' | 'unless'>): readonly string[] | undefined {
    const patterns = expandPatterns(when) ?? []
    const ignored = [...NEVER, ...OURS, ...(expandPatterns(unless) ?? [])]
    const isInSpecs = (pattern: string): boolean => pattern.split('/')[0] === SPECS_FOLDER
    const found = [
      ...this.#glob(patterns.filter(isInSpecs), ignored),
      ...this.#glob(
        patterns.filter((pattern) => !isInSpecs(pattern)),
        [...ignored, `${SPECS_FOLDER}/**`],
      ),
    ]
    return this.#isOver ? undefined : [...new Set(found)].sort()
  }

  /** The first paths whose file changed later than `sinceMs`, at most `most`; undefined if the search came to its bounds. */
  changedSince(paths: readonly string[], sinceMs: number, most = MAX_CHANGED): readonly string[] | undefined {
    const changed: string[] = []
    for (const name of paths) {
      if (this.#isPast()) return undefined
      if (this.#timeOf(name) > sinceMs) changed.push(name)
      if (changed.length === most) break
    }
    return changed
  }

  #glob(patterns: string[], ignore: string[]): string[] {
    if (patterns.length === 0 || this.#isPast()) return []
    return fastGlob.sync(patterns, {
      cwd: this.#root,
      ignore,
      braceExpansion: false,
      deep: SEARCH_DEPTH,
      extglob: false,
      followSymbolicLinks: false,
      suppressErrors: true,
      fs: { readdirSync: ((folder: string) => this.#entriesOf(folder)) as unknown as typeof fs.readdirSync },
    })
  }

  /** The entries of a folder; none when the search is over, so that it ends soon. */
  #entriesOf(folder: string): fs.Dirent[] {
    const known = this.#folders.get(folder)
    if (known !== undefined) return known
    if (this.#isPast()) return []
    const entries = fs.readdirSync(folder, { withFileTypes: true })
    this.#entries += entries.length
    if (this.#entries > this.#maxEntries) this.#isOver = true
    this.#folders.set(folder, entries)
    return this.#isOver ? [] : entries
  }

  #isPast(): boolean {
    if (isPast(this.#deadline)) this.#isOver = true
    return this.#isOver
  }

  /** The last change of a file, of its content or of its status; a file that is gone never changed. */
  #timeOf(name: string): number {
    const known = this.#times.get(name)
    if (known !== undefined) return known
    let time = 0
    try {
      const stats = fs.lstatSync(path.join(this.#root, name), { throwIfNoEntry: false })
      if (stats !== undefined) time = Math.max(stats.mtimeMs, stats.ctimeMs)
    } catch {
      // A folder on the way without rights.
    }
    this.#times.set(name, time)
    return time
  }
}

/** Identifies a set of paths. */
export function hashOfPaths(paths: readonly string[]): string {
  return sha256(paths.join('\0')).slice(0, 32)
}

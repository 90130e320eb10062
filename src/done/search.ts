import fs from 'node:fs'
import path from 'node:path'
import fastGlob from 'fast-glob'
import { isPast, processAgeMs } from '../disk/age.ts'
import { kindIfSeen } from '../disk/file-facts.ts'
import { sha256 } from '../disk/ids.ts'
import { readSmallBytes } from '../disk/read.ts'
import { expandPatterns, GLOB_OPTIONS } from '../kernel/file-pattern.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import { attempt } from '../kernel/values.ts'
import { isOwnInRoot, OWN_FOLDERS } from '../project/own-files.ts'
import { runFinder } from '../project/task-folders.ts'
import type { DoneRule } from './done-rules.ts'
import { type Baseline, type DoneReceipt, type readReceipts, ruleKey } from './done-state.ts'

export const MAX_ENTRIES = 100_000
export const SEARCH_MS = 2_000
export const MAX_CHANGED = 5
/** In bytes: hashing a MiB takes up to 5 ms. */
const HASH_LIMIT = 1_048_576
const TIMES_AT_ONCE = 1_000
const SORTED_AT_ONCE = 10_000

/** Never an agent's work: packages, git's own files, and files that editors and interpreters leave beside sources. */
const NEVER = [
  ...['**/node_modules/**', '**/.git/**', '**/.git'],
  ...['**/__pycache__/**', '**/*~', '**/.*.sw?', '**/.#*', '**/#*#', '**/.DS_Store'],
]

export class FileSearch {
  readonly #root: string
  readonly #isNotOurs: (name: string) => boolean
  readonly #deadline: number
  readonly #maxEntries: number
  #entries = 0
  #isOver = false
  readonly #folders = new Map<string, SearchedEntry[]>()
  readonly #times = new Map<string, number>()
  readonly #found = new Map<string, readonly string[]>()

  /** In ms. */
  constructor(root: string, deadline = Number.POSITIVE_INFINITY, maxEntries = MAX_ENTRIES) {
    this.#root = root
    const holdsRun = runFinder(root)
    this.#isNotOurs = (name) => !isOwnInRoot(name, holdsRun)
    this.#maxEntries = maxEntries
    this.#deadline = Math.min(deadline, processAgeMs() + SEARCH_MS)
  }

  async prepare(rules: readonly SearchedRule[]): Promise<void> {
    for (const rule of rules) {
      const found: string[] = []
      for (const { patterns, ignore } of this.#searchesOf(rule)) {
        if (!this.#isPast()) found.push(...(await fastGlob.async(patterns, this.#options(ignore))))
      }
      const paths = await orderedInSlices(found, this.#isNotOurs)
      this.#found.set(searchKey(rule), paths)
      for (const part of slices(paths, TIMES_AT_ONCE)) {
        if (this.#isPast()) return
        for (const name of part) this.#timeOf(name)
        await nextTurn()
      }
    }
  }

  pathsOf(rule: SearchedRule): readonly string[] | undefined {
    const key = searchKey(rule)
    const paths = this.#found.get(key) ?? [...new Set(this.#searchesOf(rule).flatMap((one) => this.#glob(one)))].sort()
    if (this.#isOver) return undefined
    this.#found.set(key, paths)
    return paths
  }

  /** What a receipt proves does not count, even if it is later: times (`ahead`), and contents (`rewritten`). */
  changedSince(paths: readonly string[], sinceMs: number, { ahead = {}, rewritten = {} }: Partial<DoneReceipt> = {}) {
    const changed: string[] = []
    for (const name of paths) {
      if (this.#isPast()) return undefined
      const time = this.#timeOf(name)
      const isProven = (): boolean =>
        (Object.hasOwn(ahead, name) && ahead[name] === time) ||
        (Object.hasOwn(rewritten, name) && rewritten[name] === this.hashOf(name))
      if (time > sinceMs && !isProven()) changed.push(name)
      if (changed.length === MAX_CHANGED) break
    }
    return changed
  }

  /** Undefined for a missing, unreadable or large file. */
  hashOf(name: string): string | undefined {
    const read = readSmallBytes(path.join(this.#root, name), HASH_LIMIT)
    return read.kind === 'bytes' && read.whole ? sha256(read.bytes) : undefined
  }

  /** In ms, for each path. */
  timesOf(rule: SearchedRule): ReadonlyMap<string, number> | undefined {
    const paths = this.pathsOf(rule)
    return paths && new Map(paths.map((name) => [name, this.#timeOf(name)]))
  }

  #glob({ patterns, ignore }: Search): string[] {
    return this.#isPast() ? [] : fastGlob.sync(patterns, this.#options(ignore)).filter(this.#isNotOurs)
  }

  #searchesOf({ when, unless }: SearchedRule): Search[] {
    const patterns = (expandPatterns(when) ?? []).filter((pattern) => !this.#leadsAway(pattern))
    const ignore = [...NEVER, ...OWN_FOLDERS, ...(expandPatterns(unless) ?? [])]
    const isInSpecs = (pattern: string): boolean => pattern.split('/')[0] === SPECS_FOLDER
    return [
      { patterns: patterns.filter(isInSpecs), ignore },
      { patterns: patterns.filter((pattern) => !isInSpecs(pattern)), ignore: [...ignore, `${SPECS_FOLDER}/**`] },
    ].filter((search) => search.patterns.length > 0)
  }

  /** fast-glob follows links in the literal beginning of a pattern, and no others. */
  #leadsAway(pattern: string): boolean {
    const [task] = fastGlob.generateTasks(pattern, GLOB_OPTIONS)
    const names = task?.base.split('/') ?? []
    // The root itself, which is "." there, may be behind a link.
    return names.some(
      (name, at) => name !== '.' && kindIfSeen(path.join(this.#root, ...names.slice(0, at + 1))) === 'link',
    )
  }

  #options(ignore: string[]): fastGlob.Options {
    return {
      cwd: this.#root,
      ignore,
      ...GLOB_OPTIONS,
      fs: {
        readdirSync: ((folder: string) => this.#entriesOf(folder)) as unknown as typeof fs.readdirSync,
        readdir: ((folder: string, _options: unknown, done: EntriesCallback) =>
          this.#readEntries(folder, done)) as unknown as typeof fs.readdir,
      },
    }
  }

  #entriesOf(folder: string): SearchedEntry[] {
    const known = this.#folders.get(folder)
    if (known !== undefined) return known
    return this.#isPast() ? [] : this.#counted(folder, fs.readdirSync(folder, { withFileTypes: true }))
  }

  #readEntries(folder: string, done: EntriesCallback): void {
    const known = this.#isPast() ? [] : this.#folders.get(folder)
    if (known !== undefined) setImmediate(done, null, known)
    else {
      fs.readdir(folder, { withFileTypes: true }, (error, entries) =>
        done(error, error === null ? this.#counted(folder, entries) : []),
      )
    }
  }

  #counted(folder: string, found: readonly fs.Dirent[]): SearchedEntry[] {
    this.#entries += found.length
    if (this.#entries > this.#maxEntries) this.#isOver = true
    const entries = found.map((entry) => ({
      name: entry.name,
      isFile: () => entry.isFile() && !this.#isPast(),
      isDirectory: () => entry.isDirectory() && !this.#isPast(),
      isSymbolicLink: () => entry.isSymbolicLink(),
    }))
    this.#folders.set(folder, entries)
    return this.#isOver ? [] : entries
  }

  #isPast(): boolean {
    if (isPast(this.#deadline)) this.#isOver = true
    return this.#isOver
  }

  #timeOf(name: string): number {
    const known = this.#times.get(name)
    if (known !== undefined) return known
    // Its folder may be listed but not entered. It counts as changed: no marker may end unproven.
    const time = attempt(() => {
      const stats = fs.lstatSync(path.join(this.#root, name), { throwIfNoEntry: false })
      return stats === undefined ? 0 : Math.max(stats.mtimeMs, stats.ctimeMs)
    }, Number.MAX_SAFE_INTEGER)
    this.#times.set(name, time)
    return time
  }
}

type SearchedRule = Pick<DoneRule, 'when' | 'unless'>

function searchKey({ when, unless }: SearchedRule): string {
  return JSON.stringify([when, unless])
}

type Search = Readonly<Record<'patterns' | 'ignore', string[]>>
type SearchedEntry = Pick<fs.Dirent, 'name' | 'isFile' | 'isDirectory' | 'isSymbolicLink'>
type EntriesCallback = (error: Error | null, entries: SearchedEntry[]) => void

/** The last sort only merges, so no sort takes more than 20 ms, even for the largest search. */
async function orderedInSlices(paths: readonly string[], isKept: (path: string) => boolean): Promise<string[]> {
  const sorted: string[] = []
  for (const part of slices([...new Set(paths)], SORTED_AT_ONCE)) {
    sorted.push(...part.filter(isKept).sort())
    await nextTurn()
  }
  return sorted.sort()
}

function* slices<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size)
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export function hashOfPaths(paths: readonly string[]): string {
  return sha256(paths.join('\0')).slice(0, 32)
}

export function namesNoFile({ paths }: RuleState): boolean {
  return paths === hashOfPaths([])
}

/** In place of the hash of a receipt's paths, if the search for them ended early. */
export const UNSEARCHED = ''

export type RuleState = ReturnType<typeof judgeRules>[number]

export function isSearched({ paths }: RuleState): boolean {
  return paths !== undefined
}

export function judgeRules(
  rules: readonly DoneRule[],
  search: FileSearch,
  baselines: readonly Baseline[],
  receipts: ReturnType<typeof readReceipts>,
) {
  return rules.map((rule) => {
    const key = ruleKey(rule)
    const receipt = Object.hasOwn(receipts, key) ? receipts[key] : undefined
    const own = new Set(receipt?.ownOutput)
    const paths = search.pathsOf(rule)?.filter((name) => !own.has(name))
    const hash = paths && hashOfPaths(paths)
    const proven = receipt === undefined ? [] : [{ sinceMs: receipt.atMs, hash: receipt.paths }]
    const begun = baselines.map(({ sinceMs, paths: hashes }) => ({ sinceMs, hash: hashes[key] }))
    const last = [...begun, ...proven].sort((one, other) => one.sinceMs - other.sinceMs).at(-1)
    const changed = paths && search.changedSince(paths, last?.sinceMs ?? 0, receipt)
    if (paths === undefined || changed === undefined) {
      return { rule, key, isDue: false, changed: [], paths: undefined, receipt }
    }
    const isOtherSet = last?.hash !== undefined && last.hash !== UNSEARCHED && last.hash !== hash
    return { rule, key, isDue: changed.length > 0 || isOtherSet, changed, paths: hash, receipt }
  })
}

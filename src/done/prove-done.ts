import { fileSystemNow, waitForNextFileTime } from '../disk/age.ts'
import { kindAt } from '../disk/file-facts.ts'
import { JOURNAL_FOLDER, JOURNAL_PATH } from '../kernel/files.ts'
import { clearFolder, recordCleared } from '../marker/clear-files.ts'
import { readMarker } from '../marker/marker-store.ts'
import { prove } from '../marker/prove.ts'
import { type Busy, CHECK_LIMIT_MS, type failedOf, type RunCheck } from '../marker/run-checks.ts'
import type { CommandContext } from '../project/command-context.ts'
import { makeJournalFolder } from '../project/journal.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import type { DoneRule } from './done-rules.ts'
import {
  type Baseline,
  type DoneReceipt,
  keepReceipt,
  readBaseline,
  readReceipts,
  sessionFolder,
  sessionFolders,
} from './done-state.ts'
import { FileSearch, hashOfPaths, isSearched, judgeRules, type RuleState, UNSEARCHED } from './search.ts'
import type { TrustedRules } from './trust-store.ts'

/** Runs the checks in the caller's own shell, and keeps receipts of the green ones. */

const MAX_OWN_OUTPUT = 200
const MAX_AHEAD = 10_000

export type DoneProof = Exclude<Awaited<ReturnType<typeof proveDone>>, Busy>

/** The session's own folder. In a plain terminal: all of them. */
function foldersOf(context: CommandContext, root: string): readonly TaskFolder[] {
  const { session } = context
  return session === undefined ? sessionFolders(root) : [sessionFolder(root, session)]
}

/** Files count as changed since the start of a session. */
export function knowsSession(context: CommandContext, root: string): boolean {
  return foldersOf(context, root).length > 0
}

export function statesFor(context: CommandContext, root: string, rules: TrustedRules, judge = judging(root, rules)) {
  const [first = judge(NEVER), ...others] = foldersOf(context, root).map((folder) => judge(readBaseline(folder)))
  return first.map((state, index) => {
    const states = [state, ...others.flatMap((one) => one[index] ?? [])]
    return states.find(({ isDue }) => isDue) ?? states.find((one) => !isSearched(one)) ?? state
  })
}

/** Nothing changed since. */
const NEVER: Baseline = { sinceMs: Number.POSITIVE_INFINITY, paths: {} }

function judging(root: string, copy: TrustedRules) {
  const search = new FileSearch(root)
  const receipts = readReceipts(root, copy, Date.now())
  return (baseline: Baseline | undefined): readonly RuleState[] =>
    judgeRules(copy.rules, search, baseline === undefined ? [] : [baseline], receipts)
}

export async function proveDone(context: CommandContext, root: string, copy: TrustedRules, rules: readonly DoneRule[]) {
  const all: RunCheck[] = []
  const green: { readonly rule: DoneRule; readonly receipt: DoneReceipt }[] = []
  let open = rules
  let due: readonly DoneRule[] = []
  let judge: ReturnType<typeof judging> | undefined
  let failed: ReturnType<typeof failedOf>
  const tried = new Set(rules)
  const firsts = new Map<DoneRule, FirstRun>()
  while (open.length > 0) {
    const sinceMs = fileSystemNow(locationOf(context, root).path)
    const before = new FileSearch(root)
    const lists = new Map(open.map((rule) => [rule, before.timesOf(rule)]))
    const pass = await runPass(context, root, open)
    if (pass.kind === 'busy') return pass
    all.push(...pass.done)
    failed = pass.failed
    const atMs = await waitForNextFileTime(locationOf(context, root).path)
    const after = new FileSearch(root)
    const again: DoneRule[] = []
    for (const { rule, durationMs } of pass.green) {
      const found = compare(lists.get(rule), after, rule, firsts.get(rule), { sinceMs, atMs })
      if ('hashes' in found) {
        firsts.set(rule, found)
        again.push(rule)
      } else {
        const receipt = { ...found, durationMs }
        keepReceipt(root, rule, receipt, copy)
        green.push({ rule, receipt })
      }
    }
    if (failed !== undefined) break
    judge = judging(root, copy)
    due = statesFor(context, root, copy, judge).flatMap(({ isDue, rule }) => (isDue ? rule : []))
    // The checks may have changed files of rules that were not due.
    open = [...again, ...due.filter((rule) => !tried.has(rule))]
    for (const rule of open) tried.add(rule)
  }
  const cleared = failed === undefined ? clearProven(context, root, copy, { done: all, green }, judge) : []
  return { kind: 'ran' as const, done: all, failed, green, cleared, due }
}

/** The files that changed during the first run of a rule's checks, which may not be what changed them. */
interface FirstRun {
  readonly changed: ReadonlySet<string>
  readonly paths: ReadonlySet<string>
  readonly hashes: readonly (readonly [name: string, hash: string])[]
}

/** `old`: the rule's files before its checks. Returns a `FirstRun` if they must run once more. */
function compare(
  old: ReadonlyMap<string, number> | undefined,
  after: FileSearch,
  rule: DoneRule,
  first: FirstRun | undefined,
  { sinceMs, atMs }: Readonly<Record<'sinceMs' | 'atMs', number>>,
): FirstRun | Omit<DoneReceipt, 'durationMs'> {
  const times = after.timesOf(rule)
  if (old === undefined || times === undefined) {
    return { atMs: sinceMs, paths: UNSEARCHED, ownOutput: [], rewritten: {}, ahead: {} }
  }
  const paths = [...times.keys()]
  const changed = paths.filter((name) => old.get(name) !== times.get(name))
  if (first === undefined && (changed.length > 0 || paths.length !== old.size)) {
    const hashes = changed.slice(0, MAX_OWN_OUTPUT).map((name) => [name, after.hashOf(name) ?? ''] as const)
    return { changed: new Set(changed), paths: new Set(old.keys()), hashes }
  }
  const makesFiles = [...(first?.changed ?? [])].some((name) => first?.paths.has(name) === false)
  const written = changed.filter((name) => first?.changed.has(name) || (makesFiles && !old.has(name)))
  // If the checks did not make every change, only what was there before they ran is proven.
  const provenMs = written.length === changed.length ? atMs : sinceMs
  const listed = written.slice(0, MAX_OWN_OUTPUT)
  const rewritten = Object.fromEntries(
    (first?.hashes ?? []).filter(([name, hash]) => listed.includes(name) && after.hashOf(name) === hash),
  )
  const ownOutput = listed.filter((name) => !Object.hasOwn(rewritten, name))
  const ahead = paths.filter((name) => old.get(name) === times.get(name) && Number(times.get(name)) > provenMs)
  return {
    atMs: provenMs,
    paths: hashOfPaths(paths.filter((name) => !ownOutput.includes(name))),
    ownOutput,
    rewritten,
    ahead: Object.fromEntries(ahead.slice(0, MAX_AHEAD).map((name) => [name, Number(times.get(name))])),
  }
}

/** The session's folder; in a plain terminal the folder above. A check may remove either: git ignores both. */
function locationOf(context: CommandContext, root: string): TaskFolder {
  const { session } = context
  const folder = session === undefined ? undefined : sessionFolder(root, session)
  // A removed session folder is not made again: its count of blocked stops is gone, and the next stop must know.
  if (folder !== undefined && kindAt(folder.path) === 'folder') return folder
  return { root, path: makeJournalFolder(root), task: JOURNAL_FOLDER, relative: JOURNAL_PATH }
}

async function runPass(context: CommandContext, root: string, rules: readonly DoneRule[]) {
  const done: RunCheck[] = []
  const green: { rule: DoneRule; durationMs: number }[] = []
  for (const rule of rules) {
    const commands = rule.checks.filter((command) => done.every(({ run }) => run !== command))
    const folder = locationOf(context, root)
    const read = readMarker(folder)
    const marker = read?.kind === 'marker' ? read.marker : undefined
    const limitMs = rule.timeoutMs ?? CHECK_LIMIT_MS
    const proof = await prove(context, folder, marker, { commands, areForeign: false }, limitMs)
    if (proof.kind === 'busy') return proof
    done.push(...proof.done)
    if (proof.failed !== undefined) return { kind: 'ran' as const, done, failed: proof.failed, green }
    const own = done.filter(({ run }) => rule.checks.includes(run))
    green.push({ rule, durationMs: own.reduce((sum, { durationMs }) => sum + durationMs, 0) })
  }
  return { kind: 'ran' as const, done, failed: undefined, green }
}

export function clearProven(
  context: CommandContext,
  root: string,
  copy: TrustedRules,
  { done, green }: Readonly<{ done: RunCheck[]; green: { rule: DoneRule }[] }> = { done: [], green: [] },
  judge = judging(root, copy),
): TaskFolder[] {
  return foldersOf(context, root).filter((folder) => {
    if (kindAt(folder.path) !== 'folder') return false
    const states = judge(readBaseline(folder))
    // If its search ended early, a green check proves a rule all the same.
    const isProven = (state: RuleState): boolean => isSearched(state) || green.some(({ rule }) => rule === state.rule)
    if (states.some((state) => state.isDue || !isProven(state))) return false
    // There were no rules, so nothing was proven.
    const keepsUnchecked = copy.rules.length === 0
    const result = clearFolder(folder, { returnMeta: false, keepsUnchecked, still: () => true })
    if (result === undefined || (result.marker === undefined && result.abandoned.length === 0)) return false
    recordCleared(context, folder, result, done)
    return !result.isUnchecked
  })
}

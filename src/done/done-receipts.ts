import path from 'node:path'
import { hideFromGit, makeOwnFolder } from '../disk/folders.ts'
import { sha256 } from '../disk/ids.ts'
import { COMMAND_PATIENCE_MS, withLock } from '../disk/lock.ts'
import { readSmallFile } from '../disk/read.ts'
import { replaceFile } from '../disk/write.ts'
import { DONE_RECEIPTS_FILE } from '../kernel/files.ts'
import { isJsonObject } from '../kernel/values.ts'
import { journalPaths } from '../project/journal.ts'
import { type DoneRule, ruleText } from './done-rules.ts'

/** Which rules were green last, when, and with which files. A green check proves the files for every session. */

export interface DoneReceipt {
  readonly atMs: number
  readonly paths: string
  readonly ownOutput: readonly string[]
  /** Proven files whose time is later than the receipt, with that time (ms): a clock was set back, or an archive unpacked. */
  readonly ahead: Readonly<Record<string, number>>
  readonly durationMs: number
}

export type DoneReceipts = Readonly<Record<string, DoneReceipt>>

/** In bytes. */
const RECEIPTS_LIMIT = 4_194_304

/** In ms. A receipt from the future came with a repository: it would prove files that do not exist yet. */
const CLOCK_TOLERANCE_MS = 60_000

export function ruleKey(rule: DoneRule): string {
  return sha256(ruleText(rule)).slice(0, 16)
}

function receiptsPath(root: string): string {
  return path.join(journalPaths(root).folder, DONE_RECEIPTS_FILE)
}

/** Never throws. */
export function readReceipts(root: string, nowMs: number): DoneReceipts {
  const receipts: Record<string, DoneReceipt> = {}
  for (const [key, one] of Object.entries(readEntries(root))) {
    if (!isJsonObject(one)) continue
    const { at_ms: atMs, paths, own_output: ownOutput, duration_ms: durationMs, ahead } = one
    if (typeof atMs !== 'number' || typeof paths !== 'string' || atMs > nowMs + CLOCK_TOLERANCE_MS) continue
    receipts[key] = {
      atMs,
      paths,
      ownOutput: Array.isArray(ownOutput) ? ownOutput.filter((name) => typeof name === 'string') : [],
      ahead: Object.fromEntries(
        Object.entries(isJsonObject(ahead) ? ahead : {}).filter(
          (entry): entry is [string, number] => typeof entry[1] === 'number',
        ),
      ),
      durationMs: typeof durationMs === 'number' ? durationMs : 0,
    }
  }
  return receipts
}

function readEntries(root: string): Readonly<Record<string, unknown>> {
  const read = readSmallFile(receiptsPath(root), RECEIPTS_LIMIT)
  if (read.kind !== 'text' || !read.whole) return {}
  try {
    const value: unknown = JSON.parse(read.text)
    return isJsonObject(value) && isJsonObject(value.receipts) ? value.receipts : {}
  } catch {
    return {}
  }
}

export function keepReceipt(root: string, rule: DoneRule, receipt: DoneReceipt, rules: readonly DoneRule[]): void {
  const { folder } = journalPaths(root)
  if (makeOwnFolder(folder)) hideFromGit(folder)
  const keys = new Set(rules.map(ruleKey))
  withLock(folder, COMMAND_PATIENCE_MS, () => {
    const others = Object.entries(readEntries(root)).filter(([key]) => keys.has(key) && key !== ruleKey(rule))
    const { when, unless, checks } = rule
    const own = {
      ...{ when, unless, check: checks, at_ms: receipt.atMs, duration_ms: receipt.durationMs },
      ...{ paths: receipt.paths, own_output: receipt.ownOutput, ahead: receipt.ahead },
    }
    const receipts = { ...Object.fromEntries(others), [ruleKey(rule)]: own }
    replaceFile(receiptsPath(root), `${JSON.stringify({ receipts }, null, 2)}\n`)
  })
}

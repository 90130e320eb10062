import type { DoneReceipt, DoneReceipts } from './done-receipts.ts'
import { ruleKey } from './done-receipts.ts'
import type { DoneRule } from './done-rules.ts'
import { type FileSearch, hashOfPaths } from './search.ts'
import type { Baseline } from './session-folder.ts'

/** Which rules are due: their files changed since they were last proven, or since the session began. */

/** The state of a rule. */
export interface RuleState {
  readonly rule: DoneRule
  readonly key: string
  readonly isDue: boolean
  /** The first changed files, at most five; none if files are only gone or new. */
  readonly changed: readonly string[]
  /** The hash of its paths; undefined if the search came to its bounds. */
  readonly paths: string | undefined
  readonly receipt: DoneReceipt | undefined
}

/** Whether the search found all files of a rule. */
export function isSearched({ paths }: RuleState): boolean {
  return paths !== undefined
}

/**
 * The states of the rules. `baselines`: from when the session's changes count; the last of them and of the rule's receipt
 * decides. Without any, every file counts that has no receipt.
 */
export function judgeRules(
  rules: readonly DoneRule[],
  search: FileSearch,
  baselines: readonly Baseline[],
  receipts: DoneReceipts,
): RuleState[] {
  return rules.map((rule) => {
    const key = ruleKey(rule)
    const receipt = Object.hasOwn(receipts, key) ? receipts[key] : undefined
    const own = new Set(receipt?.ownOutput)
    const found = search.pathsOf(rule)
    const paths = found?.filter((name) => !own.has(name))
    const hash = paths && hashOfPaths(paths)
    const proven = receipt === undefined ? [] : [{ sinceMs: receipt.atMs, hash: receipt.paths }]
    const begun = baselines.map(({ sinceMs, paths: hashes }) => ({ sinceMs, hash: hashes[key] }))
    const last = [...begun, ...proven].reduce((one, other) => (other.sinceMs >= one.sinceMs ? other : one), {
      sinceMs: 0,
      hash: undefined as string | undefined,
    })
    const changed = paths && search.changedSince(paths, last.sinceMs)
    if (paths === undefined || changed === undefined) {
      return { rule, key, isDue: false, changed: [], paths: undefined, receipt }
    }
    const isOtherSet = last.hash !== undefined && last.hash !== hash
    return { rule, key, isDue: changed.length > 0 || isOtherSet, changed, paths: hash, receipt }
  })
}

import type { DoneReceipt, DoneReceipts } from './done-receipts.ts'
import { ruleKey } from './done-receipts.ts'
import type { DoneRule } from './done-rules.ts'
import { type FileSearch, hashOfPaths } from './search.ts'
import type { Baseline } from './session-folder.ts'

export interface RuleState {
  readonly rule: DoneRule
  readonly key: string
  readonly isDue: boolean
  readonly changed: readonly string[]
  readonly paths: string | undefined
  readonly receipt: DoneReceipt | undefined
}

export function isSearched({ paths }: RuleState): boolean {
  return paths !== undefined
}

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
    const changed = paths && search.changedSince(paths, last.sinceMs, receipt?.ahead)
    if (paths === undefined || changed === undefined) {
      return { rule, key, isDue: false, changed: [], paths: undefined, receipt }
    }
    const isOtherSet = last.hash !== undefined && last.hash !== hash
    return { rule, key, isDue: changed.length > 0 || isOtherSet, changed, paths: hash, receipt }
  })
}

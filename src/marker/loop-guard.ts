import { isMarkerId } from '../project/task-folder.ts'

/**
 * The counting rules (docs/design.md, "Counting blocked stops"). A claim file is `{key}.{slot}`. Claims under the
 * marker's key count, and claims on its file, in case a rewrite dropped its id. While the loop guard is above 0, it and
 * all claims count.
 */

export const CONTINUATION_LIMIT = 3

export function isSpent(count: number): boolean {
  return count >= CONTINUATION_LIMIT
}

/** 0 without a file. Undefined if it is garbled, which does not change the count. */
export type LoopGuard = number | undefined
export type Claim = Readonly<{ key: string; slot: number; file?: string | undefined }>
export type MarkerIdentity = Readonly<{ id?: string | undefined; file: string }>

/** Safe in a file name. */
export function claimKey({ id, file }: MarkerIdentity): string {
  return isMarkerId(id) ? id : file
}

export function claimName(key: string, slot: number): string {
  return `${key}.${slot}`
}

export function parseClaimName(name: string): Claim | undefined {
  const match = /^(pf_[A-Za-z0-9]{12}|f[0-9a-z]+-[0-9a-z]+)\.([1-9])$/.exec(name)
  return match === null ? undefined : { key: match[1] as string, slot: Number(match[2]) }
}

export function parseLoopGuard(text: string): LoopGuard {
  // `trim` also removes a byte-order mark.
  const digits = text.trim()
  return /^\d+$/.test(digits) ? Math.min(Number(digits), CONTINUATION_LIMIT) : undefined
}

export function countsFor(claim: Claim, marker: MarkerIdentity, guard: LoopGuard): boolean {
  return guard !== 0 || claim.key === claimKey(marker) || claim.file === marker.file
}

export function countSpent(claims: readonly Claim[], marker: MarkerIdentity, guard: LoopGuard): number {
  const counted = claims.filter((claim) => countsFor(claim, marker, guard)).map((claim) => claim.slot)
  return Math.min(CONTINUATION_LIMIT, Math.max(guard ?? 0, 0, ...counted))
}

import { isMarkerId } from '../project/task-folder.ts'

/**
 * How continuations are counted, as data (docs/design.md, "Counting blocked stops"). Each has a claim file,
 * `{key}.{slot}`, with slots 1 to 3; the loop guard file shows the number to `cat`. For a marker count:
 *
 * - the claims under its own key: its id, or its file's identity if it has no id;
 * - the claims that were made on this file, in case it lost its id in a rewrite;
 * - while the loop guard file exists and is not 0, all other claims and its own number: the marker was replaced within
 *   the same chain of blocks. Removing the loop guard together with the marker resets the count, and so does writing 0
 *   to it.
 */

/** The maximum number of stops that one marker blocks. */
export const CONTINUATION_LIMIT = 3

/** True if no continuation is left. */
export function isSpent(count: number): boolean {
  return count >= CONTINUATION_LIMIT
}

/** The content of a loop guard file. */
export type LoopGuard =
  /** No file, or 0: only the marker's own claims count. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'number'; readonly value: number }
  /** Empty, or not a number. It does not change the count. */
  | { readonly kind: 'garbled' }

/** One claim file. */
export interface Claim {
  readonly key: string
  readonly slot: number
  /** The identity of the marker file that it was made on; undefined if unknown. */
  readonly file?: string | undefined
}

/** The marker whose claims are counted. */
export interface MarkerIdentity {
  readonly id?: string | undefined
  /** The identity of the marker's file. */
  readonly file: string
}

/** The key of a marker's claims, which is safe in a file name. */
export function claimKey({ id, file }: MarkerIdentity): string {
  return isMarkerId(id) ? id : file
}

/** The file name of a claim. */
export function claimName(key: string, slot: number): string {
  return `${key}.${slot}`
}

/** Reads a claim's file name; undefined for any other file. */
export function parseClaimName(name: string): Claim | undefined {
  const match = /^(pf_[A-Za-z0-9]{12}|f[0-9a-z]+-[0-9a-z]+)\.([1-9])$/.exec(name)
  return match === null ? undefined : { key: match[1] as string, slot: Number(match[2]) }
}

/** Reads the loop guard's text. 0 is the same as no file, and a number above the limit counts as the limit. */
export function parseLoopGuard(text: string): LoopGuard {
  // `trim` also removes a byte-order mark.
  const digits = text.trim()
  if (!/^\d+$/.test(digits)) return { kind: 'garbled' }
  const value = Math.min(Number(digits), CONTINUATION_LIMIT)
  return value === 0 ? { kind: 'absent' } : { kind: 'number', value }
}

/** True if `claim` counts for the marker. */
export function countsFor(claim: Claim, marker: MarkerIdentity, guard: LoopGuard): boolean {
  return guard.kind !== 'absent' || claim.key === claimKey(marker) || claim.file === marker.file
}

/** The continuations spent for the marker: 0 to 3. */
export function countSpent(claims: readonly Claim[], marker: MarkerIdentity, guard: LoopGuard): number {
  const counted = claims.filter((claim) => countsFor(claim, marker, guard)).map((claim) => claim.slot)
  return Math.min(CONTINUATION_LIMIT, Math.max(guard.kind === 'number' ? guard.value : 0, 0, ...counted))
}

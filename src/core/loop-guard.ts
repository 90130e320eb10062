import { isMarkerId } from './marker.ts'

/**
 * How continuations are counted (docs/design.md, "Counting continuations"), as data. One claim file per continuation, `{key}.{slot}`, slots 1
 * to 3; the loop guard file shows the number to `cat`. What counts for a marker:
 *
 * - the claims under its own key: its id, or the file itself where it has none;
 * - the claims that were made on this very file, should it have lost its id in a rewrite;
 * - while the loop guard file is there, every other claim too, and the number in it: the marker was replaced in the
 *   same chain. Removing loop guard and marker together is what starts anew.
 */

/** How many stops one marker may block. */
export const CONTINUATION_LIMIT = 3

/** True when no continuation is left. */
export function isSpent(count: number): boolean {
  return count >= CONTINUATION_LIMIT
}

/** The loop guard file, read. */
export type LoopGuard =
  | { readonly kind: 'absent' }
  | { readonly kind: 'number'; readonly value: number }
  /** There, but no number: emptied or garbled. It says nothing, and takes nothing away. */
  | { readonly kind: 'garbled' }

/** One claim file. */
export interface Claim {
  readonly key: string
  readonly slot: number
  /** Identity of the marker file that it was made on; undefined where that is not known. */
  readonly file?: string | undefined
}

/** Whose claims to count. */
export interface MarkerIdentity {
  readonly id?: string | undefined
  /** Identity of the marker's file. */
  readonly file: string
}

/** The claims' key for a marker: a name that is safe as a file's. */
export function claimKey({ id, file }: MarkerIdentity): string {
  return isMarkerId(id) ? id : file
}

/** A claim's file name. */
export function claimName(key: string, slot: number): string {
  return `${key}.${slot}`
}

/** Reads a claim's file name; undefined for any other file. */
export function parseClaimName(name: string): Claim | undefined {
  const match = /^(pf_[A-Za-z0-9]{12}|f[0-9a-z]+-[0-9a-z]+)\.([1-9])$/.exec(name)
  return match === null ? undefined : { key: match[1] as string, slot: Number(match[2]) }
}

/** Reads the loop guard's text. A number past the limit means: spent. */
export function parseLoopGuard(text: string): LoopGuard {
  // A byte-order mark is blank space to `trim`.
  const digits = text.trim()
  return /^\d+$/.test(digits)
    ? { kind: 'number', value: Math.min(Number(digits), CONTINUATION_LIMIT) }
    : { kind: 'garbled' }
}

/** True when `claim` counts for the marker. */
export function countsFor(claim: Claim, marker: MarkerIdentity, guard: LoopGuard): boolean {
  return guard.kind !== 'absent' || claim.key === claimKey(marker) || claim.file === marker.file
}

/** Continuations spent for the marker: 0 to 3. */
export function countSpent(claims: readonly Claim[], marker: MarkerIdentity, guard: LoopGuard): number {
  const counted = claims.filter((claim) => countsFor(claim, marker, guard)).map((claim) => claim.slot)
  return Math.min(CONTINUATION_LIMIT, Math.max(guard.kind === 'number' ? guard.value : 0, 0, ...counted))
}

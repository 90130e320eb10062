import fc from 'fast-check'
import { expect } from 'vitest'

/** False where properties have few runs, as for mutants (`short-properties.ts`). */
export const hasAllRuns = (): boolean => fc.readConfigureGlobal()?.numRuns === undefined

/**
 * Expects that a property's runs reached every case of `wanted` and no other: what a generator no longer makes is no longer
 * tested. It does nothing where properties have few runs.
 */
export function expectReached(reached: Iterable<string>, wanted: readonly string[]): void {
  if (!hasAllRuns()) return
  expect([...new Set(reached)].sort()).toEqual([...wanted].sort())
}

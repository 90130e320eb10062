import fc from 'fast-check'
import { expect } from 'vitest'

/**
 * Expects that a property's runs reached every case of `wanted` and no other: a case that a generator no longer makes
 * is no longer tested. It does nothing if a time limit ends a property early, as for mutants (`short-properties.ts`).
 */
export function expectReached(reached: Iterable<string>, wanted: readonly string[]): void {
  if (fc.readConfigureGlobal()?.interruptAfterTimeLimit !== undefined) return
  expect([...new Set(reached)].sort()).toEqual([...wanted].sort())
}

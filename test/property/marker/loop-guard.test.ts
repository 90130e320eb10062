import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Claim,
  claimKey,
  claimName,
  countSpent,
  isSpent,
  type MarkerIdentity,
  parseClaimName,
  parseLoopGuard,
} from '../../../src/marker/loop-guard.ts'
import { anyUnits, holds, hostileText, maybe } from '../arbitraries.ts'

const ID = /^pf_[A-Za-z0-9]{12}$/
const anyId = fc.stringMatching(ID)
const anyFile = fc.tuple(fc.nat(), fc.nat()).map(([device, node]) => `f${device.toString(36)}-${node.toString(36)}`)
const anyMarker = fc.record({ id: maybe(fc.oneof(anyId, hostileText)), file: anyFile })
/** Any content that a person, another hook or a crash may leave in the file; undefined for no file. */
const anyGuardText = maybe(fc.oneof(anyUnits, fc.integer().map(String), fc.constantFrom('', '{}', '1\n', '3')))

const read = (text: string | undefined) => (text === undefined ? 0 : parseLoopGuard(text))

type Turn = readonly [marker: MarkerIdentity, guard: string | undefined]

/** The number of blocked stops, with the marker and the loop guard of each turn. */
function countBlocks(turns: readonly Turn[]): number {
  const claims: Claim[] = []
  for (const [marker, guard] of turns) {
    const spent = countSpent(claims, marker, read(guard))
    if (!isSpent(spent)) claims.push({ key: claimKey(marker), slot: spent + 1, file: marker.file })
  }
  return claims.length
}

const turnsOf = (turn: fc.Arbitrary<Turn>): fc.Arbitrary<Turn[]> => fc.array(turn, { minLength: 4, maxLength: 9 })

describe('one marker blocks at most three stops', () => {
  it('with any change of the loop guard between the stops (CRU#581, CRU#570)', () => {
    holds()(anyMarker, fc.array(anyGuardText, { minLength: 4, maxLength: 9 }), (marker, guards) => {
      expect(countBlocks(guards.map((guard) => [marker, guard]))).toBeLessThanOrEqual(3)
    })
  })

  it('with any rewrite of the marker, while the loop guard exists with any content but 0', () => {
    const anyGuard = anyGuardText.map((text) => text ?? '').filter((text) => parseLoopGuard(text) !== 0)
    holds()(turnsOf(fc.tuple(anyMarker, anyGuard)), (turns) => {
      expect(countBlocks(turns)).toBeLessThanOrEqual(3)
    })
  })

  it('with any change of its id in the same file, with or without a loop guard', () => {
    holds()(anyFile, turnsOf(fc.tuple(anyMarker, anyGuardText)), (file, turns) => {
      expect(countBlocks(turns.map(([marker, guard]) => [{ ...marker, file }, guard]))).toBeLessThanOrEqual(3)
    })
  })

  it('with the same id in any other file, with or without a loop guard', () => {
    holds()(anyId, turnsOf(fc.tuple(anyMarker, anyGuardText)), (id, turns) => {
      expect(countBlocks(turns.map(([marker, guard]) => [{ ...marker, id }, guard]))).toBeLessThanOrEqual(3)
    })
  })

  it('and exactly three without any change', () => {
    holds()(anyMarker, (marker) => {
      const turns = ['1', '2', '3', '3'].map((guard): Turn => [marker, guard])
      expect(countBlocks([[marker, undefined], ...turns])).toBe(3)
    })
  })

  it('the count is 0 to 3 for any claims and any loop guard', () => {
    const anyClaim = fc.record({ key: fc.oneof(anyId, anyFile), slot: fc.integer({ min: 1, max: 9 }), file: anyFile })
    holds()(fc.array(anyClaim), anyMarker, anyGuardText, (claims, marker, text) => {
      expect([0, 1, 2, 3]).toContain(countSpent(claims, marker, read(text)))
    })
  })

  it('another claim never lowers the count', () => {
    const anyClaim = fc.record({ key: fc.oneof(anyId, anyFile), slot: fc.integer({ min: 1, max: 3 }), file: anyFile })
    holds()(fc.array(anyClaim), anyClaim, anyMarker, anyGuardText, (claims, more, marker, text) => {
      const guard = read(text)
      expect(countSpent([...claims, more], marker, guard)).toBeGreaterThanOrEqual(countSpent(claims, marker, guard))
    })
  })
})

describe('the names of claims', () => {
  it('of any marker are read as they were written, and are names of one file', () => {
    holds()(anyMarker, fc.integer({ min: 1, max: 3 }), (marker, slot) => {
      const key = claimKey(marker)
      const name = claimName(key, slot)
      expect(name).toMatch(/^[A-Za-z0-9_.-]+$/)
      expect(parseClaimName(name)).toEqual({ key, slot })
    })
  })

  it('do not look like other names', () => {
    holds()(fc.oneof(anyUnits, hostileText, fc.string()), (name) => {
      expect(parseClaimName(name)).toBeUndefined()
    })
  })
})

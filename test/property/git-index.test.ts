import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findIndexEntries } from '../../src/core/git-index.ts'
import { indexOf } from '../unit/git-index-file.ts'

const NAME = '.postflight-pending'
const anyPath = fc
  .tuple(fc.array(fc.stringMatching(/^[\u0001-\u002e\u0030-\u00ff]{1,12}$/), { maxLength: 4 }), fc.boolean())
  .map(([folders, ours]) => [...folders, ours ? NAME : 'file'].join('/'))
const anyVersion = fc.constantFrom(2 as const, 3 as const, 4 as const)
const anyHash = fc.constantFrom(20 as const, 32 as const)
const anyEntries = fc.array(fc.record({ path: anyPath, stage: fc.constantFrom(0, 0, 0, 1), size: fc.nat() }), {
  maxLength: 12,
})

describe("git's index", () => {
  it('of any paths gives those of the wanted name, and what git knows of them', () => {
    fc.assert(
      fc.property(anyVersion, anyHash, anyEntries, (version, hashBytes, entries) => {
        const found = findIndexEntries(indexOf(version, entries, hashBytes), [NAME], hashBytes)
        const wanted = entries.filter(({ path, stage }) => stage === 0 && `/${path}`.endsWith(`/${NAME}`))
        expect([...found].map(([path, { size }]) => [path, size])).toEqual([
          ...new Map(wanted.map(({ path, size }) => [path, size])),
        ])
      }),
    )
  })

  it('damaged anyhow, or of any bytes, is no error', () => {
    fc.assert(
      fc.property(
        anyVersion,
        anyEntries,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 20 }),
        fc.uint8Array({ maxLength: 200 }),
        (version, entries, damages, tail) => {
          const index = indexOf(version, entries)
          for (const [at, byte] of damages) if (at >= 8) index[at % index.length] = byte
          for (const bytes of [index, Uint8Array.from([...index.subarray(0, 12), ...tail])]) {
            for (const path of findIndexEntries(bytes, [NAME], 20).keys())
              expect(`/${path}`.endsWith(`/${NAME}`)).toBe(true)
          }
        },
      ),
    )
  })
})

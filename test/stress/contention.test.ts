import { afterAll, describe, expect, test } from 'vitest'
import { partOf, partOfCount } from '../support/stress-fifth.ts'
import { blocksOf, GUARD, MARKER, OLD_MARKER } from './support/contention.ts'
import { findFlaws, SCENARIOS } from './support/contention-scenarios.ts'
import { isJsonObject } from './support/files.ts'
import { createProcessArena } from './support/process-arena.ts'

/** Processes on one marker, which all start before the first one goes on. */

const HOOKS = 64
const ROUNDS = partOfCount(50)
const MIXED_ROUNDS = 3
const arena = createProcessArena(4)
afterAll(() => arena.close())

describe(`${HOOKS} stops of one marker at once, ${ROUNDS} times`, () => {
  test('exactly three are blocked, the others are allowed, and the marker is abandoned once', async () => {
    let blocked = 0
    let abandonedAtOnce = 0
    for (let round = 1; round <= ROUNDS; round++) {
      arena.prepare({ [MARKER]: JSON.stringify(OLD_MARKER) })
      const hooks = Array.from({ length: HOOKS }, () => arena.hook())
      const outcomes = await arena.runFrom('stdin', hooks)
      const where = `round ${round}`
      for (const { stdout, exitCode } of outcomes) {
        expect(exitCode, where).toBe(0)
        expect(stdout, where).toMatch(/^\{.*\}\n$/)
        expect(isJsonObject(stdout), where).toBe(true)
      }
      expect(blocksOf(outcomes).length, where).toBe(3)
      blocked += 3
      expect([undefined, '3\n'], where).toContain(arena.files()[GUARD])
      if (MARKER in arena.files()) {
        // The next stop abandons the marker if the third block was still being counted when the others came.
        expect(blocksOf([await arena.alone(arena.hook())]), where).toEqual([])
      } else abandonedAtOnce += 1
      expect(arena.files()[MARKER], where).toBe(undefined)
      expect(arena.journal('cap').length, where).toBe(1)
      const counts = arena.journal('block').map(({ count }) => count)
      expect(counts, where).toEqual(expect.arrayContaining([1, 2, 3]))
      // On a busy machine a stop may wait for the lock longer than its patience, which is a second.
      const errors = arena.journal('error').map(({ detail }) => String(detail))
      const others = errors.filter((detail) => !detail.includes('is being changed by another process'))
      expect(others, where).toEqual([])
    }
    console.log(
      `contention: ${ROUNDS} rounds, ${ROUNDS * HOOKS} stops, ${blocked} blocks, abandoned at once in ${abandonedAtOnce}`,
    )
  })
})

describe('stops and other programs at once, as processes', () => {
  test.each([...partOf(SCENARIOS, 5)])('$name', async (scenario) => {
    for (let round = 1; round <= MIXED_ROUNDS; round++) {
      expect((await findFlaws(arena, scenario, round, 'none')).flaws, `round ${round}`).toEqual([])
    }
  })
})

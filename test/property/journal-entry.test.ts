import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatJournalEntry, parseJournalLine } from '../../src/core/journal-entry.ts'
import { anyUnits, hostileText, longText } from './arbitraries.ts'

const anyText = fc.option(longText, { nil: undefined })

it('every entry is one bounded line, and is read as it was written', () => {
  const anyEntry = fc.record({
    event: fc.constantFrom('create' as const, 'block' as const, 'error' as const),
    markerId: anyText,
    task: anyText,
    hostSession: anyText,
    agent: anyText,
    count: fc.option(fc.nat(), { nil: undefined }),
    detail: anyText,
  })
  fc.assert(
    fc.property(anyEntry, fc.double(), (entry, nowMs) => {
      const line = formatJournalEntry(entry, nowMs)
      expect(line.indexOf('\n')).toBe(line.length - 1)
      // Five values of 500 characters, each of which may become an escape of two.
      expect(line.length).toBeLessThan(6000)
      const read = parseJournalLine(line)
      expect(read).toMatchObject({ event: entry.event, time: expect.stringMatching(/^[+-]?\d{4,6}-\d\d-\d\dT.*Z$/) })
      expect(read?.count).toBe(entry.count)
    }),
  )
})

it('any other line is read without an error', () => {
  fc.assert(
    fc.property(fc.oneof(anyUnits, hostileText, fc.json()), (line) => {
      const read = parseJournalLine(line)
      expect(read === undefined || typeof read.event === 'string').toBe(true)
    }),
  )
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { markerRecords } from '../../../src/marker/marker-record.ts'
import { mayConcernMarker } from '../../../src/project/journal-entries.ts'
import {
  formatJournalEntry,
  type JournalEntry,
  parseJournalLine,
  sessionsOfHook,
} from '../../../src/project/journal-entry.ts'
import { anyUnits, holds, hostileText, longText, maybe } from '../arbitraries.ts'

const anyText = maybe(longText)

it('every entry is one bounded line, and is read as it was written', () => {
  const anyEntry = fc.record({
    event: fc.constantFrom('create' as const, 'block' as const, 'error' as const),
    markerId: anyText,
    task: anyText,
    hostSession: anyText,
    agent: anyText,
    count: maybe(fc.nat()),
    detail: anyText,
  })
  holds()(anyEntry, fc.double(), (entry, nowMs) => {
    const line = formatJournalEntry(entry, nowMs)
    expect(line.indexOf('\n')).toBe(line.length - 1)
    // Five values of 500 characters, each of which may become an escape of two.
    expect(line.length).toBeLessThan(6000)
    const read = parseJournalLine(line)
    expect(read).toMatchObject({ event: entry.event, time: expect.stringMatching(/^[+-]?\d{4,6}-\d\d-\d\dT.*Z$/) })
    expect(read?.count).toBe(entry.count)
  })
})

it('any other line is read without an error', () => {
  holds()(fc.oneof(anyUnits, hostileText, fc.json()), (line) => {
    const read = parseJournalLine(line)
    expect(read === undefined || typeof read.event === 'string').toBe(true)
  })
})

const anyId = fc.constantFrom('pf_xxxxxxxxxxxx', 'pf_yyyyyyyyyyyy', undefined)

it('the records of markers and the sessions of the hook need only the lines that may concern a marker', () => {
  const anyEntry: fc.Arbitrary<JournalEntry> = fc.record({
    event: fc.constantFrom(
      ...(['create', 'block', 'clear', 'check', 'cap', 'bypass', 'bypass-request', 'expire'] as const),
      ...(['adopt', 'claim', 'step', 'wait', 'wait-end', 'workflow', 'error'] as const),
    ),
    outcome: fc.constantFrom('cleared', 'capped', 'unchecked', undefined),
    markerId: anyId,
    replaces: anyId,
    keeps: anyId,
    settles: maybe(fc.array(anyId)),
    task: fc.constantFrom('259_x', '300_y'),
    hostSession: fc.constantFrom('s1', 's2'),
    detail: anyText,
  })
  holds()(fc.array(anyEntry), (entries) => {
    const lines = entries.map((entry, at) => formatJournalEntry(entry, at * 1000).trimEnd())
    const read = (some: readonly string[]) => some.flatMap((line) => parseJournalLine(line) ?? [])
    const [all, some] = [read(lines), read(lines.filter(mayConcernMarker))]
    expect(markerRecords(some)).toEqual(markerRecords(all))
    expect(sessionsOfHook(some)).toEqual(sessionsOfHook(all))
  })
})

it('a line of a run does not concern a marker', () => {
  const line = formatJournalEntry({ event: 'workflow', task: '259_x', hostSession: 's1', detail: 'phase "plan"' }, 0)
  expect(mayConcernMarker(line)).toBe(false)
})

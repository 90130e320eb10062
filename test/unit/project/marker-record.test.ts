import { describe, expect, it } from 'vitest'
import {
  expectedFault,
  isInVerdict,
  type MarkerRecord,
  markerRecords,
  type RecordedEnd,
  removedByHand,
  unprovenChecks,
} from '../../../src/marker/marker-record.ts'
import { formatJournalEntry, type JournalEntry, parseJournalLine } from '../../../src/project/journal-entry.ts'
import { NOW_MS } from '../builders.ts'

const idOf = (at: number): string => `pf_${String(at).padStart(12, '0')}`
const X = 'pf_xxxxxxxxxxxx'
const Y = 'pf_yyyyyyyyyyyy'

/** The records of a journal with these entries, written by our own writer. */
function recordsOf(...entries: Omit<JournalEntry, 'task'>[]): MarkerRecord[] {
  return markerRecords(
    entries.flatMap((entry) => parseJournalLine(formatJournalEntry({ task: '259_x', ...entry }, NOW_MS).trim()) ?? []),
  )
}

const MADE: JournalEntry = { event: 'create', markerId: X, hostSession: 's1', checks: ['npm test'] }
const CLEARED: JournalEntry = { event: 'clear', outcome: 'cleared', markerId: X, checks: ['npm test'] }

describe('a marker that was removed by hand', () => {
  it.each<[string, Omit<JournalEntry, 'task'>[], string[]]>([
    ['was created', [MADE], [X]],
    ['was created, claimed and blocked', [MADE, { event: 'claim', markerId: X }, { event: 'block', markerId: X }], [X]],
    ['was renewed after its end', [MADE, CLEARED, MADE], [X]],
    ['took the place of one that `create` wrote', [MADE, { event: 'adopt', markerId: Y, replaces: X }], [Y]],
  ])('%s', (_what, entries, ids) => {
    expect(removedByHand(recordsOf(...entries), []).map(({ id }) => id)).toEqual(ids)
  })

  it.each<[string, Omit<JournalEntry, 'task'>[]]>([
    ['was cleared', [MADE, CLEARED]],
    ['was bypassed', [MADE, { event: 'bypass', outcome: 'bypassed', markerId: X }]],
    ['expired', [MADE, { event: 'expire', outcome: 'expired', markerId: X }]],
    ['was settled', [MADE, { event: 'clear', markerId: X }]],
    ['was not written by `create`', (['adopt', 'block'] as const).map((event) => ({ event, markerId: X }))],
    ['has no valid id', [{ event: 'create', markerId: '../../x' }]],
  ])('is not one that %s', (_what, entries) => {
    expect(removedByHand(recordsOf(...entries), [])).toEqual([])
  })

  it.each<[RecordedEnd, Omit<JournalEntry, 'task'>, readonly string[], 'capped'?]>([
    ['cleared', { event: 'clear', checks: ['b', 'a'] }, ['a', 'b']],
    ['settled', { event: 'clear', checks: ['a'] }, ['a', 'b']],
    ['settled', { event: 'adopt', checks: ['a', 'b'] }, ['a', 'b']],
    ['settled', { event: 'clear' }, []],
    ['bypassed', { event: 'bypass', outcome: 'bypassed', markerId: X }, [], 'capped'],
  ])('was given up, then is %s by %j with the checks %j', (end, entry, checks, kept) => {
    const capped: JournalEntry = { event: 'cap', outcome: 'capped', markerId: X }
    expect(recordsOf({ ...MADE, checks }, capped, { ...entry, settles: [X] })).toMatchObject([{ end, kept }])
  })

  it('is not one that another took the place of', () => {
    const records = recordsOf(MADE, { event: 'create', markerId: Y, replaces: X }, { ...CLEARED, markerId: Y })
    expect(records.map(({ end }) => end)).toEqual(['replaced', 'cleared'])
    expect(removedByHand(records, [])).toEqual([])
  })

  it('is not one whose id a file has, in any folder, nor one whose folder has a file without an id', () => {
    const records = recordsOf(MADE)
    expect(removedByHand(records, [{ task: '300_moved', id: X }])).toEqual([])
    expect(removedByHand(records, [{ task: '259_x', id: null }])).toEqual([])
    expect(removedByHand(records, [{ task: '259_x', id: Y }])).toHaveLength(1)
    expect(removedByHand(records, [{ task: '300_other', id: null }])).toHaveLength(1)
  })

  it('is one of the last hundred: a hostile journal may be full of them', () => {
    const ids = Array.from({ length: 150 }, (_, at) => idOf(at))
    const records = recordsOf(...ids.map((markerId) => ({ ...MADE, markerId })))
    expect(removedByHand(records, []).map(({ id }) => id)).toEqual(ids.slice(-100))
  })
})

describe('a marker that is kept as abandoned', () => {
  const CAPPED: JournalEntry = { event: 'cap', outcome: 'capped', markerId: X }
  const ADOPTED: JournalEntry = { event: 'adopt', markerId: X, keeps: X, settles: [] }
  const SETTLED: JournalEntry = { event: 'clear', settles: [X] }
  const UNCHECKED: JournalEntry = { event: 'clear', outcome: 'unchecked', markerId: X, settles: [] }
  const OTHER: JournalEntry = { event: 'create', markerId: Y, replaces: X }
  const OTHER_CLEARED: JournalEntry = { event: 'clear', outcome: 'cleared', markerId: Y, settles: [] }

  it.each<[string, Omit<JournalEntry, 'task'>[]]>([
    ['given up', [MADE, CAPPED]],
    ['given up, though plain bash wrote it', [CAPPED]],
    ['cleared without its checks', [MADE, UNCHECKED]],
    ['bypassed with checks', [MADE, { event: 'bypass', outcome: 'bypassed', markerId: X, keeps: X }]],
    ['replaced with checks', [MADE, { ...OTHER, keeps: X }]],
    ['replaced with checks, and the other one was cleared', [MADE, { ...OTHER, keeps: X }, OTHER_CLEARED]],
    ['given up, brought back by git and replaced', [MADE, CAPPED, OTHER, OTHER_CLEARED]],
    ['adopted, and cleared without its checks', [MADE, ADOPTED, { ...CLEARED, checks: [], settles: [] }]],
    ['given up, and another abandoned marker was cleared', [MADE, CAPPED, { event: 'clear', settles: [Y] }]],
  ])('is removed by hand if it has no file: %s', (_what, entries) => {
    const records = recordsOf(...entries)
    expect(removedByHand(records, []).map(({ id }) => id)).toContain(X)
    expect(removedByHand(records, [{ task: '259_x', id: X }]).map(({ id }) => id)).not.toContain(X)
  })

  it.each<[string, Omit<JournalEntry, 'task'>[], RecordedEnd]>([
    ['given up and cleared', [MADE, CAPPED, SETTLED], 'settled'],
    ['cleared without its checks, and then cleared', [MADE, UNCHECKED, SETTLED], 'settled'],
    [
      'replaced, and cleared with the other one',
      [MADE, { ...OTHER, keeps: X }, { ...OTHER_CLEARED, settles: [X] }],
      'replaced',
    ],
    ['adopted', [MADE, CAPPED, { event: 'adopt', markerId: Y, replaces: X, settles: [X] }, OTHER_CLEARED], 'replaced'],
    ['settled without its file', [MADE, CAPPED, { event: 'clear', markerId: X, settles: [] }], 'settled'],
    ['brought back by git and cleared after its checks', [MADE, CAPPED, { ...CLEARED, settles: [] }], 'cleared'],
  ])('needs no file any more: %s', (_what, entries, end) => {
    const records = recordsOf(...entries)
    expect(removedByHand(records, [])).toEqual([])
    expect(records[0]?.end).toBe(end)
  })
})

describe('the records of a journal', () => {
  it('take time in proportion to its length', () => {
    const cpuMs = (count: number): number => {
      const entries = Array.from({ length: count }, (_, at): JournalEntry[] => [
        { ...MADE, markerId: idOf(at) },
        { ...CLEARED, markerId: idOf(at), settles: [] },
      ]).flat()
      const before = process.cpuUsage()
      expect(recordsOf(...entries)).toHaveLength(count)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000
    }
    cpuMs(1_000)
    // Eight times as many take about eight times as long, not sixty-four times.
    expect(cpuMs(16_000)).toBeLessThan(24 * Math.max(cpuMs(2_000), 10))
  })

  const line = { time: '2026-01-18T12:00:00.000Z', event: 'create', marker_id: X, task: '259_x', host_session: 's1' }
  const long = 'x'.repeat(501)

  it.each([{ time: 'yesterday' }, { time: 7 }, { marker_id: ['pf'] }, { task: long }, { task: null }])(
    'leave out a line that is not as we write it: %.40j',
    (wrong) => {
      expect(markerRecords([{ ...line, ...wrong }])).toEqual([])
    },
  )

  it('leave out fields and checks that are not as we write them', () => {
    const recordOf = (fields: object) => markerRecords([{ ...line, ...fields }])[0]
    const record = recordOf({ host_session: { a: 1 }, checks: ['true', 7, long, null], replaces: {} })
    expect(record).toMatchObject({ id: X, sessions: new Set(), checks: new Set(['true']), lastMs: NOW_MS })
    expect(recordOf({ checks: 'true' })?.checks).toEqual(new Set())
    expect(recordOf({ checks: Array.from({ length: 99 }, (_, at) => `${at}`) })?.checks.size).toBe(20)
    expect(recordOf({ replaces: X })?.end).toBeUndefined()
  })

  it('know every session of a marker', () => {
    const others = (['claim', 'adopt', 'block'] as const).map((event) => ({ event, markerId: X, hostSession: event }))
    const [record] = recordsOf(MADE, ...others)
    expect(record?.sessions).toEqual(new Set(['s1', 'claim', 'adopt']))
  })

  it('belong to the verdict of each of their sessions, and without a session for 24 hours', () => {
    const [record] = recordsOf(MADE) as [MarkerRecord]
    const hours = (count: number): number => NOW_MS + count * 3_600_000
    expect(isInVerdict(record, 's1', hours(1000))).toBe(true)
    expect(isInVerdict(record, 's2', NOW_MS)).toBe(false)
    expect(isInVerdict(record, undefined, hours(24))).toBe(true)
    expect(isInVerdict(record, undefined, hours(24) + 1)).toBe(false)
    expect(isInVerdict(record, undefined, hours(-25))).toBe(false)
  })
})

describe('a task that is expected', () => {
  const OTHER: JournalEntry = { event: 'create', markerId: Y }
  const REPLACED: JournalEntry = { ...OTHER, replaces: X }
  const OTHER_CLEARED: JournalEntry = { ...CLEARED, markerId: Y }
  const LOST = { kind: 'not-checked', checks: ['npm test'] } as const

  it.each<[string, Omit<JournalEntry, 'task'>[], ReturnType<typeof expectedFault>]>([
    ['is done: made, and cleared after its checks', [MADE, CLEARED], undefined],
    ['is done: cleared, and it had no checks', [OTHER, { ...OTHER_CLEARED, checks: [] }], undefined],
    ['was never made', [], { kind: 'not-made' }],
    ['is pending', [MADE], { kind: 'not-cleared' }],
    ['was given up', [MADE, { event: 'cap', outcome: 'capped', markerId: X }], { kind: 'not-cleared' }],
    ['was settled only', [MADE, { event: 'clear', markerId: X }], { kind: 'not-cleared' }],
    ['has another marker that is not cleared', [MADE, CLEARED, OTHER], { kind: 'not-cleared' }],
    ['lost its checks', [MADE, { ...CLEARED, checks: [] }], LOST],
    ['lost the checks of the replaced marker', [MADE, REPLACED, { ...OTHER_CLEARED, checks: ['true'] }], LOST],
    ['is done: the marker in its place passed its checks', [MADE, REPLACED, OTHER_CLEARED], undefined],
  ])('%s', (_what, entries, fault) => {
    expect(expectedFault(recordsOf(...entries))).toEqual(fault)
  })

  it('has only checks of cleared markers as passed', () => {
    const records = recordsOf(MADE, { event: 'clear', outcome: 'unchecked', markerId: X, checks: ['npm test'] })
    expect(unprovenChecks(records, records)).toEqual(['npm test'])
  })
})

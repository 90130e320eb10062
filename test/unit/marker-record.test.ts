import { describe, expect, it } from 'vitest'
import { formatJournalEntry, type JournalEntry, parseJournalLine } from '../../src/core/journal-entry.ts'
import {
  expectedFault,
  isInVerdict,
  type MarkerRecord,
  markerRecords,
  removedByHand,
  unprovenChecks,
} from '../../src/core/marker-record.ts'
import { NOW_MS } from './builders.ts'

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
    ['was cleared without its checks', [MADE, { event: 'clear', outcome: 'unchecked', markerId: X }]],
    ['was given up', [MADE, { event: 'cap', outcome: 'capped', markerId: X }]],
    ['was bypassed', [MADE, { event: 'bypass', outcome: 'bypassed', markerId: X }]],
    ['expired', [MADE, { event: 'expire', outcome: 'expired', markerId: X }]],
    ['was settled', [MADE, { event: 'clear', markerId: X }]],
    [
      'was not written by `create`',
      [
        { event: 'adopt', markerId: X },
        { event: 'block', markerId: X },
      ],
    ],
    ['has no valid id', [{ event: 'create', markerId: '../../x' }]],
  ])('is not one that %s', (_what, entries) => {
    expect(removedByHand(recordsOf(...entries), [])).toEqual([])
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
    const ids = Array.from({ length: 150 }, (_, at) => `pf_${String(at).padStart(12, '0')}`)
    const removed = removedByHand(
      recordsOf(...ids.map((markerId): JournalEntry => ({ event: 'create', markerId }))),
      [],
    )
    expect(removed.map(({ id }) => id)).toEqual(ids.slice(-100))
  })
})

describe('the records of a journal', () => {
  it('leave out lines and fields that are not as we write them', () => {
    const time = new Date(NOW_MS).toISOString()
    const line = { time, event: 'create', marker_id: X, task: '259_x', host_session: 's1', checks: ['true'] }
    const long = 'x'.repeat(501)

    for (const wrong of [
      { ...line, time: 'yesterday' },
      { ...line, time: 7 },
      { ...line, marker_id: ['pf'] },
      { ...line, task: long },
      { ...line, task: null },
    ]) {
      expect(markerRecords([wrong])).toEqual([])
    }
    const [record] = markerRecords([{ ...line, host_session: { a: 1 }, checks: ['true', 7, long, null], replaces: {} }])
    expect(record).toMatchObject({ id: X, sessions: new Set(), checks: new Set(['true']), lastMs: NOW_MS })
    expect(markerRecords([{ ...line, checks: 'true' }])[0]?.checks).toEqual(new Set())
    expect(markerRecords([{ ...line, checks: Array.from({ length: 99 }, (_, at) => `${at}`) }])[0]?.checks.size).toBe(
      20,
    )
    expect(markerRecords([{ ...line, replaces: X }])[0]?.end).toBeUndefined()
  })

  it('know every session of a marker', () => {
    const [record] = recordsOf(
      MADE,
      { event: 'claim', markerId: X, hostSession: 's2' },
      { event: 'adopt', markerId: X, hostSession: 's3' },
      { event: 'block', markerId: X, hostSession: 's4' },
    )
    expect(record?.sessions).toEqual(new Set(['s1', 's2', 's3']))
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

  it.each<[string, Omit<JournalEntry, 'task'>[], ReturnType<typeof expectedFault>]>([
    ['is done: made, and cleared after its checks', [MADE, CLEARED], undefined],
    [
      'is done: cleared without checks, because it had none',
      [OTHER, { ...CLEARED, markerId: Y, checks: [] }],
      undefined,
    ],
    ['was never made', [], { kind: 'not-made' }],
    ['is pending', [MADE], { kind: 'not-cleared' }],
    ['was given up', [MADE, { event: 'cap', outcome: 'capped', markerId: X }], { kind: 'not-cleared' }],
    ['was settled only', [MADE, { event: 'clear', markerId: X }], { kind: 'not-cleared' }],
    ['has another marker that is not cleared', [MADE, CLEARED, OTHER], { kind: 'not-cleared' }],
    ['lost its checks', [MADE, { ...CLEARED, checks: [] }], { kind: 'not-checked', checks: ['npm test'] }],
    [
      'lost the checks of the marker that was replaced',
      [MADE, { ...OTHER, replaces: X }, { ...CLEARED, markerId: Y, checks: ['true'] }],
      { kind: 'not-checked', checks: ['npm test'] },
    ],
    [
      'is done: the marker in its place passed its checks',
      [MADE, { ...OTHER, replaces: X }, { ...CLEARED, markerId: Y }],
      undefined,
    ],
  ])('%s', (_what, entries, fault) => {
    expect(expectedFault(recordsOf(...entries))).toEqual(fault)
  })

  it('has only checks of cleared markers as passed', () => {
    const records = recordsOf(MADE, { event: 'clear', outcome: 'unchecked', markerId: X, checks: ['npm test'] })
    expect(unprovenChecks(records, records)).toEqual(['npm test'])
  })
})

import { describe, expect, it } from 'vitest'
import { MAX_CHECKS } from '../../../src/kernel/values.ts'
import { formatJournalEntry, parseJournalLine, sessionsOfHook } from '../../../src/project/journal-entry.ts'
import { NOW_MS } from '../builders.ts'

describe('a line of the journal', () => {
  it('has every known field in snake_case, with its time, and is read as it was written', () => {
    const line = formatJournalEntry(
      {
        ...{ event: 'cap', outcome: 'capped', markerId: 'pf_abcdefgh1234', replaces: 'pf_abcdefgh0000', task: '259_x' },
        ...{ hostSession: 's1', agent: 'a1', count: 3, checks: ['npm test'], detail: 'why' },
      },
      NOW_MS + 5,
    )
    expect(Object.entries(parseJournalLine(line) ?? {})).toEqual([
      ['time', '2026-01-18T12:00:00.005Z'],
      ['event', 'cap'],
      ['outcome', 'capped'],
      ['marker_id', 'pf_abcdefgh1234'],
      ['replaces', 'pf_abcdefgh0000'],
      ['task', '259_x'],
      ['host_session', 's1'],
      ['agent', 'a1'],
      ['count', 3],
      ['checks', ['npm test']],
      ['detail', 'why'],
    ])
  })

  it('omits unknown fields', () => {
    const line = formatJournalEntry({ event: 'error', detail: undefined, agent: undefined }, NOW_MS)
    expect(JSON.parse(line)).toEqual({ time: '2026-01-18T12:00:00.000Z', event: 'error' })
  })

  it('is one line, whatever its values', () => {
    const line = formatJournalEntry({ event: 'error', detail: 'a\nb\r\nc"d\\e\u001b[31m😀' }, NOW_MS)
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(JSON.parse(line).detail).toBe('a\nb\nc"d\\e[31m😀')
  })

  it('is bounded: a hostile marker must not fill the disk', () => {
    const long = '\u0000😀"'.repeat(50_000)
    const texts = { markerId: long, task: long, hostSession: long, agent: long, detail: long }
    const lists = { checks: Array(1_000).fill('c'), settles: Array(1_000).fill('pf_abcdefgh1234') }
    const { checks, settles } = JSON.parse(formatJournalEntry({ event: 'clear', ...lists }, NOW_MS))
    expect([checks, settles].map(({ length }) => length)).toEqual([MAX_CHECKS, 100])
    const { time, event, ...values } = JSON.parse(formatJournalEntry({ event: 'block', ...texts }, NOW_MS))
    expect([time, event]).toEqual(['2026-01-18T12:00:00.000Z', 'block'])
    expect(Object.keys(values)).toEqual(['marker_id', 'task', 'host_session', 'agent', 'detail'])
    for (const value of Object.values<string>(values)) expect(value.length).toBeLessThanOrEqual(500)
  })
})

describe('any other line', () => {
  it.each(['', 'x', '{"event":"blo', '{}', '{"event":1}', 'null', '5', '"event"', '[]', '[{"event":"x"}]'])(
    '%j reads as nothing',
    (line) => {
      expect(parseJournalLine(line)).toBeUndefined()
    },
  )
})

it('the sessions whose stops the hook has seen are those of its own events', () => {
  const line = (event: string, host_session: string) => ({ event, host_session })
  const lines = [line('create', 'a'), line('block', 'b'), line('wait-end', 'c'), line('clear', 'd')]
  expect([...sessionsOfHook(lines)]).toEqual(['b', 'c'])
})

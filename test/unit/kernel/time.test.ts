import { afterEach, describe, expect, it, vi } from 'vitest'
import { formatAge, fromIso, HOUR_MS, toIso, toIsoSeconds } from '../../../src/kernel/time.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

const AT = Date.UTC(2026, 0, 18, 10, 0, 0)

describe('writing ISO 8601', () => {
  it('a time is UTC, with milliseconds, but that of a marker without them, as `date` writes it', () => {
    expect(toIso(AT + 7)).toBe('2026-01-18T10:00:00.007Z')
    expect(toIsoSeconds(AT + 999)).toBe('2026-01-18T10:00:00Z')
  })

  it.each([
    [-62_167_219_200_001, '-000001-12-31T23:59:59.999Z'],
    [-62_167_219_200_000, '0000-01-01T00:00:00.000Z'],
    [253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
    [253_402_300_800_000, '+010000-01-01T00:00:00.000Z'],
  ])('%d, at an end of the years with four digits, is %s', (timeMs, expected) => expect(toIso(timeMs)).toBe(expected))

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1])(
    '%d, outside the range of dates, becomes the epoch',
    (timeMs) => {
      expect(toIso(timeMs)).toBe('1970-01-01T00:00:00.000Z')
      expect(toIsoSeconds(timeMs)).toBe('1970-01-01T00:00:00Z')
    },
  )
})

describe('reading ISO 8601', () => {
  it.each([
    ['2026-01-18T10:00:00Z', AT],
    ['2026-01-18T10:00:00.250Z', AT + 250],
    ['2026-01-18T11:00:00+01:00', AT],
    ['2026-01-18T10:00:00+0000', AT],
    ['2026-01-18 10:00:00Z', AT],
    ['2026-01-18T10:00Z', AT],
    ['2026-01-18T10:00:00.250499Z', AT + 250],
    ['2026-01-18', AT - 10 * HOUR_MS],
  ])('%s is understood', (text, expected) => expect(fromIso(text)).toBe(expected))

  it.each(['T10:00:00', ' 10:00:00', 'T10:00:00.000', 'T10:00'])('%s without a zone is UTC everywhere', (time) => {
    // This works because vitest runs each file in its own process; a worker thread would keep the machine's zone.
    vi.stubEnv('TZ', 'Asia/Tokyo')
    expect(fromIso(`2026-01-18${time}`)).toBe(AT)
  })

  it.each([
    ...['', 'yesterday', '2026-13-01T00:00:00Z', '2026-01-18T25:00:00Z', '$(date -u +%Y-%m-%dT%H:%M:%SZ)'],
    // Date.parse reads each of these as a day of 2001 or 2026, so that an unowned marker would count as expired.
    ...['12', 'task 12', 'sess-1', 'phase 3', '1', 'Jan 1 2026', '1768730400', 'on 2026-01-18'],
    ...['2026-01-18 (a Sunday)', '2026-01-18T10:00:00Z junk'],
  ])('%j is not an ISO 8601 time', (text) => expect(fromIso(text)).toBeUndefined())
})

describe('an age for people', () => {
  const SECOND = 1000
  const MINUTE = 60 * SECOND
  const DAY = 24 * HOUR_MS
  it.each([
    [-1, 'in the future'],
    [999, '0 s'],
    [MINUTE - 1, '59 s'],
    [MINUTE, '1 min'],
    [HOUR_MS - 1, '59 min'],
    [HOUR_MS, '1 h'],
    [2 * DAY - 1, '47 h'],
    [2 * DAY, '2 days'],
  ])('%i ms reads %j', (ageMs, expected) => expect(formatAge(ageMs)).toBe(expected))
})

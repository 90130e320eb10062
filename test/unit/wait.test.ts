import { describe, expect, it } from 'vitest'
import {
  announcedWait,
  endedWait,
  parseWait,
  stampedWait,
  type Wait,
  waitStateAt,
  waitsLeft,
} from '../../src/marker/wait.ts'

const STAMPED: Wait = { for: 'x', count: 2, promptId: 'p1' }
const UNSTAMPED: Wait = { for: 'x', count: 2 }
const ONE_STOP: Wait = { for: 'x', count: 2, stoppedMs: 1_000 }

describe('a wait is read from', () => {
  it('what the commands and the hook write', () => {
    const fields = { for: 'x', count: 3, prompt_id: 'p2', last_prompt_id: 'p1', stopped_ms: 5 }
    expect(parseWait(fields)).toEqual({ for: 'x', count: 3, promptId: 'p2', lastPromptId: 'p1', stoppedMs: 5 })
  })

  it.each([
    undefined,
    null,
    'x',
    [],
    {},
    { for: 'x' },
    { for: '', count: 1 },
    { for: 'x', count: 0 },
    { for: 'x', count: 1.5 },
    { for: 'x', count: -1 },
  ])('nothing else: %j', (value) => {
    expect(parseWait(value)).toBeUndefined()
  })

  it('fields of which the ids are not texts, without these', () => {
    expect(parseWait({ for: 'x', count: 1, prompt_id: 7, last_prompt_id: '', stopped_ms: '5' })).toEqual({
      for: 'x',
      count: 1,
    })
  })
})

describe('at an event, a wait', () => {
  it.each<[string, Wait | undefined, string | undefined, number | undefined, string]>([
    ['that was not announced', undefined, 'p1', 0, 'none'],
    ['that is stamped with this prompt', STAMPED, 'p1', 0, 'stands'],
    ['that is stamped with another prompt', STAMPED, 'p2', 0, 'over'],
    ['that is stamped, where the prompt is not known', STAMPED, undefined, 0, 'stands'],
    ['that is not stamped', UNSTAMPED, 'p1', 0, 'begins'],
    ['that is not stamped, where the host has no prompts', UNSTAMPED, undefined, 0, 'begins'],
    ['whose one stop was answered while this hook ran', ONE_STOP, undefined, 999, 'stands'],
    ['whose one stop was answered before this hook started', ONE_STOP, undefined, 1_001, 'over'],
    ['whose one stop is over, where the start is not known', ONE_STOP, undefined, undefined, 'over'],
    ['whose one stop is over, on a host that now has prompts', ONE_STOP, 'p1', 0, 'over'],
    ['that is the tenth', { for: 'x', count: 10 }, 'p1', 0, 'begins'],
    ['that is the eleventh', { for: 'x', count: 11 }, 'p1', 0, 'over'],
    ['that was announced again at the tenth prompt', { for: 'x', count: 10, lastPromptId: 'p1' }, 'p1', 0, 'begins'],
    ['whose stop was allowed before the clock was set back', { ...ONE_STOP, stoppedMs: 60_001 }, undefined, 1, 'over'],
    ['whose stop was allowed a moment ago', { ...ONE_STOP, stoppedMs: 60_000 }, undefined, 1, 'stands'],
    ['that was announced at the eleventh prompt', { for: 'x', count: 10, lastPromptId: 'p1' }, 'p2', 0, 'over'],
  ])('%s: %s %s %s is %s', (_what, wait, prompt, startMs, expected) => {
    expect(waitStateAt(wait, { prompt, startMs })).toBe(expected)
  })
})

describe('the number of a wait', () => {
  it.each<[string, Wait | undefined, number, object, string]>([
    ['is one more than those before', undefined, 3, { count: 4 }, 'yes'],
    ['stays if it is announced twice', UNSTAMPED, 1, { count: 2 }, 'yes'],
    ['stays over a stamp, which it remembers', STAMPED, 1, { count: 2, last_prompt_id: 'p1' }, 'yes'],
    [
      'remembers the stamp before that',
      { for: 'x', count: 2, lastPromptId: 'p0' },
      1,
      { count: 2, last_prompt_id: 'p0' },
      'yes',
    ],
    ['grows after the one stop of a host without prompts', ONE_STOP, 1, { count: 3 }, 'yes'],
    ['may be ten', undefined, 9, { count: 10 }, 'yes'],
    [
      'may be ten again at the prompt of the tenth',
      { ...STAMPED, count: 10 },
      9,
      { count: 10, last_prompt_id: 'p1' },
      'here-only',
    ],
    ['may not be eleven', undefined, 10, { count: 11 }, 'no'],
  ])('%s', (_what, present, used, expected, left) => {
    expect(announcedWait('y', present, used)).toEqual({ wait: { for: 'y', ...expected } })
    expect(waitsLeft(present, used)).toBe(left)
  })

  it.each<[string, Wait, string | undefined, object]>([
    ['at its prompt', UNSTAMPED, 'p1', { prompt_id: 'p1', count: 2 }],
    ['on a host without prompts', UNSTAMPED, undefined, { stopped_ms: 7, count: 2 }],
    ['at the prompt of the wait before', { ...UNSTAMPED, lastPromptId: 'p1' }, 'p1', { prompt_id: 'p1', count: 2 }],
    ['at a later prompt, which counts', { ...UNSTAMPED, lastPromptId: 'p1' }, 'p2', { prompt_id: 'p2', count: 3 }],
  ])('is stamped %s', (_where, wait, prompt, expected) => {
    expect(stampedWait(wait, prompt, 7)).toEqual({ wait: { for: 'x', ...expected } })
  })

  it.each<[string, Wait, number | undefined]>([
    ['stays after a stamped wait', STAMPED, 2],
    ['stays after a wait of one stop', ONE_STOP, 2],
    ['stays after a wait that replaced a stamped one', { ...UNSTAMPED, lastPromptId: 'p1' }, 2],
    ['does not count a wait that was never stamped', UNSTAMPED, 1],
    ['is absent after a first wait that was never stamped', { for: 'x', count: 1 }, undefined],
  ])('%s', (_what, wait, waits) => {
    expect(endedWait(wait)).toEqual({ wait: undefined, waits })
  })
})

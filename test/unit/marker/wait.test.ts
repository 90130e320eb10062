import { describe, expect, it } from 'vitest'
import {
  announcedWait,
  formatWait,
  judgeWait,
  parseWait,
  type SessionEvent,
  sessionEvent,
  type Wait,
  waitFields,
  waitsLeft,
} from '../../../src/marker/marker-wait.ts'

const STAMPED: Wait = { for: 'x', count: 2, promptId: 'p1' }
const UNSTAMPED: Wait = { for: 'x', count: 2 }
const ONE_STOP: Wait = { for: 'x', count: 2, stoppedMs: 1_000 }

describe('a wait is read from', () => {
  it('what the commands and the hook write', () => {
    const fields = { for: 'x', count: 3, prompt_id: 'p2', last_prompt_id: 'p1', stopped_ms: 5 }
    const wait = { for: 'x', count: 3, promptId: 'p2', lastPromptId: 'p1', stoppedMs: 5 }
    expect(parseWait(fields)).toEqual(wait)
    expect(formatWait(wait)).toEqual(fields)
  })

  it.each([
    ...[undefined, null, 'x', [], {}, { for: 'x' }, { for: '', count: 1 }],
    ...[0, 1.5, -1].map((count) => ({ for: 'x', count })),
  ])('nothing else: %j', (value) => {
    expect(parseWait(value)).toBeUndefined()
  })

  it('fields of which the ids are not texts, without these', () => {
    const least = { for: 'x', count: 1 }
    expect(parseWait({ ...least, prompt_id: 7, last_prompt_id: '', stopped_ms: '5' })).toEqual(least)
  })
})

/** A stop of the main conversation, or another event. */
function event(prompt?: string, more: Partial<Extract<SessionEvent, { isMain: boolean }>> = {}): SessionEvent {
  return { kind: 'stop', isMain: true, prompt, startMs: 0, ...more }
}

it.each([
  ['main', 'SubagentStop', true],
  [undefined, 'Stop', true],
  ['a1', 'SubagentStop', false],
])('an event of the agent %s, %s, is of the main conversation: %s', (agent, name, isMain) => {
  const moment = { payload: { agent, event: name, prompt: 'p' }, startMs: 3 } as Parameters<typeof sessionEvent>[0]
  expect(sessionEvent(moment, 'stop')).toEqual({ kind: 'stop', isMain, prompt: 'p', startMs: 3 })
})

const kindAt = (wait: Wait, at: SessionEvent): string => judgeWait(wait, at, 7).kind

describe('at a stop of the main conversation, a wait', () => {
  it.each<[string, Wait, string | undefined, number, string]>([
    ['that is stamped with this prompt', STAMPED, 'p1', 0, 'stays'],
    ['that is stamped with another prompt', STAMPED, 'p2', 0, 'ends'],
    ['that is stamped, where the prompt is not known', STAMPED, undefined, 0, 'stays'],
    ['that is not stamped', UNSTAMPED, 'p1', 0, 'begins'],
    ['that is not stamped, where the host has no prompts', UNSTAMPED, undefined, 0, 'begins'],
    ['whose one stop was answered while this hook ran', ONE_STOP, undefined, 999, 'stays'],
    ['whose one stop was answered before this hook started', ONE_STOP, undefined, 1_001, 'ends'],
    ['whose one stop is over, on a host that now has prompts', ONE_STOP, 'p1', 0, 'ends'],
    ['that is the tenth', { for: 'x', count: 10 }, 'p1', 0, 'begins'],
    ['that is the eleventh', { for: 'x', count: 11 }, 'p1', 0, 'ends'],
    ['that was announced again at the tenth prompt', { for: 'x', count: 10, lastPromptId: 'p1' }, 'p1', 0, 'begins'],
    ['whose stop was allowed before the clock was set back', { ...ONE_STOP, stoppedMs: 60_001 }, undefined, 1, 'ends'],
    ['whose stop was allowed a moment ago', { ...ONE_STOP, stoppedMs: 60_000 }, undefined, 1, 'stays'],
    ['that was announced at the eleventh prompt', { for: 'x', count: 10, lastPromptId: 'p1' }, 'p2', 0, 'ends'],
  ])('%s: %s %s %s %s', (_what, wait, prompt, startMs, expected) => {
    expect(kindAt(wait, event(prompt, { startMs }))).toBe(expected)
  })
})

describe('at another event, a wait', () => {
  const announcement = { kind: 'announcement' } as const
  const command = { kind: 'command' } as const
  const byHelper = { isMain: false } as const
  const helperCommand = { ...command, ...byHelper }

  it.each<[string, Wait, SessionEvent, string]>([
    ['begins at the command that announced it', UNSTAMPED, event('p1', announcement), 'begins'],
    ['but not on a host without prompts: the next stop is allowed', UNSTAMPED, event(undefined, announcement), 'stays'],
    ['is dropped where a sub-agent announced it', UNSTAMPED, event('p1', { ...announcement, ...byHelper }), 'ends'],
    ['is not stamped by any other command', UNSTAMPED, event('p1', command), 'stays'],
    ['nor by one of a sub-agent', UNSTAMPED, event('p1', helperCommand), 'stays'],
    ['stays at a command of its prompt', STAMPED, event('p1', command), 'stays'],
    ['ends at a command of a later prompt', STAMPED, event('p2', command), 'ends'],
    ['whatever it announced', STAMPED, event('p2', announcement), 'ends'],
    ['but not at one of a sub-agent, which may have its own prompts', STAMPED, event('p2', helperCommand), 'stays'],
    ["nor at a sub-agent's stop", STAMPED, event('p2', byHelper), 'stays'],
    ["and is not stamped by a sub-agent's stop", UNSTAMPED, event('p1', byHelper), 'stays'],
    ['ends when its session starts again', STAMPED, { kind: 'session-start' }, 'ends'],
    ['also where it was never stamped', UNSTAMPED, { kind: 'session-start' }, 'ends'],
  ])('%s', (_what, wait, at, expected) => {
    expect(kindAt(wait, at)).toBe(expected)
  })

  it('changes nothing in the marker if it stays', () => {
    expect(waitFields(judgeWait(STAMPED, event('p1'), 7))).toBeUndefined()
  })
})

describe('the number of a wait', () => {
  const second = { count: 2, last_prompt_id: 'p1' }
  it.each<[string, Wait | undefined, number, object, string]>([
    ['is one more than those before', undefined, 3, { count: 4 }, 'yes'],
    ['stays if it is announced twice', UNSTAMPED, 1, { count: 2 }, 'yes'],
    ['stays over a stamp, which it remembers', STAMPED, 1, second, 'yes'],
    ['remembers the stamp before that', { ...UNSTAMPED, lastPromptId: 'p1' }, 1, second, 'yes'],
    ['grows after the one stop of a host without prompts', ONE_STOP, 1, { count: 3 }, 'yes'],
    ['may be ten', undefined, 9, { count: 10 }, 'yes'],
    ['may be ten again at its prompt', { ...STAMPED, count: 10 }, 9, { ...second, count: 10 }, 'here-only'],
    ['may not be eleven', undefined, 10, { count: 11 }, 'no'],
  ])('%s', (_what, present, used, expected, left) => {
    expect(formatWait(announcedWait('y', present, used))).toEqual({ for: 'y', ...expected })
    expect(waitsLeft(present, used)).toBe(left)
  })

  it.each<[string, Wait, string | undefined, object]>([
    ['at its prompt', UNSTAMPED, 'p1', { prompt_id: 'p1', count: 2 }],
    ['on a host without prompts', UNSTAMPED, undefined, { stopped_ms: 7, count: 2 }],
    ['at the prompt of the wait before', { ...UNSTAMPED, lastPromptId: 'p1' }, 'p1', { prompt_id: 'p1', count: 2 }],
    ['at a later prompt, which counts', { ...UNSTAMPED, lastPromptId: 'p1' }, 'p2', { prompt_id: 'p2', count: 3 }],
  ])('is stamped %s', (_where, wait, prompt, expected) => {
    expect(waitFields(judgeWait(wait, event(prompt), 7))).toEqual({ wait: { for: 'x', ...expected } })
  })

  it.each<[string, Wait, number | undefined]>([
    ['stays after a stamped wait', STAMPED, 2],
    ['stays after a wait of one stop', ONE_STOP, 2],
    ['stays after a wait that replaced a stamped one', { ...UNSTAMPED, lastPromptId: 'p1' }, 2],
    ['does not count a wait that was never stamped', UNSTAMPED, 1],
    ['is absent after a first wait that was never stamped', { for: 'x', count: 1 }, undefined],
  ])('%s', (_what, wait, waits) => {
    expect(waitFields(judgeWait(wait, { kind: 'session-start' }, 7))).toEqual({ wait: undefined, waits })
  })
})

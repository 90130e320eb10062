import { describe, expect, it } from 'vitest'
import type { Payload } from '../../../src/hosts/host.ts'
import { EMPTY_PAYLOAD } from '../../../src/hosts/payload.ts'
import { HOUR_MS, toIso } from '../../../src/kernel/time.ts'
import { CONTINUATION_LIMIT } from '../../../src/marker/loop-guard.ts'
import { parseMarker } from '../../../src/marker/marker.ts'
import { isExpired, isUnowned, madeAtMs, UNOWNED_LIFETIME_MS } from '../../../src/marker/stored-marker.ts'
import { planMarker } from '../../../src/stop/plan.ts'
import { judgeOwnership, type Ownership, RULES, waitVerdict } from '../../../src/stop/rules.ts'
import {
  changedAt,
  mainStop,
  marker,
  NOW_MS,
  PATTERN_MARKER,
  PATTERN_MARKER_QUOTED,
  payload,
  seen,
  stopOf,
  subagentStop,
} from '../builders.ts'

const DAY_MS = 24 * HOUR_MS

/** Applies the rules to a marker whose file is `ageMs` old. */
function judge(fields: Readonly<Record<string, unknown>>, stop: Payload, ageMs = HOUR_MS): Ownership {
  return judgeOwnership({ marker: marker(fields), times: changedAt(NOW_MS - ageMs) }, stopOf(stop))
}

const RUNNING = [{ id: 'b1', type: 'subagent', status: 'running' }]

describe('row 1: stop_hook_active in the marker', () => {
  it.each([
    ['on a sub-agent', {}, subagentStop()],
    ['on main', {}, mainStop()],
    ['with any owner', { cc_session_id: 'other', agent_id: 'main' }, subagentStop()],
    ['of an empty payload', {}, EMPTY_PAYLOAD],
  ])('allows the stop: %s', (_, fields, stop) => {
    expect(judge({ ...fields, stop_hook_active: true }, stop)).toBe('bypassed')
  })

  it.each([false, null, 'true', 1])('%j is not true', (value) => {
    expect(judge({ cc_session_id: 's1', stop_hook_active: value }, subagentStop())).toBe('owed')
  })

  it.each([true, false, 'yes', undefined])(
    "the payload's own stop_hook_active (%s) never decides: it may be stuck at false (CC#54360) or at true (QwenLM/qwen-code PR 11613)",
    (value) => {
      const fields = { stop_hook_active: value }
      expect(judge({ cc_session_id: 's1' }, subagentStop(fields))).toBe('owed')
      expect(judge({ cc_session_id: 's1' }, mainStop(fields))).toBe('owed')
      expect(judge({ cc_session_id: 's1', stop_hook_active: true }, subagentStop(fields))).toBe('bypassed')
    },
  )
})

describe('row 2: another host session', () => {
  it('a marker of another session does not block (CPO#64, CPO#370, CC#15047)', () => {
    expect(judge({ cc_session_id: 's2' }, subagentStop())).toBe('other-session')
    expect(judge({ cc_session_id: 's2' }, mainStop())).toBe('other-session')
  })

  it('a marker of this session may block', () => {
    expect(judge({ cc_session_id: 's1' }, subagentStop())).toBe('owed')
    expect(judge({ cc_session_id: 's1' }, mainStop())).toBe('owed')
  })

  it.each([' s1', 'S1', 's', 's11'])('%j is not s1', (session) => {
    expect(judge({ cc_session_id: session }, subagentStop())).toBe('other-session')
  })

  it('without a session in the payload, no marker with a session blocks (CPO#1319, #1530, #1775)', () => {
    expect(judge({ cc_session_id: 's1' }, payload({ agent_id: 'a1' }))).toBe('other-session')
    expect(judge({ cc_session_id: 's1' }, payload({ session_id: '', agent_id: 'a1' }))).toBe('other-session')
    expect(judge({ cc_session_id: 's1' }, EMPTY_PAYLOAD)).toBe('other-session')
  })

  it("session_id is the skill's own name of a session, and does not count", () => {
    expect(judge({ session_id: 's2' }, subagentStop())).toBe('owed')
  })

  it('a marker with a session does not expire', () => {
    const old = { cc_session_id: 's1', created: toIso(NOW_MS - 400 * DAY_MS) }
    expect(judge(old, subagentStop(), 400 * DAY_MS)).toBe('owed')
  })
})

describe('row 3: unowned markers block only sub-agents', () => {
  it.each([{}, { cc_session_id: '' }, { cc_session_id: null }, { cc_session_id: 5 }])(
    '%j does not block on Stop',
    (fields) => {
      expect(judge(fields, mainStop())).toBe('unowned-stop')
      expect(judge(fields, subagentStop())).toBe('owed')
    },
  )

  it('a marker that does not parse is unowned', () => {
    for (const text of ['', 'sess_1', PATTERN_MARKER_QUOTED, '[]', 'null']) {
      const unowned = parseMarker(text)
      expect(isUnowned(unowned)).toBe(true)
      expect(judgeOwnership({ marker: unowned, times: changedAt(NOW_MS) }, stopOf(mainStop()))).toBe('unowned-stop')
      expect(judgeOwnership({ marker: unowned, times: changedAt(NOW_MS) }, stopOf(subagentStop()))).toBe('owed')
    }
  })

  it("the marker of the original pattern blocks an empty payload: that pattern's hook never reads its stdin", () => {
    expect(
      judgeOwnership({ marker: parseMarker(PATTERN_MARKER), times: changedAt(NOW_MS) }, stopOf(EMPTY_PAYLOAD)),
    ).toBe('owed')
  })
})

describe('row 4: an unowned marker older than 24 h does not block (OMC PR 246)', () => {
  const createdAgo = (ageMs: number): object => ({ created: toIso(NOW_MS - ageMs) })

  it.each([
    ['23 h 59 min', DAY_MS - 60_000, 'owed'],
    ['exactly 24 h', DAY_MS, 'owed'],
    ['24 h and 1 ms', DAY_MS + 1, 'expired'],
    ['32 h', 32 * HOUR_MS, 'expired'],
  ])('%s old by `created`', (_, ageMs, expected) => {
    expect(judge({ ...createdAgo(ageMs) }, subagentStop(), 0)).toBe(expected)
  })

  it.each([
    ['exactly 24 h', DAY_MS, 'owed'],
    ['24 h and 1 ms', DAY_MS + 1, 'expired'],
  ])('%s old by the time of the file, without a usable `created`', (_, ageMs, expected) => {
    for (const fields of [{}, { created: '' }, { created: 'yesterday' }, { created: 5 }]) {
      expect(judge(fields, subagentStop(), ageMs)).toBe(expected)
    }
    expect(judgeOwnership({ marker: parseMarker(''), times: changedAt(NOW_MS - ageMs) }, stopOf(subagentStop()))).toBe(
      expected,
    )
  })

  it('`created` counts before the time of the file', () => {
    expect(judge({ ...createdAgo(HOUR_MS) }, subagentStop(), 100 * DAY_MS)).toBe('owed')
  })

  it('a `created` in the future would block for ever, so the time of the file counts', () => {
    expect(judge({ ...createdAgo(-2 * HOUR_MS) }, subagentStop(), DAY_MS + 1)).toBe('expired')
    expect(judge({ created: '9999-12-31T23:59:59Z' }, subagentStop(), DAY_MS + 1)).toBe('expired')
    expect(judge({ created: '9999-12-31T23:59:59Z' }, subagentStop(), DAY_MS)).toBe('owed')
  })

  it('a clock may be up to an hour ahead', () => {
    const fileTimeMs = NOW_MS - 2 * DAY_MS
    expect(madeAtMs(marker(createdAgo(-HOUR_MS) as never), changedAt(fileTimeMs), NOW_MS)).toBe(NOW_MS + HOUR_MS)
    expect(madeAtMs(marker(createdAgo(-HOUR_MS - 1) as never), changedAt(fileTimeMs), NOW_MS)).toBe(fileTimeMs)
  })

  it('only unowned markers expire', () => {
    const old = createdAgo(2 * DAY_MS) as never
    expect(isExpired(marker(old), changedAt(NOW_MS), NOW_MS)).toBe(true)
    expect(isExpired(marker({ ...(old as object), cc_session_id: 's1' }), changedAt(NOW_MS), NOW_MS)).toBe(false)
  })

  it('the limit is 24 h', () => {
    expect(UNOWNED_LIFETIME_MS).toBe(86_400_000)
  })
})

describe("row 5: another agent's marker", () => {
  const own = { cc_session_id: 's1' }
  const unknownAgent = payload({ hook_event_name: 'SubagentStop', session_id: 's1' })

  it.each<[string, Readonly<Record<string, unknown>>, Payload, Ownership]>([
    ['owner main on SubagentStop', { ...own, agent_id: 'main' }, subagentStop(), 'other-agent'],
    ['owner main on Stop', { ...own, agent_id: 'main' }, mainStop(), 'owed'],
    [
      'owner main on SubagentStop of an agent that is called main',
      { ...own, agent_id: 'main' },
      subagentStop({ agent_id: 'main' }),
      'other-agent',
    ],
    ['owner a1 on its own stop', { ...own, agent_id: 'a1' }, subagentStop(), 'owed'],
    ["owner a1 on another's stop", { ...own, agent_id: 'a1' }, subagentStop({ agent_id: 'a2' }), 'other-agent'],
    ["owner a1 on main's Stop", { ...own, agent_id: 'a1' }, mainStop(), 'other-agent'],
    ['owner a1, unknown agent', { ...own, agent_id: 'a1' }, unknownAgent, 'other-agent'],
    ['owner main, unknown agent', { ...own, agent_id: 'main' }, unknownAgent, 'other-agent'],
    ['no owner, unknown agent', own, unknownAgent, 'owed'],
    ['no owner on SubagentStop', own, subagentStop(), 'owed'],
    ['no owner on Stop', own, mainStop(), 'owed'],
    ['unowned, yet with an agent: its own stop', { agent_id: 'a1' }, subagentStop(), 'owed'],
    ["unowned, yet with an agent: another's stop", { agent_id: 'a1' }, subagentStop({ agent_id: 'a2' }), 'other-agent'],
    ['unowned, yet with an agent: an empty payload', { agent_id: 'a1' }, EMPTY_PAYLOAD, 'other-agent'],
    ['its type', { ...own, agent_type: 'worker' }, subagentStop({ agent_type: 'worker' }), 'owed'],
    [
      'another type (agent-sh/agentsys#325)',
      { ...own, agent_type: 'worker' },
      subagentStop({ agent_type: 'explore' }),
      'other-agent',
    ],
    ['a type in the marker only', { ...own, agent_type: 'worker' }, subagentStop(), 'other-agent'],
    ['a type in the payload only', own, subagentStop({ agent_type: 'explore' }), 'owed'],
    [
      'its type, of another agent',
      { ...own, agent_id: 'a1', agent_type: 'w' },
      subagentStop({ agent_id: 'a2', agent_type: 'w' }),
      'other-agent',
    ],
    [
      'its agent, of another type',
      { ...own, agent_id: 'a1', agent_type: 'w' },
      subagentStop({ agent_type: 'x' }),
      'other-agent',
    ],
  ])('%s', (_, fields, stop, expected) => {
    expect(judge(fields, stop)).toBe(expected)
  })
})

describe('row 6: a sub-agent still runs in the background (CC#55754)', () => {
  const own = { cc_session_id: 's1', agent_id: 'main' }

  it('does not block on Stop: the host wakes the agent when the sub-agent ends', () => {
    expect(judge(own, mainStop({ background_tasks: RUNNING }))).toBe('background')
  })

  it.each([
    ['a shell', [{ type: 'shell', status: 'running' }]],
    ['an ended sub-agent', [{ type: 'subagent', status: 'completed' }]],
    ['no task', []],
  ])('%s does not count', (_, background_tasks) => {
    expect(judge(own, mainStop({ background_tasks }))).toBe('owed')
  })

  it('does not matter on SubagentStop', () => {
    expect(judge({ cc_session_id: 's1' }, subagentStop({ background_tasks: RUNNING }))).toBe('owed')
  })
})

describe('row 6a: the agent waits (docs/design.md, "Waiting")', () => {
  const waitOf = (wait: object, session = 's1') =>
    ({ cc_session_id: session, wait: { for: 'go-ahead', count: 1, ...wait } }) as const
  const stop = mainStop({ prompt_id: 'p1' })

  it.each([
    ['that is not stamped yet', waitOf({}), 'begins', 'waiting'],
    ['of this prompt', waitOf({ prompt_id: 'p1' }), 'stays', 'waiting'],
    ['of an earlier prompt', waitOf({ prompt_id: 'p0' }), 'ends', 'owed'],
    ['of another session', waitOf({ prompt_id: 'p1' }, 's2'), undefined, 'other-session'],
    ['of another session that is not stamped yet', waitOf({}, 's2'), undefined, 'other-session'],
  ])('a wait %s', (_, fields, verdict, expected) => {
    expect(waitVerdict(marker(fields), stopOf(stop))?.kind).toBe(verdict)
    expect(judge(fields, stop)).toBe(expected)
  })

  it('does not matter on SubagentStop: sub-agents cannot wait', () => {
    expect(judge(waitOf({}), subagentStop({ prompt_id: 'p1' }))).toBe('owed')
  })
})

describe('row 4a: an unowned marker from before this session', () => {
  const BORN_MS = NOW_MS - HOUR_MS
  const judgeAged = (fields: Readonly<Record<string, unknown>>, changedMs: number, stop = subagentStop()): Ownership =>
    judgeOwnership({ marker: marker(fields), times: changedAt(changedMs) }, stopOf(stop, BORN_MS))

  it.each([
    ['10 s before it: clocks and file systems round', BORN_MS - 10_000, 'owed'],
    ['10 s and 1 ms before it', BORN_MS - 10_001, 'before-session'],
    ['two hours before it', BORN_MS - 2 * HOUR_MS, 'before-session'],
    ['since', BORN_MS + 1, 'owed'],
  ])('whose file was last changed %s', (_, changedMs, expected) => {
    expect(judgeAged({}, changedMs)).toBe(expected)
    expect(judgeAged({ created: toIso(BORN_MS + 60_000) }, changedMs)).toBe(expected)
  })

  it.each([
    ['10 s before it', BORN_MS - 10_000, 'owed'],
    ['11 s before it', BORN_MS - 11_000, 'before-session'],
    ['since', BORN_MS + 1000, 'owed'],
  ])('with a `created` %s, brought back by git in the session', (_, createdMs, expected) => {
    expect(judgeAged({ created: toIso(createdMs) }, NOW_MS)).toBe(expected)
  })

  it('is judged by the change of the file, not of its content: archives set the time of the content', () => {
    const unpacked = { modifiedMs: BORN_MS - HOUR_MS, changedMs: NOW_MS }
    const stop = stopOf(subagentStop(), BORN_MS)
    expect(judgeOwnership({ marker: parseMarker(''), times: unpacked }, stop)).toBe('owed')
    expect(
      judgeOwnership({ marker: parseMarker(''), times: { ...unpacked, changedMs: BORN_MS - HOUR_MS } }, stop),
    ).toBe('before-session')
  })

  it('does not matter for a marker with a session, or if the birth of the session is unknown', () => {
    const old = BORN_MS - 2 * HOUR_MS
    expect(judgeAged({ cc_session_id: 's1' }, old)).toBe('owed')
    expect(judgeOwnership({ marker: marker({}), times: changedAt(old) }, stopOf(subagentStop()))).toBe('owed')
  })

  it('is expired if it is older than 24 h', () => {
    expect(judgeAged({}, NOW_MS - DAY_MS - 1)).toBe('expired')
  })

  it('comes before row 5', () => {
    expect(judgeAged({ agent_id: 'a2' }, BORN_MS - HOUR_MS)).toBe('before-session')
    expect(judgeAged({ agent_id: 'a2' }, NOW_MS)).toBe('other-agent')
  })
})

describe('rows 7 and 8: the count', () => {
  it.each([
    [0, 'block'],
    [1, 'block'],
    [2, 'block'],
    [3, 'capped'],
    [4, 'capped'],
    [2222, 'capped'],
  ] as const)('%i spent: %s', (spent, rule) => {
    expect(planMarker(seen({ cc_session_id: 's1' }, { spent }), stopOf(subagentStop()))).toMatchObject({ rule, spent })
  })

  it('the limit is three continuations (CC#18646)', () => {
    expect(CONTINUATION_LIMIT).toBe(3)
  })
})

describe('the first row that fits decides', () => {
  /** A marker and a stop that fit as many rows as possible, then one row fewer each time. */
  it('with a session', () => {
    const stop = mainStop({ background_tasks: RUNNING })
    const all = { stop_hook_active: true, cc_session_id: 's2', agent_id: 'a2', agent_type: 't' }
    expect(judge(all, stop)).toBe('bypassed')
    const notBypassed = { ...all, stop_hook_active: false }
    expect(judge(notBypassed, stop)).toBe('other-session')
    const sameSession = { ...notBypassed, cc_session_id: 's1' }
    expect(judge(sameSession, stop)).toBe('other-agent')
    const sameAgent = { ...sameSession, agent_id: 'main', agent_type: '' }
    expect(judge(sameAgent, stop)).toBe('background')
    expect(judge(sameAgent, mainStop())).toBe('owed')
  })

  it('without a session', () => {
    const old = 2 * DAY_MS
    const all = { stop_hook_active: true, agent_id: 'a2' }
    expect(judge(all, mainStop({ background_tasks: RUNNING }), old)).toBe('bypassed')
    const notBypassed = { ...all, stop_hook_active: false }
    expect(judge(notBypassed, mainStop({ background_tasks: RUNNING }), old)).toBe('unowned-stop')
    expect(judge(notBypassed, subagentStop(), old)).toBe('expired')
    expect(judge(notBypassed, subagentStop())).toBe('other-agent')
    expect(judge({ agent_id: 'a1' }, subagentStop())).toBe('owed')
  })

  it('the rules are in the order of the table, and only the last one blocks', () => {
    expect(Object.entries(RULES).map(([rule, { row, answer }]) => `${row} ${rule} ${answer}`)).toEqual([
      '1 bypassed allow',
      '2 other-session allow',
      '3 unowned-stop allow',
      '4 expired allow',
      '4a before-session allow',
      '5 other-agent allow',
      '6 background allow',
      '6a waiting allow',
      '7 capped allow',
      '8 block block',
    ])
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { HOUR_MS, toIso } from '../../../src/kernel/time.ts'
import { parseMarker } from '../../../src/marker/marker.ts'
import { madeAtMs } from '../../../src/marker/stored-marker.ts'
import { planMarker } from '../../../src/stop/plan.ts'
import { judgeOwnership, type Ownership, RULES, waitVerdict } from '../../../src/stop/rules.ts'
import { changedAt, marker, NOW_MS, PATTERN_MARKER, PATTERN_MARKER_QUOTED, payload, seen, stopOf } from '../builders.ts'

type Fields = Readonly<Record<string, unknown>>

const DAY_MS = 24 * HOUR_MS
const SUB = { hook_event_name: 'SubagentStop', session_id: 's1', agent_id: 'a1' }
const MAIN = { hook_event_name: 'Stop', session_id: 's1' }
const OWN = { cc_session_id: 's1' }
const RUNNING = [{ id: 'b1', type: 'subagent', status: 'running' }]

/** Applies the rules to a marker, or to a file with this text, at the stop of a payload. */
function judge(content: Fields | string, stop: Fields, ageMs = HOUR_MS, bornMs?: number): Ownership {
  const read = typeof content === 'string' ? parseMarker(content) : marker(content)
  return judgeOwnership({ marker: read, times: changedAt(NOW_MS - ageMs) }, stopOf(payload(stop), bornMs))
}

/** Rows of a marker, a payload, the decision, and the age of the file. */
function itJudges(rows: readonly [what: string, fields: Fields, stop: Fields, expected: Ownership, ageMs?: number][]) {
  it.each(rows)('%s', (_, fields, stop, expected, ageMs) => {
    expect(judge(fields, stop, ageMs)).toBe(expected)
  })
}

describe('row 1: stop_hook_active in the marker allows the stop', () => {
  const bypassed = { stop_hook_active: true }
  itJudges([
    ['on a sub-agent', bypassed, SUB, 'bypassed'],
    ['on main', bypassed, MAIN, 'bypassed'],
    ['with any owner', { ...bypassed, cc_session_id: 'other', agent_id: 'main' }, SUB, 'bypassed'],
    ['of an empty payload', bypassed, {}, 'bypassed'],
    ['but not if it is a text', { ...OWN, stop_hook_active: 'true' }, SUB, 'owed'],
  ])

  it.each([true, false])(
    "the payload's own stop_hook_active (%s) never decides: it may be stuck at false (CC#54360) or at true (QwenLM/qwen-code PR 11613)",
    (stop_hook_active) => {
      for (const stop of [SUB, MAIN]) expect(judge(OWN, { ...stop, stop_hook_active })).toBe('owed')
      expect(judge({ ...OWN, ...bypassed }, { ...SUB, stop_hook_active })).toBe('bypassed')
    },
  )
})

describe('row 2: only a marker of this host session blocks (CPO#64, CPO#370, CC#15047)', () => {
  itJudges([
    ['another session on a sub-agent', { cc_session_id: 's2' }, SUB, 'other-session'],
    ['another session on main', { cc_session_id: 's2' }, MAIN, 'other-session'],
    ['this session on a sub-agent', OWN, SUB, 'owed'],
    ['this session on main', OWN, MAIN, 'owed'],
    ['the same with a blank before it', { cc_session_id: ' s1' }, SUB, 'other-session'],
    ['the same in capitals', { cc_session_id: 'S1' }, SUB, 'other-session'],
    ['a part of its name', { cc_session_id: 's' }, SUB, 'other-session'],
    ['a longer name', { cc_session_id: 's11' }, SUB, 'other-session'],
    ['no session in the payload (CPO#1319, #1530, #1775)', OWN, { agent_id: 'a1' }, 'other-session'],
    ['an empty session in the payload', OWN, { session_id: '', agent_id: 'a1' }, 'other-session'],
    ['an empty payload', OWN, {}, 'other-session'],
    ["session_id is the skill's own name of a session, and does not count", { session_id: 's2' }, SUB, 'owed'],
    ['it does not expire', { ...OWN, created: '2024-12-14T12:00:00Z' }, SUB, 'owed', 400 * DAY_MS],
  ])
})

describe('row 3: unowned markers block only sub-agents', () => {
  it.each([{}, { cc_session_id: '' }, { cc_session_id: null }, { cc_session_id: 5 }])('with %j', (fields) => {
    expect(judge(fields, MAIN)).toBe('unowned-stop')
    expect(judge(fields, SUB)).toBe('owed')
  })

  it('also one that does not parse', () => {
    for (const text of ['', 'sess_1', PATTERN_MARKER_QUOTED, '[]', 'null']) {
      expect([judge(text, MAIN), judge(text, SUB)]).toEqual(['unowned-stop', 'owed'])
    }
  })

  it("the marker of the original pattern blocks an empty payload: that pattern's hook never reads its stdin", () => {
    expect(judge(PATTERN_MARKER, {})).toBe('owed')
  })
})

describe('row 4: an unowned marker older than 24 h does not block (OMC PR 246)', () => {
  const createdAgo = (ageMs: number) => ({ created: toIso(NOW_MS - ageMs) })

  it.each([
    ['23 h 59 min', DAY_MS - 60_000, 'owed'],
    ['exactly 24 h', DAY_MS, 'owed'],
    ['24 h and 1 ms', DAY_MS + 1, 'expired'],
    ['32 h', 32 * HOUR_MS, 'expired'],
  ])('%s old by `created`, or by the time of the file if there is no usable `created`', (_, ageMs, expected) => {
    expect(judge(createdAgo(ageMs), SUB, 0)).toBe(expected)
    for (const content of [{}, { created: '' }, { created: 'yesterday' }, { created: 5 }, '']) {
      expect(judge(content, SUB, ageMs)).toBe(expected)
    }
  })

  it('`created` counts before the time of the file', () => {
    expect(judge(createdAgo(HOUR_MS), SUB, 100 * DAY_MS)).toBe('owed')
  })

  it('a `created` in the future would block forever, so the time of the file counts', () => {
    expect(judge(createdAgo(-2 * HOUR_MS), SUB, DAY_MS + 1)).toBe('expired')
    expect(judge({ created: '9999-12-31T23:59:59Z' }, SUB, DAY_MS + 1)).toBe('expired')
    expect(judge({ created: '9999-12-31T23:59:59Z' }, SUB, DAY_MS)).toBe('owed')
  })

  it('a clock may be up to an hour ahead', () => {
    const times = changedAt(NOW_MS - 2 * DAY_MS)
    expect(madeAtMs(marker(createdAgo(-HOUR_MS)), times, NOW_MS)).toBe(NOW_MS + HOUR_MS)
    expect(madeAtMs(marker(createdAgo(-HOUR_MS - 1)), times, NOW_MS)).toBe(times.modifiedMs)
  })
})

describe("row 5: another agent's marker", () => {
  const main = { ...OWN, agent_id: 'main' }
  const a1 = { ...OWN, agent_id: 'a1' }
  const worker = { ...OWN, agent_type: 'worker' }
  const unowned = { agent_id: 'a1' }
  const other = { ...SUB, agent_id: 'a2' }
  const unknown = { ...SUB, agent_id: undefined }
  itJudges([
    ['owner main on SubagentStop', main, SUB, 'other-agent'],
    ['owner main on Stop', main, MAIN, 'owed'],
    ['owner main on SubagentStop of an agent that is called main', main, { ...SUB, agent_id: 'main' }, 'other-agent'],
    ['owner a1 on its own stop', a1, SUB, 'owed'],
    ["owner a1 on another's stop", a1, other, 'other-agent'],
    ["owner a1 on main's Stop", a1, MAIN, 'other-agent'],
    ['owner a1, unknown agent', a1, unknown, 'other-agent'],
    ['owner main, unknown agent', main, unknown, 'other-agent'],
    ['no owner, unknown agent', OWN, unknown, 'owed'],
    ['unowned, yet with an agent: its own stop', unowned, SUB, 'owed'],
    ["unowned, yet with an agent: another's stop", unowned, other, 'other-agent'],
    ['unowned, yet with an agent: an empty payload', unowned, {}, 'other-agent'],
    ['its type', worker, { ...SUB, agent_type: 'worker' }, 'owed'],
    ['another type (agent-sh/agentsys#325)', worker, { ...SUB, agent_type: 'explore' }, 'other-agent'],
    ['a type in the marker only', worker, SUB, 'other-agent'],
    ['a type in the payload only', OWN, { ...SUB, agent_type: 'explore' }, 'owed'],
    ['its type, of another agent', { ...a1, agent_type: 'w' }, { ...other, agent_type: 'w' }, 'other-agent'],
    ['its agent, of another type', { ...a1, agent_type: 'w' }, { ...SUB, agent_type: 'x' }, 'other-agent'],
  ])
})

describe('row 6: a sub-agent still runs in the background (CC#55754), whose end wakes the agent', () => {
  const main = { ...OWN, agent_id: 'main' }
  itJudges([
    ['on Stop', main, { ...MAIN, background_tasks: RUNNING }, 'background'],
    ['a shell does not count', main, { ...MAIN, background_tasks: [{ type: 'shell', status: 'running' }] }, 'owed'],
    ['no task does not count', main, { ...MAIN, background_tasks: [] }, 'owed'],
    ['it does not matter on SubagentStop', OWN, { ...SUB, background_tasks: RUNNING }, 'owed'],
  ])
})

describe('row 6a: the agent waits (docs/design.md, "Waiting")', () => {
  const waitOf = (wait: object, session = 's1') => ({
    cc_session_id: session,
    wait: { for: 'go-ahead', count: 1, ...wait },
  })
  const stop = { ...MAIN, prompt_id: 'p1' }

  it.each([
    ['that is not stamped yet', waitOf({}), 'begins', 'waiting'],
    ['of this prompt', waitOf({ prompt_id: 'p1' }), 'stays', 'waiting'],
    ['of an earlier prompt', waitOf({ prompt_id: 'p0' }), 'ends', 'owed'],
    ['of another session', waitOf({ prompt_id: 'p1' }, 's2'), undefined, 'other-session'],
    ['of another session that is not stamped yet', waitOf({}, 's2'), undefined, 'other-session'],
  ])('a wait %s', (_, fields, verdict, expected) => {
    expect(waitVerdict(marker(fields), stopOf(payload(stop)))?.kind).toBe(verdict)
    expect(judge(fields, stop)).toBe(expected)
  })

  it('does not matter on SubagentStop: sub-agents cannot wait', () => {
    expect(judge(waitOf({}), { ...SUB, prompt_id: 'p1' })).toBe('owed')
  })
})

describe('row 4a: an unowned marker from before this session', () => {
  const BORN_MS = NOW_MS - HOUR_MS
  const judgeAged = (fields: Fields, changedMs: number): Ownership => judge(fields, SUB, NOW_MS - changedMs, BORN_MS)

  it.each([
    ['10 s before it: clocks and file systems round', BORN_MS - 10_000, 'owed'],
    ['10 s and 1 ms before it', BORN_MS - 10_001, 'before-session'],
    ['two hours before it', BORN_MS - 2 * HOUR_MS, 'before-session'],
    ['since', BORN_MS + 1, 'owed'],
  ])('whose file was last changed, or which was made and brought back by git, %s', (_, timeMs, expected) => {
    expect(judgeAged({}, timeMs)).toBe(expected)
    expect(judgeAged({ created: toIso(BORN_MS + 60_000) }, timeMs)).toBe(expected)
    expect(judgeAged({ created: toIso(timeMs) }, NOW_MS)).toBe(expected)
  })

  it.each([
    [NOW_MS, 'owed'],
    [BORN_MS - HOUR_MS, 'before-session'],
  ])(
    'is judged by the change of the file, not of its content: archives set the time of the content',
    (changedMs, rule) => {
      const times = { modifiedMs: BORN_MS - HOUR_MS, changedMs }
      expect(judgeOwnership({ marker: parseMarker(''), times }, stopOf(payload(SUB), BORN_MS))).toBe(rule)
    },
  )

  it('does not matter for a marker with a session, or if the birth of the session is unknown', () => {
    expect(judgeAged(OWN, BORN_MS - 2 * HOUR_MS)).toBe('owed')
    expect(judge({}, SUB, 3 * HOUR_MS)).toBe('owed')
  })
})

describe('rows 7 and 8: three continuations at most (CC#18646)', () => {
  it.each([
    [0, 'block'],
    [1, 'block'],
    [2, 'block'],
    [3, 'capped'],
    [2222, 'capped'],
  ] as const)('%i spent: %s', (spent, rule) => {
    expect(planMarker(seen(OWN, { spent }), stopOf(payload(SUB)))).toMatchObject({ rule, spent })
  })
})

it('the rules are in the order of the table, which docs/protocol.md shows too, and only the last one blocks', () => {
  expect(Object.entries(RULES).map(([rule, { row, answer }]) => `${row} ${rule} ${answer}`)).toEqual([
    ...['1 bypassed allow', '2 other-session allow', '3 unowned-stop allow', '4 expired allow'],
    ...['4a before-session allow', '5 other-agent allow', '6 background allow', '6a waiting allow'],
    ...['7 capped allow', '8 block block'],
  ])
  const page = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8')
  const rows = Array.from(page.matchAll(/^\| (\d+a?) \|.*\| .*?\b(allow|block)\b.*\|$/gm), ([, row, answer]) => [
    row,
    answer,
  ])
  expect(rows).toEqual(Object.values(RULES).map(({ row, answer }) => [String(row), answer]))
})

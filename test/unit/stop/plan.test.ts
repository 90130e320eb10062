import { describe, expect, it } from 'vitest'
import type { Moment } from '../../../src/hosts/payload.ts'
import type { StoredMarker } from '../../../src/marker/stored-marker.ts'
import {
  blocks,
  type JudgedMarker,
  planMarker,
  recordOf,
  recordsOf,
  type SeenMarker,
  type StopOutcome,
  stampsWait,
} from '../../../src/stop/plan.ts'
import { judgeOwnership, RULES, type Rule } from '../../../src/stop/rules.ts'
import { mainStop, seen, stopOf, subagentStop, taskFolder } from '../builders.ts'

const OWN = { cc_session_id: 's1' }
const RUNNING = [{ id: 'b1', type: 'subagent', status: 'running' }]

/** A wait that was stamped at a prompt, or was not stamped yet. */
function waitAt(prompt_id?: string): object {
  return { wait: { for: 'go-ahead', count: 1, ...(prompt_id !== undefined && { prompt_id }) } }
}

describe('the plan for a stop', () => {
  const plan = (markers: readonly SeenMarker[], payload = subagentStop()) =>
    markers.map((one) => planMarker(one, stopOf(payload)))

  it('has a rule for each marker, in their order', () => {
    const owed = seen(OWN, { spent: 1 })
    const spent = seen(OWN, { spent: 3 })
    const foreign = seen({ cc_session_id: 's2' })
    expect(plan([owed, spent, foreign])).toEqual([
      { ...owed, rule: 'block', spent: 1, endsWait: false },
      { ...spent, rule: 'capped', spent: 3, endsWait: false },
      { ...foreign, rule: 'other-session', spent: 0, endsWait: false },
    ])
  })

  it('does not judge a marker that cannot be read or counted', () => {
    const folder = taskFolder()
    const planned = plan([{ kind: 'unreadable', folder, detail: 'EACCES' }])
    expect(planned).toEqual([{ kind: 'unreadable', folder, detail: 'EACCES' }])
  })

  it.each<[string, object, Rule, boolean, object[]?]>([
    ['none was announced', {}, 'block', false],
    ['it is not stamped yet', waitAt(), 'waiting', false],
    ['its prompt is still answered', waitAt('p1'), 'waiting', false],
    ['its prompt has ended', waitAt('p0'), 'block', true],
    ['another session announced it', { ...waitAt('p0'), cc_session_id: 's2' }, 'other-session', false],
    ['another rule allows the stop', waitAt('p0'), 'background', true, RUNNING],
  ])('ends a wait that is over, and blocks again: %s', (_, fields, rule, endsWait, background_tasks = []) => {
    const [planned] = plan([seen({ ...OWN, ...fields })], mainStop({ prompt_id: 'p1', background_tasks }))
    expect(planned).toMatchObject({ rule, spent: 0, endsWait })
  })
})

describe('the first stop of a wait stamps it', () => {
  const stamps = (fields: object, moment: Moment): boolean => {
    const stored = seen({ ...OWN, ...fields }) as StoredMarker
    return stampsWait(judgeOwnership(stored, moment), stored.marker, moment)
  }

  it.each([
    ['at its stop', waitAt(), { prompt_id: 'p1' }, true],
    ['also where a sub-agent still runs', waitAt(), { prompt_id: 'p1', background_tasks: RUNNING }, true],
    ['but not twice', waitAt('p1'), { prompt_id: 'p1' }, false],
    ['nor twice where a sub-agent still runs', waitAt('p1'), { prompt_id: 'p1', background_tasks: RUNNING }, false],
    ['nor after its prompt', waitAt('p0'), { prompt_id: 'p1' }, false],
    ['nor if no wait was announced', {}, { prompt_id: 'p1' }, false],
    ['nor then, if a sub-agent still runs', {}, { background_tasks: RUNNING }, false],
    ["nor at another agent's stop", { ...waitAt(), agent_id: 'a1' }, { prompt_id: 'p1' }, false],
    ['nor in another session', { ...waitAt(), cc_session_id: 's2' }, { prompt_id: 'p1' }, false],
  ])('%s', (_, fields, payload, expected) => {
    expect(stamps(fields, stopOf(mainStop(payload)))).toBe(expected)
  })

  it("but not a sub-agent's stop: sub-agents cannot wait", () => {
    expect(stamps(waitAt(), stopOf(subagentStop()))).toBe(false)
  })
})

const FOLDER = taskFolder()
const STORED = seen({ id: 'pf_abcdefghijkl', cc_session_id: 's1' }) as StoredMarker
const PAYLOAD = subagentStop()

/** The part of a record that says whose marker it was. */
const ABOUT = { markerId: 'pf_abcdefghijkl', task: '259_prove_completeness', hostSession: 's1', agent: 'a1' }

function judged(rule: Rule, spent = 0, more: object = {}): JudgedMarker {
  return { ...STORED, rule, spent, endsWait: false, ...more }
}

it('one rule alone blocks', () => {
  const rules = Object.keys(RULES) as Rule[]
  expect(rules.filter((rule) => blocks(judged(rule)))).toEqual(['block'])
  const others: StopOutcome[] = [
    { kind: 'unreadable', folder: FOLDER, detail: 'EACCES' },
    { kind: 'let-go', folder: FOLDER },
  ]
  expect(others.filter(blocks)).toEqual([])
})

describe('the journal', () => {
  it.each<[Rule, object]>([
    ['block', { event: 'block', count: 2 }],
    ['capped', { event: 'cap', outcome: 'capped', count: 3 }],
    ['bypassed', { event: 'bypass', outcome: 'bypassed' }],
    ['expired', { event: 'expire', outcome: 'expired' }],
  ])('records what happened to a marker: %s', (rule, entry) => {
    expect(recordsOf([judged(rule, 1)], PAYLOAD)).toEqual([{ root: '/home/me/p', entry: { ...entry, ...ABOUT } }])
  })

  it('records why a marker could not be judged', () => {
    const { task, hostSession, agent } = ABOUT
    const entry = { event: 'error', task, hostSession, agent, detail: 'EACCES' }
    expect(recordsOf([{ kind: 'unreadable', folder: FOLDER, detail: 'EACCES' }], PAYLOAD)).toEqual([
      { root: '/home/me/p', entry },
    ])
  })

  it('does not record a marker that did not block, and gives each root its own entries', () => {
    const other = taskFolder('7_x', '/worktree')
    const recorded: Rule[] = ['block', 'capped', 'bypassed', 'expired']
    const others = (Object.keys(RULES) as Rule[]).filter((rule) => !recorded.includes(rule))
    const outcomes: StopOutcome[] = [
      { kind: 'let-go', folder: FOLDER },
      ...others.map((rule) => judged(rule)),
      judged('expired', 0, { folder: other }),
      judged('expired'),
    ]
    expect(recordsOf(outcomes, PAYLOAD).map(({ root, entry }) => [root, entry.task])).toEqual([
      ['/worktree', '7_x'],
      ['/home/me/p', '259_prove_completeness'],
    ])
  })

  it('has no id of a marker whose id is not one of ours', () => {
    const [record] = recordsOf([judged('expired', 0, seen({ id: 'mine' }))], PAYLOAD)
    expect(record?.entry.markerId).toBeUndefined()
  })

  it('says what an agent waited for when the wait ends', () => {
    expect(recordOf(STORED, PAYLOAD, { event: 'wait-end', detail: 'go-ahead' })).toEqual({
      root: '/home/me/p',
      entry: { event: 'wait-end', detail: 'go-ahead', ...ABOUT },
    })
  })
})

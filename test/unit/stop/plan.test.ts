import { describe, expect, it } from 'vitest'
import type { Moment } from '../../../src/hosts/payload.ts'
import type { StoredMarker } from '../../../src/marker/stored-marker.ts'
import {
  type PlannedMarker,
  planMarker,
  predictOutcome,
  recordsOf,
  type SeenMarker,
  type StopOutcome,
  stampsWait,
  waitEndRecord,
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
      { kind: 'judged', stored: owed, rule: 'block', spent: 1, endsWait: false },
      { kind: 'judged', stored: spent, rule: 'capped', spent: 3, endsWait: false },
      { kind: 'judged', stored: foreign, rule: 'other-session', spent: 0, endsWait: false },
    ])
  })

  it('does not judge a marker that cannot be read or counted', () => {
    const folder = taskFolder()
    const planned = plan([{ kind: 'unreadable', folder, detail: 'EACCES' }])
    expect(planned).toEqual([{ kind: 'failed', folder, detail: 'EACCES' }])
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

describe('the outcome that a rule leads to', () => {
  const stored = seen({ cc_session_id: 's1', ...waitAt() }) as StoredMarker
  const planned = (rule: Rule) => ({ kind: 'judged', stored, rule, spent: 1, endsWait: false }) as const
  const outcomesOf = (...markers: PlannedMarker[]): StopOutcome[] => markers.map(predictOutcome)

  it('a block counts one more continuation', () => {
    expect(outcomesOf(planned('block'))).toEqual([{ kind: 'blocked', stored, count: 2 }])
  })

  it.each(Object.keys(RULES).filter((rule) => rule !== 'block') as Rule[])('%s ends the marker or lets go', (rule) => {
    const ends = rule === 'capped' || rule === 'bypassed' || rule === 'expired'
    expect(outcomesOf(planned(rule))).toEqual([
      ends
        ? { kind: rule, stored }
        : { kind: 'let-go', folder: stored.folder, waitsFor: rule === 'waiting' ? 'go-ahead' : undefined },
    ])
  })

  it('a marker that could not be judged has failed, and all are in the order of the plan', () => {
    const failed = { folder: FOLDER, detail: 'EACCES' }
    const outcomes = outcomesOf({ kind: 'failed', ...failed }, planned('waiting'), planned('block'))
    expect(outcomes).toMatchObject([{ kind: 'failed', ...failed }, { kind: 'let-go' }, { kind: 'blocked' }])
  })
})

describe('the journal', () => {
  it.each([
    ['blocked', { event: 'block', count: 2 }],
    ['capped', { event: 'cap', outcome: 'capped', count: 3 }],
    ['bypassed', { event: 'bypass', outcome: 'bypassed' }],
    ['expired', { event: 'expire', outcome: 'expired' }],
  ] as const)('records what happened to a marker: %s', (kind, entry) => {
    const records = recordsOf([{ kind, stored: STORED, count: 2 }], PAYLOAD)
    expect(records).toEqual([{ root: '/home/me/p', entry: { ...entry, ...ABOUT } }])
  })

  it('records why a marker could not be judged', () => {
    const { task, hostSession, agent } = ABOUT
    const entry = { event: 'error', task, hostSession, agent, detail: 'EACCES' }
    expect(recordsOf([{ kind: 'failed', folder: FOLDER, detail: 'EACCES' }], PAYLOAD)).toEqual([
      { root: '/home/me/p', entry },
    ])
  })

  it('does not record a marker that did not block, and gives each root its own entries', () => {
    const other = taskFolder('7_x', '/worktree')
    const outcomes: StopOutcome[] = [
      { kind: 'let-go', folder: FOLDER, waitsFor: 'go-ahead' },
      { kind: 'expired', stored: { ...STORED, folder: other } },
      { kind: 'expired', stored: STORED },
    ]
    expect(recordsOf(outcomes, PAYLOAD).map(({ root, entry }) => [root, entry.task])).toEqual([
      ['/worktree', '7_x'],
      ['/home/me/p', '259_prove_completeness'],
    ])
  })

  it('has no id of a marker whose id is not one of ours', () => {
    const [record] = recordsOf([{ kind: 'expired', stored: seen({ id: 'mine' }) as StoredMarker }], PAYLOAD)
    expect(record?.entry.markerId).toBeUndefined()
  })

  it('says what an agent waited for when the wait ends', () => {
    expect(waitEndRecord(FOLDER, STORED.marker, PAYLOAD, 'go-ahead')).toEqual({
      root: '/home/me/p',
      entry: { event: 'wait-end', detail: 'go-ahead', ...ABOUT },
    })
  })
})

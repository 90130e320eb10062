/** The text of a state file: it is read as it was written, and problems of other texts are named. */

import { describe, expect, it } from 'vitest'
import { MAX_PHASE_STEPS } from '../../../src/run/definition/definition-limits.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import { newState, type WorkflowState } from '../../../src/run/machine/state.ts'
import { formatState, isState, parseState } from '../../../src/run/machine/state-file.ts'
import { requestStop } from '../../../src/run/machine/steering.ts'
import { ready } from '../../property/run/arbitraries.ts'
import { NO_SESSIONS, NOW, seeing } from './builders.ts'

/** A run in the middle of things: every optional field is set. */
function busyState(): WorkflowState {
  const phases = [{ id: 'constructor', prompt: 'p', artifact: 'a.json', check: { json: true, min_bytes: 2 } }]
  const { definition } = ready({ name: 'flow', phases })
  const state = newState(definition, { id: 'wf_1', nowMs: NOW, ...SESSIONS })
  const prompted = advance(state, seeing({ nowMs: NOW + 1 })).state
  return { ...requestStop(prompted, NOW + 2), takenSteps: ['one'], lastFailure: 'why', repeats: 1 }
}

const SESSIONS = { parentSession: 'parent', hostSession: 'host' }

/** The version, and the fields that are written for readers only. */
const UNREAD = ['version', 'current_step', 'step_attempts', 'max_step_attempts']

const fieldsOf = (state: WorkflowState): Record<string, unknown> => JSON.parse(formatState(state))

describe('a state file', () => {
  it('is read as it was written', () => {
    const state = busyState()
    expect(parseState(formatState(state))).toEqual(state)
    const over = { active: false, outcome: 'stalled', why: 'spent', stopRequestedMs: undefined } as const
    const ended = { ...state, ...over }
    expect(parseState(formatState(ended))).toEqual(ended)
    const fresh: WorkflowState = { ...state, promptedMs: undefined, takenSteps: undefined, totalSteps: MAX_PHASE_STEPS }
    expect(parseState(formatState(fresh))).toEqual(fresh)
    expect(fieldsOf(fresh)).toMatchObject({ prompted_at: null, taken_steps: null, stop_requested: expect.any(String) })
  })

  it('is read as it was written with everything that a visit may hold', () => {
    const phases = [{ id: 'a', steps: ['x', 'y'], parallel: 2, artifact: 'a.json' }]
    const { definition } = ready({ name: 'flow', inputs: { issue: {} }, phases })
    const begun = newState(definition, { ...{ id: 'wf_1', nowMs: NOW, inputs: { issue: '41' } }, ...SESSIONS })
    const work = { step: 1, attempts: 1, maxAttempts: 4, out: true, failure: 'no luck' }
    const state: WorkflowState = {
      ...{ ...begun, stepsKnown: true, totalSteps: 2 },
      ...{ inWork: [work], endedSteps: [{ step: 0, attempts: 2, outcome: 'skipped' }] },
      ...{ promptId: 'p1', shells: ['s1'], heardPromptId: 'p2', interruptions: 2, askedToWait: true, waits: 3 },
      ...{ wait: { for: 'an answer', count: 4, promptId: 'p1', lastPromptId: 'p0' }, stage: 'archiving-rejected' },
      ...{ ledBy: { phase: 'b', verdict: 'bug', reason: 'r' }, previousArtifact: 'artifacts/a/1-a.json' },
      ...{ approval: { standing: 'rejected', note: 'too long' }, durations: { a: 5 }, clockSinceMs: NOW + 3 },
      ...{ skips: 1, phaseSkips: 1, prompts: 5, visits: { a: 2 }, visitsGranted: 1, updatedMs: NOW + 4 },
      takenSteps: ['x', { text: 'y' }],
    }
    expect(parseState(formatState(state))).toEqual(state)
  })

  it('keeps the order of its fields, on one line', () => {
    const { definition } = ready({ name: 'flow', phases: [{ id: 'a', prompt: 'p', artifact: 'a.json' }] })
    const text = formatState(newState(definition, { id: 'wf_1', nowMs: NOW, ...NO_SESSIONS, hostSession: 'host' }))
    const fields = JSON.parse(text)
    expect(text).toBe(`${JSON.stringify(fields)}\n`)
    expect(JSON.stringify(fields, null, 1)).toMatchSnapshot()
  })

  it('that was edited by hand cannot raise the limits of its definition', () => {
    const edited = (more: object) => parseState(JSON.stringify({ ...fieldsOf(busyState()), ...more }))
    const work = (attempts: number, max_attempts: number) => ({ step: 0, attempts, max_attempts, out: false })
    const steps = { total_steps: 2, steps_known: true }
    const raised = { max_phase_attempts: 1e9, in_work: [work(0, 1e9)], ...steps, visits_granted: 1e9 }
    expect(edited(raised)).toMatchObject({ maxPhaseAttempts: 3, inWork: [{ maxAttempts: 3 }], visitsGranted: 1 })
    // Attempts and visits that resumes have granted stay.
    const resumed = { phase_attempts: 4, max_phase_attempts: 6, in_work: [work(3, 6)], ...steps }
    const granted = { visits: { constructor: 2 }, visits_granted: 2 }
    const kept = { maxPhaseAttempts: 6, inWork: [{ maxAttempts: 6 }], visitsGranted: 2 }
    expect(edited({ ...resumed, ...granted })).toMatchObject(kept)
    const more = edited({ ...resumed, max_phase_attempts: 8, in_work: [work(3, 8)] })
    expect(more).toMatchObject({ maxPhaseAttempts: 7, inWork: [{ maxAttempts: 6 }] })
    const twice = [work(0, 3), work(0, 3)]
    expect(edited({ ...steps, in_work: twice })).toEqual({ code: 'shape', detail: 'in_work, ended_steps' })
    expect(edited({ ...steps, in_work: [{ ...work(0, 3), step: 2 }] })).toMatchObject({ code: 'shape' })
  })

  it.each(Object.keys(fieldsOf(busyState())).filter((key) => !UNREAD.includes(key)))('without %s is refused', (key) => {
    const { [key]: _missing, ...fields } = fieldsOf(busyState())
    expect(parseState(JSON.stringify(fields))).toEqual({ code: 'shape', detail: key })
  })

  it('names every key that is missing', () => {
    const read = parseState('{"version": 1}')
    const keys = Object.keys(fieldsOf(busyState())).filter((key) => !UNREAD.includes(key))
    expect(read).toEqual({ code: 'shape', detail: keys.join(', ') })
  })

  it.each([
    ...[{ count: 2 }, { count: 1, promptId: 'p1' }, { count: 1, lastPromptId: 'p1' }, { count: 1, stoppedMs: NOW }],
  ])('keeps a wait with %j', (more) => {
    const wait = { for: 'an answer', ...more }
    expect(parseState(formatState({ ...busyState(), wait }))).toMatchObject({ wait })
  })

  it.each([
    ['[]', 'shape', 'object'],
    ['{"version": 1}', 'shape', 'outcome'],
    ['{"version": "1"}', 'version', '1'],
    ['{}', 'version', 'undefined'],
    ['{', 'not-json', ''],
  ])('%s: %s', (text, code, detail) => {
    expect(parseState(text)).toMatchObject({ code, detail: expect.stringContaining(detail) })
  })

  it('that is nested more than 1,000 levels deep is refused before it is parsed', () => {
    const tooDeep = { code: 'shape', detail: 'nested more than 1000 levels deep' }
    const nested = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels)
    const lists = [1_000, 1_001].map((levels) => parseState(nested('[', ']', levels)))
    expect(lists).toEqual([{ code: 'shape', detail: 'object' }, tooDeep])
    expect(parseState(nested('{"a":', '}', 1_001))).toEqual(tooDeep)
    const texts = ['['.repeat(2_000), '{"'.repeat(2_000), '\\"['.repeat(2_000), '']
    const many = Array.from({ length: 2_000 }, () => [{}])
    expect(parseState(JSON.stringify({ texts, many }))).toMatchObject({ code: 'version' })
  })

  it.each<Record<string, unknown>>([
    ...[{ id: 3 }, { name: 3 }, { stop_requested: 3 }, { host_session: 3 }, { outcome: 3 }, { clock_since: 3 }],
    ...[{ updated_at: 3 }, { active: 'yes' }, { phase: 'unknown' }, { visits: { a: -1, b: 1 } }, { visits: [1] }],
    ...[{ last_failure: {} }, { sequence: '1' }, { phase_attempts: 1.5 }, { total_steps: 1001 }, { taken_steps: [1] }],
    ...[{ stage: 'prompting' }, { history: {} }, { definition: {} }, { shells: [1] }, { waits: -1 }],
    ...[{ in_work: [{ step: 0, attempts: 0, max_attempts: 3, out: 'yes' }] }, { led_by: { phase: 3 } }],
    ...[{ ended_steps: [{ step: 0, attempts: 1, outcome: 'failed' }] }, { led_by: { phase: 'a', verdict: 3 } }],
    ...[{ approval: { standing: 'maybe' } }, { approval: { standing: 'asked', note: 3 } }],
    ...[{ inputs: { issue: 41 } }, { inputs: ['x'] }, { durations: { a: -1 } }],
  ])('with the wrong field %j is refused, and the key is named', (wrong) => {
    const [name] = Object.keys(wrong)
    const read = parseState(JSON.stringify({ ...fieldsOf(busyState()), ...wrong }))
    expect(isState(read)).toBe(false)
    expect(read).toMatchObject({ code: 'shape', detail: name === 'phase' ? 'definition' : name })
  })

  it('with several wrong fields names each of them', () => {
    const read = parseState(JSON.stringify({ ...fieldsOf(busyState()), name: 3, active: 'yes', definition: {} }))
    expect(read).toEqual({ code: 'shape', detail: 'name, active, definition' })
  })

  it('is read without its unreadable times and transitions', () => {
    const begun = { n: 1, event: 'start', phase: 'a' }
    const [wrong, kept] = [
      [3, null, { ...begun, n: 'x' }, { ...begun, event: 3 }, { ...begun, phase: 3 }],
      [{ ...begun, time: 3 }, begun, { n: 2, event: 'enter', phase: 'a', time: 'x' }],
    ]
    const fields = { ...fieldsOf(busyState()), started_at: null, updated_at: null }
    const read = parseState(JSON.stringify({ ...fields, history: [...wrong, ...kept] }))
    expect(read).toMatchObject({ startedMs: 0, updatedMs: 0 })
    expect(isState(read) ? read.history.map(({ n, timeMs }) => [n, timeMs]) : []).toEqual([1, 1, 2].map((n) => [n, 0]))
  })
})

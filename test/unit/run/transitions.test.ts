import { describe, expect, it } from 'vitest'
import { abortState, haltState, promptAgain, requestStop, resumeState } from '../../../src/run/machine/control.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import type { ArtifactSeen, Effect, Observation, StepResultSeen } from '../../../src/run/machine/observation.ts'
import { phaseStatuses } from '../../../src/run/machine/picture.ts'
import { currentWork, stepAt } from '../../../src/run/machine/position.ts'
import { HISTORY_KEPT, type WorkflowState, withTransition } from '../../../src/run/machine/state.ts'
import type { HistoryEntry } from '../../../src/run/machine/state-fields.ts'
import { begin, DONE as DONE_STEP, FAILED, MADE, NO_SESSIONS, NOT_DONE, NOW, PASSED, seeing } from './builders.ts'

/** The transitions of the machine as transcripts: the command, the new lines of the history, the effects. */

const artifact = (seen: ArtifactSeen): Partial<Observation> => ({ artifact: seen })
const stepResult = (seen: StepResultSeen): Partial<Observation> => ({ stepResults: [seen] })
const DONE = stepResult(DONE_STEP)
const AWAY = { returned: false }

function historyLine({ n: _number, timeMs: _time, ...entry }: HistoryEntry): string {
  return Object.values(entry).join(' ')
}

function effectLine(effect: Effect): string {
  return Object.values(effect).join(' ')
}

/** The transcript of the observations in turn, and the state after the last. */
function play(start: WorkflowState, ...seen: Partial<Observation>[]): { told: string[]; state: WorkflowState } {
  let state = start
  const told = seen.map((one) => {
    const { state: next, command, effects } = advance(state, seeing(one))
    const entries = next.history.filter(({ n }) => n > state.sequence)
    state = next
    return [command.kind, ...entries.map(historyLine), ...effects.map(effectLine)].join(' | ')
  })
  return { told, state }
}

const A = { id: 'a', prompt: 'p', artifact: 'a.json' }
const B = { id: 'b', prompt: 'p', artifact: 'b.json' }

describe('a new run', () => {
  it('is in its first phase, without a prompt or a step', () => {
    const state = begin(A)
    expect(state).toMatchObject({ active: true, phase: 'a', visits: { a: 1 }, totalSteps: 0, stepsKnown: true })
    expect(state).toMatchObject({ stage: 'entered', prompts: 0, skips: 0 })
    expect(state.history.map(historyLine)).toEqual(['start a', 'enter a 1'])
    expect(begin({ id: 'a', steps: ['x'] }).stepsKnown).toBe(false)
  })

  it('keeps only its last transitions, and numbers all of them', () => {
    let state = begin(A)
    for (let at = 0; at < HISTORY_KEPT; at++) state = withTransition(state, { event: 'retry', phase: 'a' }, NOW + at)
    expect(state.history).toHaveLength(HISTORY_KEPT)
    expect(state.history.map(({ n }) => n)).toEqual(Array.from({ length: HISTORY_KEPT }, (_, index) => index + 3))
    expect(state).toMatchObject({ sequence: HISTORY_KEPT + 2, updatedMs: NOW + HISTORY_KEPT - 1 })
  })
})

describe('a phase with an artifact', () => {
  it('is prompted for it, waits, is prompted again with the problem, and passes with it', () => {
    const wrong = artifact({ kind: 'invalid', why: 'a.json is not JSON' })
    const { told, state } = play(begin(A), {}, AWAY, wrong, wrong, {}, {}, MADE)
    expect(told).toEqual([
      'prompt | prompt a 1 1',
      'wait',
      'observe | retry a 1 1 a.json is not JSON',
      'prompt | prompt a 1 2',
      'observe | retry a 1 2 a.json is missing',
      'prompt | prompt a 1 3',
      'finish | pass a | end a completed',
    ])
    expect(state).toMatchObject({ active: false, outcome: 'completed', why: undefined, prompts: 3 })
  })

  it('passes at once with an existing one; if that is invalid, the first prompt says why', () => {
    expect(play(begin(A, B), MADE, {}).told).toEqual(['observe | pass a | enter b 1', 'prompt | prompt b 1 1'])
    const { state } = play(begin(A), artifact({ kind: 'invalid', why: 'cut' }))
    expect(state).toMatchObject({ stage: 'prompted', lastFailure: 'cut' })
    expect(play(begin(A), {}).state.lastFailure).toBeUndefined()
  })

  it('is told the problem of the last attempt, not of the current file', () => {
    const failed = play(begin(A), {}, {}).state
    expect(failed.lastFailure).toBe('a.json is missing')
    expect(play(failed, artifact({ kind: 'invalid', why: 'cut' })).state.lastFailure).toBe('a.json is missing')
    expect(play(failed, {}).state.lastFailure).toBe('a.json is missing')
  })

  it('with a strict gate, stalls after its last attempt', () => {
    const { told, state } = play(begin({ ...A, max_attempts: 2 }), {}, {}, {}, {}, {})
    expect(told).toEqual([
      'prompt | prompt a 1 1',
      'observe | retry a 1 1 a.json is missing',
      'prompt | prompt a 1 2',
      'finish | retry a 1 2 a.json is missing | end a stalled 2 attempts failed, most recently: a.json is missing',
      'finish',
    ])
    expect(state).toMatchObject({ outcome: 'stalled', phaseAttempts: 2, skips: 0, stage: 'between-prompts' })
  })

  it('with an advisory gate, is skipped with a warning after its last attempt', () => {
    const { told, state } = play(begin({ ...A, gate: 'advisory' }, B), {}, {}, MADE)
    expect(told).toEqual([
      'prompt | prompt a 1 1',
      'observe | retry a 1 1 a.json is missing | warn a 1 1 a.json is missing | pass a | enter b 1',
      'finish | pass b | end b completed 1 step or artifact was skipped (`postflight workflow history <task>` says which)',
    ])
    expect(state).toMatchObject({ outcome: 'completed', skips: 1 })
  })

  it('counts a missing artifact as a failing verdict', () => {
    const judged = { ...A, next: { pass: 'b', fail: 'c', verdict: '/ok' } }
    const start = begin(judged, B, { id: 'c', prompt: 'p', artifact: 'c.json' })
    expect(play(start, FAILED).told).toEqual(['observe | fail a | enter c 1'])
    expect(play(start, PASSED).told).toEqual(['observe | pass a | enter b 1'])
    const missing = play(begin({ ...judged, gate: 'advisory' }, B, { ...B, id: 'c', artifact: 'c' }), {}, {})
    expect(missing.told.at(-1)).toContain('| fail a a.json is missing | enter c 1')
  })

  it('fails the run if a failing verdict leads to the end', () => {
    const judged = { ...A, next: { pass: 'end', fail: 'end', verdict: '/ok' } }
    expect(play(begin(judged), FAILED).told).toEqual([
      'finish | fail a | end a failed the verdict of phase "a" was "fail", which ends the workflow',
    ])
  })

  it('records and counts nothing for a driver that may not prompt', () => {
    const looked = play(begin(A), { mayPrompt: false })
    expect([looked.told, looked.state.sequence]).toEqual([['wait'], begin(A).sequence])
  })
})

describe('a phase that is entered again', () => {
  it('archives the artifact of the previous visit once, and prompts again', () => {
    const again = { ...A, next: 'a', max_visits: 2 }
    const { told, state } = play(begin(again), {}, MADE, MADE, {}, MADE)
    expect(told).toEqual([
      'prompt | prompt a 1 1',
      'observe | pass a | enter a 2',
      'observe | archive-artifact a 1 a.json',
      'prompt | prompt a 2 1',
      'finish | end a failed phase "a" was already entered 2 times, its limit (max_visits)',
    ])
    expect(state.visits).toEqual({ a: 2 })
  })

  it('without an artifact, archives nothing', () => {
    const again = { id: 'a', steps: ['x'], next: 'a', max_visits: 2 }
    const { told } = play(begin(again), {}, {}, DONE, {}, {})
    expect(told.slice(3)).toEqual(['observe | pass a | enter a 2', 'observe'])
  })
})

describe('steps listed in the definition', () => {
  const two = { id: 'a', steps: ['x', 'y'], max_step_attempts: 2 }

  it('are prompted for one by one, and each result is archived', () => {
    const { told, state } = play(begin(two), {}, {}, AWAY, DONE, {}, DONE, {})
    expect(told).toEqual([
      'observe',
      'prompt | prompt a 1 1 1 x',
      'wait',
      'observe | step-done a 1 1 1 | archive-step a 1 step-result.json 1-1.json',
      'prompt | prompt a 1 2 1 y',
      'observe | step-done a 1 2 1 | archive-step a 1 step-result.json 2-1.json',
      'finish | pass a | end a completed',
    ])
    expect(state).toMatchObject({ outcome: 'completed', skips: 0 })
  })

  it('are prompted for again with the problem, and skipped after their last attempt', () => {
    const says = (more: object = {}): Partial<Observation> => stepResult({ ...NOT_DONE, ...more })
    const cut = stepResult({ kind: 'invalid', why: 'no JSON', archived: false })
    const three = { ...two, steps: [...two.steps, 'z'] }
    const { told, state } = play(
      begin(three),
      {},
      {},
      says({ summary: 'no luck' }),
      {},
      says(),
      {},
      cut,
      {},
      {},
      {},
      DONE,
      {},
    )
    expect(told).toEqual([
      'observe',
      'prompt | prompt a 1 1 1 x',
      'observe | step-failed a 1 1 1 no luck | archive-step a 1 step-result.json 1-1.json',
      'prompt | prompt a 1 1 2 x',
      'observe | step-failed a 1 1 2 step-result.json says that the step failed | step-skipped a 1 1 2 step-result.json says that the step failed | archive-step a 1 step-result.json 1-2.json',
      'prompt | prompt a 1 2 1 y',
      'observe | step-failed a 1 2 1 no JSON | archive-step a 1 step-result.json 2-1.json',
      'prompt | prompt a 1 2 2 y',
      'observe | step-failed a 1 2 2 step-result.json is missing | step-skipped a 1 2 2 step-result.json is missing',
      'prompt | prompt a 1 3 1 z',
      'observe | step-done a 1 3 1 | archive-step a 1 step-result.json 3-1.json',
      'finish | pass a | end a completed 2 steps or artifacts were skipped (`postflight workflow history <task>` says which)',
    ])
    expect(state.skips).toBe(2)
  })

  it('fail the run if all of them failed: then nothing was done', () => {
    const { told, state } = play(begin({ ...two, max_skips: 5 }, B), {}, {}, {}, {}, {}, {}, {}, {}, {})
    expect(told.at(-1)).toBe(
      'finish | step-failed a 1 2 2 step-result.json is missing | end a failed all 2 steps failed; step 2 failed 2 times, most recently: step-result.json is missing',
    )
    // A resumed run tries the last one again.
    const resumed = play(resumeState(state, NO_SESSIONS, seeing()), {}, DONE, {})
    expect(resumed.told).toEqual([
      'prompt | prompt a 1 2 3 y',
      'observe | step-done a 1 2 3 | archive-step a 1 step-result.json 2-3.json',
      'observe | pass a | enter b 1',
    ])
    const single = { id: 'a', steps: ['x'], max_step_attempts: 1 }
    const { outcome, why } = play(begin(single), {}, {}, {}).state
    expect([outcome, why]).toEqual(['failed', 'step 1 failed once: step-result.json is missing'])
  })

  it.each([
    [0, 1, '1 of 3 steps failed, more than max_skips allows; step 1 failed once: step-result.json is missing'],
    [1, 2, '2 of 3 steps failed, more than max_skips allows; step 2 failed once: step-result.json is missing'],
  ])('fail the run if more than max_skips %i of them failed', (max_skips, failures, why) => {
    const phase = { id: 'a', steps: ['x', 'y', 'z'], max_step_attempts: 1, max_skips }
    const { state } = play(begin(phase), {}, ...Array.from({ length: failures }, () => [{}, {}]).flat())
    expect(state).toMatchObject({ active: false, outcome: 'failed', why, skips: max_skips })
  })

  it('count the skips of each visit anew', () => {
    const phase = { id: 'a', steps: ['x', 'y'], max_step_attempts: 1, max_skips: 1, next: 'a', max_visits: 2 }
    const visit = [{}, {}, {}, {}, DONE, {}]
    const { state } = play(begin(phase), ...visit, {}, ...visit)
    expect(state).toMatchObject({ skips: 2, phaseSkips: 1, why: expect.stringContaining('already entered 2 times') })
  })

  it('end the run after their last attempt, with `on_exhausted: stop`', () => {
    const { told, state } = play(begin({ ...two, on_exhausted: 'stop' }), {}, {}, {}, {}, {})
    expect(told.at(-1)).toBe(
      'finish | step-failed a 1 1 2 step-result.json is missing | end a failed step 1 failed 2 times, most recently: step-result.json is missing',
    )
    expect(currentWork(state)).toMatchObject({ step: 0, attempts: 2 })
    expect(state).toMatchObject({ stage: 'between-prompts', skips: 0 })
  })

  it('begin without the failure of the previous step; only the prompt after the last step tells it', () => {
    const once = { id: 'a', artifact: 'a.json', steps: ['v', 'x', 'y'], max_step_attempts: 1 }
    const first = play(begin(once), {}, {}, DONE, {}, {}).state
    expect([currentWork(first).step, first.lastFailure]).toEqual([2, undefined])
    const second = play(first, {}, {}).state
    expect([currentWork(second).step, second.lastFailure]).toEqual([3, 'step-result.json is missing'])
    expect(play(second, {}).state).toMatchObject({ stage: 'prompted', lastFailure: 'step-result.json is missing' })
  })

  it('come before the artifact of the phase, unless that exists before the first prompt', () => {
    const both = { id: 'a', artifact: 'a.json', steps: ['x'] }
    expect(play(begin(both), {}, {}, { ...MADE, ...DONE }, MADE).told).toEqual([
      'observe',
      'prompt | prompt a 1 1 1 x',
      'observe | step-done a 1 1 1 | archive-step a 1 step-result.json 1-1.json',
      'finish | pass a | end a completed',
    ])
    expect(play(begin(both), MADE).told).toEqual(['finish | pass a | end a completed'])
    expect(play(begin(both), artifact({ kind: 'invalid', why: 'cut' })).told).toEqual(['observe'])
  })

  it('with an archived result are done, even before they are prompted for again', () => {
    const archived = (more: object): Partial<Observation> => stepResult({ ...DONE_STEP, archived: true, ...more })
    const asked = promptAgain(play(begin(two), {}, {}).state)
    expect(play(asked, archived({})).told).toEqual(['observe | step-done a 1 1 1'])
    expect(play(asked, archived({ success: false, summary: 'no' })).told).toEqual(['observe | step-failed a 1 1 1 no'])
    const cut = stepResult({ kind: 'invalid', why: 'no JSON', archived: true })
    expect(play(asked, cut).told).toEqual(['observe | step-failed a 1 1 1 no JSON'])
  })

  it('with a result from before the prompt archive it under another name, if the driver may prompt', () => {
    const known = play(begin(two), {}).state
    expect(play(known, DONE).told).toEqual([
      'prompt | prompt a 1 1 1 x | archive-step a 1 step-result.json early-1-1.json',
    ])
    expect(play(known, { ...DONE, mayPrompt: false }).told).toEqual(['wait'])
  })
})

describe('the prompt of a step', () => {
  it('is recorded with the text of the step, on one line and cut', () => {
    const steps = ['add\n\tthe route', 'y'.repeat(200), { name: 'test it' }]
    const { state } = play(begin({ id: 'a', steps, step_prompt: '{{step}} {{step.name}}', parallel: 3 }), {}, {})
    const texts = state.history.filter(({ event }) => event === 'prompt').map(({ detail }) => detail)
    expect(texts).toEqual(['add the route', `${'y'.repeat(79)}…`, '{"name":"test it"}'])
  })
})

describe('steps taken from an artifact', () => {
  const taking = { id: 'b', artifact: 'b.json', steps: { from: 'a.json', pointer: '/steps' } }

  it('are read once, and stay as they were read', () => {
    const entered = play(begin(A, taking), MADE).state
    const { told, state } = play(entered, {}, { steps: { kind: 'list', steps: ['x', 'y'] } }, {})
    expect(told).toEqual(['wait', 'observe', 'prompt | prompt b 1 1 1 x'])
    expect(state).toMatchObject({ totalSteps: 2, takenSteps: ['x', 'y'] })
    expect([stepAt(state, 0), stepAt(state, 1), stepAt(state, 2)]).toEqual(['x', 'y', ''])
    expect(stepAt(entered, 0)).toBe('')
    expect(stepAt(begin({ id: 'a', steps: ['one'] }), 0)).toBe('one')
    expect(stepAt(begin(A), 0)).toBe('')
  })

  it('may be an empty list', () => {
    const entered = play(begin(A, taking), MADE).state
    expect(play(entered, { steps: { kind: 'list', steps: [] } }, {}).told).toEqual(['observe', 'prompt | prompt b 1 1'])
  })

  it('are waited for if a damaged state asks for steps that the phase does not have', () => {
    expect(play({ ...begin(A), stepsKnown: false }, {}).told).toEqual(['wait'])
  })

  it('stall the run without a list of steps', () => {
    const entered = play(begin(A, taking), MADE).state
    expect(play(entered, { steps: { kind: 'none', why: 'a.json has no list' } }).told).toEqual([
      'finish | end b stalled a.json has no list',
    ])
  })
})

describe('the commands of a person', () => {
  it('are in the history', () => {
    const asked = play(begin(A), {}).state
    const lastLine = (state: WorkflowState): string => state.history.map(historyLine).at(-1) ?? ''
    expect(lastLine(requestStop(asked, NOW))).toBe('stop-request a')
    expect(lastLine(abortState(asked, NOW))).toBe('end a aborted')
    expect(lastLine(haltState(asked, 'its marker was cleared', NOW))).toBe('end a stopped its marker was cleared')
    expect(lastLine(resumeState(haltState(asked, 'x', NOW), NO_SESSIONS, seeing()))).toBe('resume a')
  })

  it('stop the run between two phases', () => {
    expect(play(requestStop(begin(A), NOW), {}).told).toEqual(['finish | end a stopped'])
    // It ends before it looks at what is there.
    expect(play(requestStop(begin(A), NOW), MADE).told).toEqual(['finish | end a stopped'])
  })

  it('stop the run once the attempt in progress was judged: there is no other one', () => {
    const out = requestStop(play(begin(A, B), {}).state, NOW)
    expect(play(out, AWAY, {}, {}).told).toEqual([
      'wait',
      'observe | retry a 1 1 a.json is missing',
      'finish | end a stopped',
    ])
    expect(play(out, MADE, {}).told).toEqual(['observe | pass a | enter b 1', 'finish | end b stopped'])
  })

  it('stop the run once the step in progress was judged, before another attempt, the next step or the artifact', () => {
    const phase = { id: 'a', artifact: 'a.json', steps: ['x', 'y'], max_step_attempts: 2 }
    const asked = (state: WorkflowState): WorkflowState => requestStop(state, NOW)
    const out = asked(play(begin(phase), {}, {}).state)
    expect(play(out, AWAY, {}, AWAY).told).toEqual([
      'wait',
      'observe | step-failed a 1 1 1 step-result.json is missing',
      'finish | end a stopped',
    ])
    expect(play(out, DONE, AWAY).told).toEqual([
      'observe | step-done a 1 1 1 | archive-step a 1 step-result.json 1-1.json',
      'finish | end a stopped',
    ])
    const last = asked(play(begin(phase), {}, {}, DONE, {}).state)
    const { told, state } = play(last, DONE, AWAY)
    expect(told.at(-1)).toBe('finish | end a stopped')
    expect(play(resumeState(state, NO_SESSIONS, seeing()), {}).told).toEqual(['prompt | prompt a 1 1'])
  })

  it('stop the run after the last step of a phase without an artifact, which is then done', () => {
    const phase = { id: 'a', steps: ['x'] }
    const { told, state } = play(requestStop(play(begin(phase, B), {}, {}).state, NOW), DONE, {}, {})
    expect(told.at(-1)).toBe('finish | end b stopped')
    expect(phaseStatuses(state)).toEqual(['done', 'waiting'])
  })

  it.each<[string, Partial<WorkflowState>]>([
    ['has announced that it waits', { wait: { for: 'an answer', count: 1 } }],
    ['was interrupted by the person', { stage: 'came-back', heardPromptId: 'p2' }],
    ['got no prompt yet', { stage: 'between-prompts' }],
  ])('stop the run at once if its agent is idle: it %s', (_why, more) => {
    const idle = { ...play(begin(A, B), {}).state, ...more }
    expect(play(idle, { returned: false, mayPrompt: false }).told).toEqual(['wait'])
    expect(play(requestStop(idle, NOW), { returned: false, mayPrompt: false }).told).toEqual(['finish | end a stopped'])
    // What is there already counts first.
    expect(play(requestStop(idle, NOW), { ...MADE, returned: false, mayPrompt: false }, {}).told.at(-1)).toBe(
      'finish | end b stopped',
    )
  })

  it('resume a stalled run with more attempts, but no more visits', () => {
    const spent = play(begin({ ...A, max_attempts: 1 }), {}, {}).state
    const more = { visitsGranted: 0, maxPhaseAttempts: 2, stage: 'between-prompts' }
    expect(resumeState(spent, NO_SESSIONS, seeing())).toMatchObject(more)
    const stopped = haltState(play(begin(A), {}).state, 'x', NOW)
    expect(resumeState(stopped, NO_SESSIONS, seeing())).toMatchObject({ visitsGranted: 0, maxPhaseAttempts: 3 })
  })

  it('resume a run in a new visit only if the verdict of its phase ended it', () => {
    const judged = { ...A, next: { pass: 'end', fail: 'end', verdict: '/ok' } }
    const stopped = haltState(play(begin(judged), {}).state, 'x', NOW)
    expect(resumeState(stopped, NO_SESSIONS, seeing(FAILED)).visits).toEqual({ a: 1 })
    const failed = play(begin(judged), FAILED).state
    const again = resumeState(failed, NO_SESSIONS, seeing(FAILED))
    expect(again).toMatchObject({ stage: 'archiving', visits: { a: 2 } })
    const mended = resumeState(failed, NO_SESSIONS, seeing(PASSED))
    expect(mended.visits).toEqual({ a: 1 })
    expect(play(mended, PASSED).state.outcome).toBe('completed')
  })
})

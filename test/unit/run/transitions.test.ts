import { describe, expect, it } from 'vitest'
import { advance } from '../../../src/run/machine/machine.ts'
import type { ArtifactSeen, Effect, Observation, StepResultSeen } from '../../../src/run/machine/observation.ts'
import { currentWork, stepAt } from '../../../src/run/machine/position.ts'
import { type WorkflowState, withTransition } from '../../../src/run/machine/state.ts'
import { HISTORY_KEPT, type HistoryEntry } from '../../../src/run/machine/state-fields.ts'
import { formatState } from '../../../src/run/machine/state-file.ts'
import { abortState, haltState, promptAgain, requestStop, resumeState } from '../../../src/run/machine/steering.ts'
import { begin, DONE as DONE_STEP, FAILED, MADE, NO_SESSIONS, NOT_DONE, NOW, PASSED, seeing } from './builders.ts'

/** The transitions of the machine as transcripts: the command, the new lines of the history, the effects. */

const artifact = (seen: ArtifactSeen): Partial<Observation> => ({ artifact: seen })
const stepResult = (seen: StepResultSeen): Partial<Observation> => ({ stepResults: [seen] })
const DONE = stepResult(DONE_STEP)
const AWAY = { returned: false }

function historyLine({ n: _number, timeMs: _time, ...entry }: HistoryEntry): string {
  return Object.values(entry)
    .filter((value) => value !== undefined)
    .join(' ')
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
    return [command, ...entries.map(historyLine), ...effects.map(effectLine)].join(' | ')
  })
  return { told, state }
}

/** The lines of the prompts and results of phase `a`, by their visits, steps and attempts. */
const asks = (what: string): string => `prompt | prompt a ${what}`
const misses = (attempt: number): string => `observe | retry a 1 ${attempt} a.json is missing`
const done = (step: number, attempt = 1): string =>
  `observe | step-done a 1 ${step} ${attempt} | archive-step step-result.json step-results/a ${step}-${attempt}.json`
const COMPLETED = 'finish | pass a | end a completed'
const STOPPED = 'finish | end a stopped'
const NONE = 'step-result.json is missing'

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

  it('keeps only its last transitions on disk, and numbers all of them', () => {
    let state = begin(A)
    for (let at = 0; at < HISTORY_KEPT; at++) state = withTransition(state, { event: 'retry', phase: 'a' }, NOW + at)
    const { history } = JSON.parse(formatState(state)) as { history: { n: number }[] }
    expect(history.map(({ n }) => n)).toEqual(Array.from({ length: HISTORY_KEPT }, (_, index) => index + 3))
    expect(state).toMatchObject({ sequence: HISTORY_KEPT + 2, updatedMs: NOW + HISTORY_KEPT - 1 })
  })
})

describe('a phase with an artifact', () => {
  it('is prompted for it, waits, is prompted again with the problem, and passes with it', () => {
    const wrong = artifact({ kind: 'invalid', why: 'a.json is not JSON' })
    const { told, state } = play(begin(A), {}, AWAY, wrong, wrong, {}, {}, MADE)
    const first = [asks('1 1'), 'wait', 'observe | retry a 1 1 a.json is not JSON']
    expect(told).toEqual([...first, asks('1 2'), misses(2), asks('1 3'), COMPLETED])
    expect(state).toMatchObject({ active: false, outcome: 'completed', why: undefined, prompts: 3 })
  })

  it('passes at once with an existing one; if that is invalid, the first prompt says why', () => {
    expect(play(begin(A, B), MADE, {}).told).toEqual(['observe | pass a | enter b 1', 'prompt | prompt b 1 1'])
    const { state } = play(begin(A), artifact({ kind: 'invalid', why: 'cut' }))
    expect(state).toMatchObject({ stage: 'prompted', lastFailure: 'cut' })
    expect(play(begin(A), {}).state.lastFailure).toBeUndefined()
  })

  it('gets the problem of the last attempt, not of the current file', () => {
    const failed = play(begin(A), {}, {}).state
    const next = [{}, artifact({ kind: 'invalid', why: 'cut' })].map((seen) => play(failed, seen).state)
    expect([failed, ...next].map((state) => state.lastFailure)).toEqual(Array(3).fill('a.json is missing'))
  })

  it('with a strict gate, stalls after its last attempt', () => {
    const { told, state } = play(begin({ ...A, max_attempts: 2 }), {}, {}, {}, {}, {})
    const end =
      'finish | retry a 1 2 a.json is missing | end a stalled 2 attempts failed, most recently: a.json is missing'
    expect(told).toEqual([asks('1 1'), misses(1), asks('1 2'), end, 'finish'])
    expect(state).toMatchObject({ outcome: 'stalled', phaseAttempts: 2, skips: 0, stage: 'between-prompts' })
  })

  it('with an advisory gate, is skipped with a warning after its last attempt', () => {
    const { told, state } = play(begin({ ...A, gate: 'advisory' }, B), {}, {}, MADE)
    const skips = `${misses(1)} | warn a 1 1 a.json is missing | pass a | enter b 1`
    expect(told).toEqual([
      asks('1 1'),
      skips,
      'finish | pass b | end b completed 1 step or artifact was skipped (`postflight workflow history 7` says which)',
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
    const why = 'the verdict of phase "a" was "fail", which ends the workflow'
    expect(play(begin(judged), FAILED).told).toEqual([`finish | fail a | end a failed ${why}`])
  })

  it('records and counts nothing for a driver that may not prompt', () => {
    const looked = play(begin(A), { mayPrompt: false })
    expect([looked.told, looked.state.sequence]).toEqual([['wait'], begin(A).sequence])
  })
})

describe('a phase that is entered again', () => {
  it('archives the artifact of the previous visit once, and prompts again', () => {
    const { told, state } = play(begin({ ...A, next: 'a', max_visits: 2 }), {}, MADE, MADE, {}, MADE)
    const visits = [
      asks('1 1'),
      'observe | pass a | enter a 2',
      'observe | archive-artifact a.json artifacts/a 1-a.json',
      asks('2 1'),
    ]
    expect(told).toEqual([
      ...visits,
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
    expect(told).toEqual(['observe', asks('1 1 1 x'), 'wait', done(1), asks('1 2 1 y'), done(2), COMPLETED])
    expect(state).toMatchObject({ outcome: 'completed', skips: 0 })
  })

  it('are prompted for again with the problem, and skipped after their last attempt', () => {
    const says = (more: object = {}): Partial<Observation> => stepResult({ ...NOT_DONE, ...more })
    const cut = stepResult({ kind: 'invalid', why: 'no JSON', archived: false })
    const three = { ...two, steps: [...two.steps, 'z'] }
    const first = [says({ summary: 'no luck' }), {}, says()]
    const second = [cut, {}, {}]
    const { told, state } = play(begin(three), {}, {}, ...first, {}, ...second, {}, DONE, {})
    const failed = 'step-result.json says that the step failed'
    expect(told).toEqual([
      ...['observe', asks('1 1 1 x')],
      'observe | step-failed a 1 1 1 no luck | archive-step step-result.json step-results/a 1-1.json',
      asks('1 1 2 x'),
      `observe | step-failed a 1 1 2 ${failed} | step-skipped a 1 1 2 ${failed} | archive-step step-result.json step-results/a 1-2.json`,
      asks('1 2 1 y'),
      'observe | step-failed a 1 2 1 no JSON | archive-step step-result.json step-results/a 2-1.json',
      asks('1 2 2 y'),
      `observe | step-failed a 1 2 2 ${NONE} | step-skipped a 1 2 2 ${NONE}`,
      ...[asks('1 3 1 z'), done(3), expect.stringContaining(' | end a completed 2 steps or artifacts were skipped (`')],
    ])
    expect(state.skips).toBe(2)
  })

  it('fail the run if all of them failed: then nothing was done', () => {
    const { told, state } = play(begin({ ...two, max_skips: 5 }, B), {}, {}, {}, {}, {}, {}, {}, {}, {})
    const why = `all 2 steps failed; step 2 failed 2 times, most recently: ${NONE}`
    expect(told.at(-1)).toBe(`finish | step-failed a 1 2 2 ${NONE} | end a failed ${why}`)
    // A resumed run tries the last one again.
    const resumed = play(resumeState(state, NO_SESSIONS, seeing()), {}, DONE, {})
    expect(resumed.told).toEqual([asks('1 2 3 y'), done(2, 3), 'observe | pass a | enter b 1'])
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
    const why = `step 1 failed 2 times, most recently: ${NONE}`
    expect(told.at(-1)).toBe(`finish | step-failed a 1 1 2 ${NONE} | end a failed ${why}`)
    expect(currentWork(state)).toMatchObject({ step: 0, attempts: 2 })
    expect(state).toMatchObject({ stage: 'between-prompts', skips: 0 })
  })

  it('begin without the failure of the previous step; only the prompt after the last step tells it', () => {
    const once = { id: 'a', artifact: 'a.json', steps: ['v', 'x', 'y'], max_step_attempts: 1 }
    const first = play(begin(once), {}, {}, DONE, {}, {}).state
    expect([currentWork(first).step, first.lastFailure]).toEqual([2, undefined])
    const second = play(first, {}, {}).state
    expect([currentWork(second).step, second.lastFailure]).toEqual([3, NONE])
    expect(play(second, {}).state).toMatchObject({ stage: 'prompted', lastFailure: NONE })
  })

  it('come before the artifact of the phase, unless that exists before the first prompt', () => {
    const both = { id: 'a', artifact: 'a.json', steps: ['x'] }
    const { told } = play(begin(both), {}, {}, { ...MADE, ...DONE }, MADE)
    expect(told).toEqual(['observe', asks('1 1 1 x'), done(1), COMPLETED])
    expect(play(begin(both), MADE).told).toEqual([COMPLETED])
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
      `${asks('1 1 1 x')} | archive-step step-result.json step-results/a early-1-1.json`,
    ])
    expect(play(known, { ...DONE, mayPrompt: false }).told).toEqual(['wait'])
  })
})

it('the prompt of a step is recorded with the text of the step, on one line and cut', () => {
  const steps = ['add\n\tthe route', 'y'.repeat(200), { name: 'test it' }]
  const { state } = play(begin({ id: 'a', steps, step_prompt: '{{step}} {{step.name}}', parallel: 3 }), {}, {})
  const texts = state.history.filter(({ event }) => event === 'prompt').map(({ detail }) => detail)
  expect(texts).toEqual(['add the route', `${'y'.repeat(79)}…`, '{"name":"test it"}'])
})

describe('steps taken from an artifact', () => {
  const taking = { id: 'b', artifact: 'b.json', steps: { from: 'a.json', pointer: '/steps' } }

  const entered = play(begin(A, taking), MADE).state

  it('are read once, and stay as they were read', () => {
    const { told, state } = play(entered, {}, { steps: { kind: 'list', steps: ['x', 'y'] } }, {})
    expect(told).toEqual(['wait', 'observe', 'prompt | prompt b 1 1 1 x'])
    expect(state).toMatchObject({ totalSteps: 2, takenSteps: ['x', 'y'] })
    expect([0, 1, 2].map((at) => stepAt(state, at))).toEqual(['x', 'y', ''])
    const others = [entered, begin({ id: 'a', steps: ['one'] }), begin(A)]
    expect(others.map((other) => stepAt(other, 0))).toEqual(['', 'one', ''])
  })

  it('may be an empty list', () => {
    const { told } = play(entered, { steps: { kind: 'list', steps: [] } }, {})
    expect(told).toEqual(['observe', 'prompt | prompt b 1 1'])
  })

  it('are waited for if a damaged state asks for steps that the phase does not have', () => {
    expect(play({ ...begin(A), stepsKnown: false }, {}).told).toEqual(['wait'])
  })

  it('stall the run without a list of steps', () => {
    const { told } = play(entered, { steps: { kind: 'none', fix: 'a.json has no list' } })
    expect(told).toEqual(['finish | end b stalled a.json has no list, then run `postflight workflow resume 7`'])
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
    expect(play(requestStop(begin(A), NOW), {}).told).toEqual([STOPPED])
    // It ends before it looks at what is there.
    expect(play(requestStop(begin(A), NOW), MADE).told).toEqual([STOPPED])
  })

  it('stop the run once the attempt in progress was judged: there is no other one', () => {
    const out = requestStop(play(begin(A, B), {}).state, NOW)
    expect(play(out, AWAY, {}, {}).told).toEqual(['wait', misses(1), STOPPED])
    expect(play(out, MADE, {}).told).toEqual(['observe | pass a | enter b 1', 'finish | end b stopped'])
  })

  it('stop the run once the step in progress was judged, before another attempt, the next step or the artifact', () => {
    const phase = { id: 'a', artifact: 'a.json', steps: ['x', 'y'], max_step_attempts: 2 }
    const asked = (state: WorkflowState): WorkflowState => requestStop(state, NOW)
    const out = asked(play(begin(phase), {}, {}).state)
    expect(play(out, AWAY, {}, AWAY).told).toEqual(['wait', `observe | step-failed a 1 1 1 ${NONE}`, STOPPED])
    expect(play(out, DONE, AWAY).told).toEqual([done(1), STOPPED])
    const { told, state } = play(asked(play(begin(phase), {}, {}, DONE, {}).state), DONE, AWAY)
    expect(told.at(-1)).toBe(STOPPED)
    expect(play(resumeState(state, NO_SESSIONS, seeing()), {}).told).toEqual([asks('1 1')])
  })

  it.each<[string, Partial<WorkflowState>]>([
    ['has announced that it waits', { wait: { for: 'an answer', count: 1 } }],
    ['was interrupted by the person', { stage: 'came-back', heardPromptId: 'p2' }],
    ['got no prompt yet', { stage: 'between-prompts' }],
  ])('stop the run at once if its agent is idle: it %s', (_why, more) => {
    const idle = { ...play(begin(A, B), {}).state, ...more }
    const looks = { returned: false, mayPrompt: false }
    expect(play(idle, looks).told).toEqual(['wait'])
    expect(play(requestStop(idle, NOW), looks).told).toEqual([STOPPED])
    // What is there already counts first.
    expect(play(requestStop(idle, NOW), { ...MADE, ...looks }, {}).told.at(-1)).toBe('finish | end b stopped')
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
    expect(resumeState(failed, NO_SESSIONS, seeing(FAILED))).toMatchObject({ stage: 'archiving', visits: { a: 2 } })
    const mended = resumeState(failed, NO_SESSIONS, seeing(PASSED))
    expect(mended.visits).toEqual({ a: 1 })
    expect(play(mended, PASSED).state.outcome).toBe('completed')
  })
})

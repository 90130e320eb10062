import { describe, expect, it } from 'vitest'
import { abortState, haltState, promptAgain, requestStop, resumeState } from '../../src/core/workflow/control.ts'
import type { HistoryEntry } from '../../src/core/workflow/history.ts'
import { advance, stepText } from '../../src/core/workflow/machine.ts'
import type { ArtifactSeen, Effect, Observation, StepResultSeen } from '../../src/core/workflow/observation.ts'
import { HISTORY_KEPT, type WorkflowState, withTransition } from '../../src/core/workflow/state.ts'
import { begin, NOBODY, NOW, seeing } from './workflow-builders.ts'

/** Every transition, as a transcript: the command, then the lines of the history, then the effects. */

const artifact = (seen: ArtifactSeen): Partial<Observation> => ({ artifact: seen })
const stepResult = (seen: StepResultSeen): Partial<Observation> => ({ stepResult: seen })
const VALID = artifact({ kind: 'valid' })
const FAILING = artifact({ kind: 'valid', verdict: 'fail' })
const DONE = stepResult({ kind: 'result', success: true, archived: false })
const AWAY = { returned: false }

function historyLine({ n: _number, timeMs: _time, ...entry }: HistoryEntry): string {
  return Object.values(entry).join(' ')
}

function effectLine(effect: Effect): string {
  return Object.values(effect).join(' ')
}

/** What each observation in turn comes to, and the state after the last. */
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

describe('a run that begins', () => {
  it('is in its first phase, of which nothing has been done', () => {
    const state = begin(A)
    expect(state).toMatchObject({ active: true, phase: 'a', visits: { a: 1 }, totalSteps: 0, stepsKnown: true })
    expect(state).toMatchObject({ prompted: false, begun: false, clearing: false, prompts: 0, skips: 0 })
    expect(state.history.map(historyLine)).toEqual(['start a', 'enter a 1'])
    expect(begin({ id: 'a', steps: ['x'] }).stepsKnown).toBe(false)
  })

  it('remembers its last transitions, no more, and numbers all of them', () => {
    let state = begin(A)
    for (let count = 0; count < HISTORY_KEPT; count++)
      state = withTransition(state, { event: 'retry', phase: 'a' }, NOW + count)
    expect(state.history).toHaveLength(HISTORY_KEPT)
    expect(state.history.map(({ n }) => n)).toEqual(Array.from({ length: HISTORY_KEPT }, (_, index) => index + 3))
    expect(state).toMatchObject({ sequence: HISTORY_KEPT + 2, updatedMs: NOW + HISTORY_KEPT - 1 })
  })
})

describe('a phase that leaves an artifact', () => {
  it('is asked for it, waited for, asked again with what was wrong, and passes with it', () => {
    const wrong = artifact({ kind: 'invalid', why: 'a.json is no JSON' })
    const { told, state } = play(begin(A), {}, AWAY, wrong, wrong, {}, {}, VALID)
    expect(told).toEqual([
      'prompt | prompt a 1 1',
      'wait',
      'observe | retry a 1 1 a.json is no JSON',
      'prompt | prompt a 1 2',
      'observe | retry a 1 2 a.json is not there',
      'prompt | prompt a 1 3',
      'finish | pass a | end a completed',
    ])
    expect(state).toMatchObject({ active: false, outcome: 'completed', why: undefined, prompts: 3 })
  })

  it('passes at once with one that lies there, and is told first what is wrong with one that is not valid', () => {
    expect(play(begin(A, B), VALID, {}).told).toEqual(['observe | pass a | enter b 1', 'prompt | prompt b 1 1'])
    const { state } = play(begin(A), artifact({ kind: 'invalid', why: 'cut' }))
    expect(state).toMatchObject({ prompted: true, lastFailure: 'cut' })
    expect(play(begin(A), {}).state.lastFailure).toBeUndefined()
  })

  it('is told what was wrong with the last attempt, not what lies there now', () => {
    const failed = play(begin(A), {}, {}).state
    expect(failed.lastFailure).toBe('a.json is not there')
    expect(play(failed, artifact({ kind: 'invalid', why: 'cut' })).state.lastFailure).toBe('a.json is not there')
    expect(play(failed, {}).state.lastFailure).toBe('a.json is not there')
  })

  it('stalls when its attempts are spent, if its gate is strict', () => {
    const { told, state } = play(begin({ ...A, max_attempts: 2 }), {}, {}, {}, {}, {})
    expect(told).toEqual([
      'prompt | prompt a 1 1',
      'observe | retry a 1 1 a.json is not there',
      'prompt | prompt a 1 2',
      'finish | retry a 1 2 a.json is not there | end a stalled 2 attempts came to nothing, the last one: a.json is not there',
      'finish',
    ])
    expect(state).toMatchObject({ outcome: 'stalled', phaseAttempts: 2, skips: 0, prompted: false })
  })

  it('is gone on without, with a warning, if its gate is advisory', () => {
    const { told, state } = play(begin({ ...A, gate: 'advisory' }, B), {}, {}, VALID)
    expect(told).toEqual([
      'prompt | prompt a 1 1',
      'observe | retry a 1 1 a.json is not there | warn a 1 1 a.json is not there | pass a | enter b 1',
      'finish | pass b | end b completed 1 step or artifact was given up on the way (`postflight workflow history` says which)',
    ])
    expect(state).toMatchObject({ outcome: 'completed', skips: 1 })
  })

  it('without which there is no verdict leads where a failing one does', () => {
    const next = { pass: 'b', fail: 'c', verdict: '/ok' }
    const C = { id: 'c', prompt: 'p', artifact: 'c.json' }
    expect(play(begin({ ...A, gate: 'advisory', next }, B, C), {}, {}).told.at(-1)).toContain('| fail a | enter c 1')
    expect(play(begin({ ...A, next }, B, C), FAILING).told).toEqual(['observe | fail a | enter c 1'])
    const passing = artifact({ kind: 'valid', verdict: 'pass' })
    expect(play(begin({ ...A, next }, B, C), passing).told).toEqual(['observe | pass a | enter b 1'])
  })

  it('with a verdict that ends the run fails it', () => {
    const judged = { ...A, next: { pass: 'end', fail: 'end', verdict: '/ok' } }
    expect(play(begin(judged), FAILING).told).toEqual([
      'finish | fail a | end a failed the verdict of phase "a" was "fail", which ends the workflow',
    ])
  })

  it('is only looked at by who may not prompt: nothing is recorded, nothing counted', () => {
    const state = begin(A)
    const looked = play(state, { mayPrompt: false })
    expect(looked.told).toEqual(['wait'])
    expect(looked.state.sequence).toBe(state.sequence)
  })
})

describe('a phase that is entered again', () => {
  it('puts the artifact of the visit before out of the way, once, and asks anew', () => {
    const again = { ...A, next: 'a', max_visits: 2 }
    const { told, state } = play(begin(again), {}, VALID, VALID, {}, VALID)
    expect(told).toEqual([
      'prompt | prompt a 1 1',
      'observe | pass a | enter a 2',
      'observe | archive-artifact a 1 a.json',
      'prompt | prompt a 2 1',
      'finish | end a failed phase "a" was entered 2 times already, which is its limit (max_visits)',
    ])
    expect(state.visits).toEqual({ a: 2 })
  })

  it('has nothing to put away where it leaves nothing but its steps', () => {
    const again = { id: 'a', steps: ['x'], next: 'a', max_visits: 2 }
    const { told } = play(begin(again), {}, {}, DONE, {}, {})
    expect(told.slice(3)).toEqual(['observe | pass a | enter a 2', 'observe'])
  })
})

describe('steps that are given with the definition', () => {
  const two = { id: 'a', steps: ['x', 'y'], max_step_attempts: 2 }

  it('are asked for one by one; each result is put into the archive', () => {
    const { told, state } = play(begin(two), {}, {}, AWAY, DONE, {}, DONE, {})
    expect(told).toEqual([
      'observe',
      'prompt | prompt a 1 1 1',
      'wait',
      'observe | step-done a 1 1 1 | archive-step a 1 1-1.json',
      'prompt | prompt a 1 2 1',
      'observe | step-done a 1 2 1 | archive-step a 1 2-1.json',
      'finish | pass a | end a completed',
    ])
    expect(state).toMatchObject({ outcome: 'completed', skips: 0 })
  })

  it('are asked for again, with what was wrong, and skipped when their attempts are spent', () => {
    const says = (summary?: string): Partial<Observation> =>
      stepResult({ kind: 'result', success: false, archived: false, ...(summary !== undefined && { summary }) })
    const cut = stepResult({ kind: 'invalid', why: 'no JSON', archived: false })
    const { told, state } = play(begin(two), {}, {}, says('no luck'), {}, says(), {}, cut, {}, {}, {})
    expect(told).toEqual([
      'observe',
      'prompt | prompt a 1 1 1',
      'observe | step-failed a 1 1 1 no luck | archive-step a 1 1-1.json',
      'prompt | prompt a 1 1 2',
      'observe | step-failed a 1 1 2 step-result.json says that it did not succeed | step-skipped a 1 1 2 step-result.json says that it did not succeed | archive-step a 1 1-2.json',
      'prompt | prompt a 1 2 1',
      'observe | step-failed a 1 2 1 no JSON | archive-step a 1 2-1.json',
      'prompt | prompt a 1 2 2',
      'observe | step-failed a 1 2 2 step-result.json is not there | step-skipped a 1 2 2 step-result.json is not there',
      'finish | pass a | end a completed 2 steps or artifacts were given up on the way (`postflight workflow history` says which)',
    ])
    expect(state.skips).toBe(2)
  })

  it('end the run when their attempts are spent and it says so', () => {
    const { told, state } = play(begin({ ...two, on_exhausted: 'stop' }), {}, {}, {}, {}, {})
    expect(told.slice(2)).toEqual([
      'observe | step-failed a 1 1 1 step-result.json is not there',
      'prompt | prompt a 1 1 2',
      'finish | step-failed a 1 1 2 step-result.json is not there | end a failed step 1 failed 2 times, the last time: step-result.json is not there',
    ])
    expect(state).toMatchObject({ currentStep: 0, stepAttempts: 2, prompted: false, skips: 0 })
  })

  it('each begin clean: what the one before was given up for is told only to the prompt after the last', () => {
    const once = { id: 'a', artifact: 'a.json', steps: ['x', 'y'], max_step_attempts: 1 }
    const first = play(begin(once), {}, {}, {}).state
    expect(first).toMatchObject({ currentStep: 1, lastFailure: undefined })
    const second = play(first, {}, {}).state
    expect(second).toMatchObject({ currentStep: 2, lastFailure: 'step-result.json is not there' })
    expect(play(second, {}).state).toMatchObject({ prompted: true, lastFailure: 'step-result.json is not there' })
  })

  it('come before the artifact that the phase leaves, unless that lies there before anything was asked for', () => {
    const both = { id: 'a', artifact: 'a.json', steps: ['x'] }
    expect(play(begin(both), {}, {}, { ...VALID, ...DONE }, VALID).told).toEqual([
      'observe',
      'prompt | prompt a 1 1 1',
      'observe | step-done a 1 1 1 | archive-step a 1 1-1.json',
      'finish | pass a | end a completed',
    ])
    expect(play(begin(both), VALID).told).toEqual(['finish | pass a | end a completed'])
    expect(play(begin(both), artifact({ kind: 'invalid', why: 'cut' })).told).toEqual(['observe'])
  })

  it('whose result lies in the archive are done, also before anybody was asked again', () => {
    const archived = (more: object): Partial<Observation> =>
      stepResult({ kind: 'result', success: true, archived: true, ...more })
    const asked = promptAgain(play(begin(two), {}, {}).state)
    expect(play(asked, archived({})).told).toEqual(['observe | step-done a 1 1 1'])
    expect(play(asked, archived({ success: false, summary: 'no' })).told).toEqual(['observe | step-failed a 1 1 1 no'])
    const cut = stepResult({ kind: 'invalid', why: 'no JSON', archived: true })
    expect(play(asked, cut).told).toEqual(['observe | step-failed a 1 1 1 no JSON'])
  })

  it('whose result nobody asked for is kept apart, and whoever may not prompt leaves it', () => {
    const known = play(begin(two), {}).state
    expect(play(known, DONE).told).toEqual(['prompt | prompt a 1 1 1 | archive-step a 1 early-1-1.json'])
    expect(play(known, { ...DONE, mayPrompt: false }).told).toEqual(['wait'])
    expect(play(known, {}).told).toEqual(['prompt | prompt a 1 1 1'])
  })
})

describe('steps that are taken from an artifact', () => {
  const taking = { id: 'b', artifact: 'b.json', steps: { from: 'a.json', pointer: '/steps' } }

  it('are learnt once, and are then what it said', () => {
    const entered = play(begin(A, taking), VALID).state
    const { told, state } = play(entered, {}, { steps: { kind: 'list', steps: ['x', 'y'] } }, {})
    expect(told).toEqual(['wait', 'observe', 'prompt | prompt b 1 1 1'])
    expect(state).toMatchObject({ totalSteps: 2, takenSteps: ['x', 'y'] })
    expect([stepText(state, 0), stepText(state, 1), stepText(state, 2)]).toEqual(['x', 'y', ''])
    expect(stepText(entered, 0)).toBe('')
    expect(stepText(begin({ id: 'a', steps: ['one'] }), 0)).toBe('one')
    expect(stepText(begin(A), 0)).toBe('')
  })

  it('may be none', () => {
    const entered = play(begin(A, taking), VALID).state
    expect(play(entered, { steps: { kind: 'list', steps: [] } }, {}).told).toEqual(['observe', 'prompt | prompt b 1 1'])
  })

  it('that a phase does not have are waited for, whatever a damaged state says', () => {
    expect(play({ ...begin(A), stepsKnown: false }, {}).told).toEqual(['wait'])
  })

  it('stall the run where there is no list', () => {
    const entered = play(begin(A, taking), VALID).state
    expect(play(entered, { steps: { kind: 'none', why: 'a.json has no list' } }).told).toEqual([
      'finish | end b stalled a.json has no list',
    ])
  })
})

describe('what a person does to a run', () => {
  it('is in its history', () => {
    const asked = play(begin(A), {}).state
    const lastLine = (state: WorkflowState): string => state.history.map(historyLine).at(-1) ?? ''
    expect(lastLine(requestStop(asked, NOW))).toBe('stop-request a')
    expect(lastLine(abortState(asked, NOW))).toBe('end a aborted')
    expect(lastLine(haltState(asked, 'its marker was cleared', NOW))).toBe('end a stopped its marker was cleared')
    expect(lastLine(resumeState(haltState(asked, 'x', NOW), NOBODY, seeing()))).toBe('resume a')
  })

  it('stops it between two phases, without a word in between', () => {
    expect(play(requestStop(begin(A), NOW), {}).told).toEqual(['finish | end a stopped'])
    expect(play(requestStop(play(begin(A, B), {}).state, NOW), VALID).told).toEqual(['finish | end a stopped'])
  })

  it('takes up what failed with attempts and one more visit, what stalled with attempts alone', () => {
    const spent = play(begin({ ...A, max_attempts: 1 }), {}, {}).state
    expect(resumeState(spent, NOBODY, seeing())).toMatchObject({
      visitsGranted: 0,
      maxPhaseAttempts: 2,
      clearing: false,
    })
    const stopped = haltState(play(begin(A), {}).state, 'x', NOW)
    expect(resumeState(stopped, NOBODY, seeing())).toMatchObject({ visitsGranted: 0, maxPhaseAttempts: 3 })
  })

  it('asks a phase anew only where its verdict ended the run', () => {
    const judged = { ...A, next: { pass: 'end', fail: 'end', verdict: '/ok' } }
    const stopped = haltState(play(begin(judged), {}).state, 'x', NOW)
    expect(resumeState(stopped, NOBODY, seeing(FAILING)).visits).toEqual({ a: 1 })
    const failed = play(begin(judged), FAILING).state
    expect(resumeState(failed, NOBODY, seeing(FAILING)).visits).toEqual({ a: 2 })
    expect(resumeState(failed, NOBODY, seeing(VALID)).visits).toEqual({ a: 1 })
  })
})

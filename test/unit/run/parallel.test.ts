import { describe, expect, it } from 'vitest'
import { promptBound } from '../../../src/run/definition/bound.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import type { Observation, StepResultSeen } from '../../../src/run/machine/observation.ts'
import { currentPhase, currentWork, withBatch } from '../../../src/run/machine/position.ts'
import { duePrompt, promptRecord, stepsOf } from '../../../src/run/machine/prompt.ts'
import { isPrompted, type WorkflowState } from '../../../src/run/machine/state.ts'
import { haltState, promptAgain, requestStop, resumeState } from '../../../src/run/machine/steering.ts'
import { PROMPT_TEXT } from '../../../src/run/run-messages.ts'
import { begin, DONE, NO_SESSIONS, NOT_DONE, PLACE, seeing, workOf } from './builders.ts'

/** Several steps in progress at once. */

const NONE: StepResultSeen = { kind: 'absent' }
const FAILED: StepResultSeen = { ...NOT_DONE, summary: 'no luck' }
const HALF: StepResultSeen = { kind: 'invalid', why: 'no JSON', archived: false }

const FIVE = { id: 'a', steps: ['s1', 's2', 's3', 's4', 's5'], parallel: 3, max_step_attempts: 2 }

/** The state after the agents came back with results, by step from 1. No prompt goes out unless `more` says so. */
function back(
  start: WorkflowState,
  results: Readonly<Record<number, StepResultSeen>>,
  more: Partial<Observation> = {},
): WorkflowState {
  const left = new Map(Object.entries(results))
  let state = start
  for (;;) {
    const { inWork } = withBatch(state, currentPhase(state))
    const stepResults = inWork.map(({ step }) => left.get(String(step + 1)) ?? NONE)
    const { state: next, command, effects } = advance(state, seeing({ stepResults, mayPrompt: false, ...more }))
    for (const effect of effects) if ('file' in effect) left.delete(/\d+/.exec(effect.file)?.[0] ?? '')
    state = next
    if (command !== 'observe') return state
  }
}

/** The state after the next prompt went out. */
const hand = (state: WorkflowState): WorkflowState => back(state, {}, { mayPrompt: true })

const endedOf = ({ endedSteps }: WorkflowState): string[] =>
  endedSteps.map(({ step, attempts, outcome }) => `${step + 1}: ${outcome} after ${attempts}`)
const lastEvents = ({ history }: WorkflowState, count: number): string[] =>
  history.slice(-count).map(({ event, step, attempt }) => `${event} ${step} ${attempt}`)

const out = hand(begin(FIVE))

describe('a batch', () => {
  it('has as many steps as may be in progress at once, each counted as a prompt', () => {
    expect(workOf(out)).toEqual(['1: 0 *', '2: 0 *', '3: 0 *'])
    expect(out).toMatchObject({ stage: 'prompted', prompts: 3 })
    expect(currentWork(out).step).toBe(0)
    expect(lastEvents(out, 3)).toEqual(['prompt 1 1', 'prompt 2 1', 'prompt 3 1'])
    expect(promptBound(out.definition)).toBe(5 * 2 + 3 * 3)
  })

  it('takes results that pass as they come, and continues when the last step has come back', () => {
    const helper = { returned: false, takes: 'passing' } as const
    const some = back(out, { 2: DONE, 3: FAILED }, helper)
    expect([workOf(some), endedOf(some)]).toEqual([['1: 0 *', '3: 0 *'], ['2: done after 1']])
    expect([isPrompted(some), currentWork(some).step]).toEqual([true, 0])
    const over = back(some, { 1: DONE, 3: FAILED })
    expect([workOf(over), endedOf(over)]).toEqual([['3: 1'], ['2: done after 1', '1: done after 1']])
    expect([isPrompted(over), currentWork(over).step]).toEqual([false, 2])
    // Failed steps go out again, with the next ones.
    const again = hand(over)
    expect(workOf(again)).toEqual(['3: 1 *', '4: 0 *', '5: 0 *'])
    expect(lastEvents(again, 3)).toEqual(['prompt 3 2', 'prompt 4 1', 'prompt 5 1'])
  })

  it.each<[string, (state: WorkflowState) => WorkflowState]>([
    ['a stop that was requested', (state) => requestStop(state, 0)],
    ['a spent budget', (state) => ({ ...state, definition: { ...state.definition, maxPrompts: state.prompts } })],
  ])('leaves no stray result behind after %s', (_, changed) => {
    const between = changed(back(out, { 1: DONE, 2: DONE, 3: DONE }))
    const ended = advance(between, seeing({ strayResults: ['step-result-1.json'] }))
    expect(ended).toMatchObject({ command: 'finish', effects: [{ name: 'stray-step-result-1.json' }] })
  })

  it('archives each result under its step and attempt, and unrequested ones as strays', () => {
    const taken = advance(out, seeing({ stepResults: [NONE, DONE, NONE] }))
    const archived = { kind: 'archive-step', file: 'step-result-2.json', folder: 'step-results/a', name: '2-1.json' }
    expect(taken.effects).toEqual([archived])
    const between = back(out, { 1: DONE, 2: DONE, 3: FAILED })
    const given = advance(between, seeing({ stepResults: [DONE, NONE, NONE], strayResults: ['step-result.json'] }))
    const moved = given.effects.flatMap((effect) => ('file' in effect ? [`${effect.file} ${effect.name}`] : []))
    expect(moved).toEqual(['step-result.json stray-step-result.json', 'step-result-3.json early-3-2.json'])
    const last = hand(begin({ ...FIVE, steps: ['one'] }))
    const done = advance(last, seeing({ stepResults: [DONE], strayResults: ['step-result-9.json'] }))
    expect(done.effects).toMatchObject([{ name: '1-1.json' }, { name: 'stray-step-result-9.json' }])
  })

  it('that ends the run archives the last result, and what was not asked for', () => {
    const last = hand(begin({ ...FIVE, steps: ['one'], max_step_attempts: 1, on_exhausted: 'stop' }))
    const ended = advance(last, seeing({ stepResults: [FAILED], strayResults: ['step-result-9.json'] }))
    expect(ended).toMatchObject({ state: { outcome: 'failed' }, command: 'finish' })
    expect(ended.effects).toMatchObject([{ name: '1-1.json' }, { name: 'stray-step-result-9.json' }])
  })

  const second = hand(back(out, { 1: FAILED, 2: DONE, 3: DONE }))
  const spent = back(second, { 1: FAILED }, { returned: false })

  it('gives up steps only when it is over', () => {
    expect(workOf(second)).toEqual(['1: 1 *', '4: 0 *', '5: 0 *'])
    expect(workOf(spent)).toEqual(['1: 2', '4: 0 *', '5: 0 *'])
    const over = back(spent, { 4: DONE, 5: DONE })
    expect(over).toMatchObject({ phaseSkips: 1, skips: 1, inWork: [], outcome: 'completed' })
    const stopping = { ...currentPhase(spent), onExhausted: 'stop' as const }
    const state = { ...spent, definition: { ...spent.definition, phases: [stopping] as const } }
    const ended = back(state, { 4: DONE, 5: DONE })
    expect(ended).toMatchObject({ outcome: 'failed', why: 'step 1 failed 2 times, most recently: no luck' })
    // A resumed run tries it again; the others are done.
    const resumed = resumeState(ended, NO_SESSIONS, seeing())
    expect(currentWork(resumed)).toMatchObject({ attempts: 2, maxAttempts: 4 })
    expect(workOf(hand(resumed))).toEqual(['1: 2 *'])
  })

  it('that was resumed while one of its steps was spent gives that step no further attempts', () => {
    const resumed = promptAgain(resumeState(spent, NO_SESSIONS, seeing()))
    const given = hand(resumed)
    expect(workOf(given)).toEqual(['1: 2', '4: 0 *', '5: 0 *'])
    expect(endedOf(back(given, { 4: DONE, 5: DONE }))).toContain('1: skipped after 2')
    // Where nothing else is left in progress, it is given up before the next batch.
    const alone = { ...resumed, inWork: resumed.inWork.slice(0, 1), stage: 'between-prompts' } as const
    const skipped = advance(alone, seeing())
    expect(endedOf(skipped.state)).toContain('1: skipped after 2')
    expect(skipped).toMatchObject({ command: 'observe', effects: [] })
  })

  it('goes out again as the same attempts if it was interrupted, without those that came back', () => {
    const some = back(out, { 2: DONE }, { interrupted: true, mayPrompt: true })
    expect(workOf(some)).toEqual(['1: 0 *', '3: 0 *'])
    expect(some).toMatchObject({ interruptions: 1, prompts: 5 })
    expect(lastEvents(some, 2)).toEqual(['prompt 1 1', 'prompt 3 1'])
    // A step that failed waits for the next batch.
    const failed = back(out, { 2: FAILED }, { returned: false })
    const again = back(failed, {}, { interrupted: true, mayPrompt: true })
    expect(workOf(again)).toEqual(['1: 0 *', '2: 1', '3: 0 *'])
  })

  it('that did not go out again after a resume is not awaited after a stop request', () => {
    expect(hand(requestStop(promptAgain(out), 0))).toMatchObject({ active: false, outcome: 'stopped', prompts: 3 })
  })

  it('is awaited after a stop request; then the run is over: no further attempt, and nothing else begins', () => {
    const some = back(requestStop(out, 0), { 1: DONE }, { returned: false })
    expect(some).toMatchObject({ active: true, prompts: 3 })
    const ended = hand(back(some, { 2: FAILED, 3: DONE }))
    expect(ended).toMatchObject({ active: false, outcome: 'stopped', prompts: 3, skips: 0 })
    expect(workOf(ended)).toEqual(['2: 1'])
  })

  it('keeps half-written results for a stop at which the agent comes back', () => {
    const some = back(out, { 1: HALF, 2: FAILED }, { returned: false, takes: 'complete' })
    expect(workOf(some)).toEqual(['1: 0 *', '2: 1', '3: 0 *'])
    expect(back(some, { 1: HALF }).inWork[0]).toMatchObject({ attempts: 1, failure: 'no JSON' })
  })

  it('does not exceed the rest of the budget', () => {
    const state = begin(FIVE)
    const budget = (maxPrompts: number) => ({ ...state, definition: { ...state.definition, maxPrompts } })
    expect(workOf(hand(budget(2)))).toEqual(['1: 0 *', '2: 0 *'])
    const short = hand(back(hand(budget(4)), { 1: FAILED, 2: FAILED, 3: FAILED }))
    const why = expect.stringContaining(': 3 prompts of at most 4 (max_prompts), and 3 more were due. A')
    expect(short).toMatchObject({ outcome: 'stalled', why })
  })
})

describe('the prompt of a batch', () => {
  const steps = [{ name: 'one', agent: 'scout', model: 'small' }, { name: 'two' }, 'three']
  const written = { ...FIVE, steps, step_prompt: '<{{step.name}}> <{{step}}>', agent: 'worker' }

  it('holds a part for each step, with its own file, failure, agent and model', () => {
    const first = hand(begin(written))
    const due = duePrompt(first, PLACE)
    const [one, two, three] = due.batch ?? []
    expect(due.prompt.split('\n')[0]).toBe(PROMPT_TEXT.batchTitle('flow', '7', 'a', 'steps 1, 2 and 3 of 3'))
    expect(due.prompt).toContain('=== step 1, a sub-agent of the type scout, with the model small ===\nWorkflow "flow"')
    expect([one, two, three]).toMatchObject([
      { step: 1, attempt: 1, agent: 'scout', model: 'small', artifact: 'step-result-1.json' },
      { step: 2, attempt: 1, agent: 'worker', model: undefined, artifact: 'step-result-2.json' },
      { step: 3, artifact: 'step-result-3.json' },
    ])
    expect(one?.prompt).toContain('\n\n<one> <{"name":"one","agent":"scout","model":"small"}>\n\n')
    expect(three?.prompt).toContain('\n\n<> <three>\n\n')
    expect(two?.prompt).toContain('to the file /f/step-result-2.json.')
    expect(stepsOf(due)).toEqual([1, 2, 3])
    expect(promptRecord(due, true)).toMatch(/^prompt again: a, steps 1, 2 and 3 of 3: .*; \{"name":"two"\}; three$/)
    const again = hand(back(first, { 1: DONE, 2: FAILED, 3: FAILED }))
    const [repeated, ...others] = duePrompt(again, PLACE).batch ?? []
    expect(others).toHaveLength(1)
    expect(repeated?.prompt).toContain('attempt 2 of 2.')
    expect(repeated?.prompt).toContain('Problem with the last result: no luck')
  })

  it('of one step is that of the step', () => {
    const single = hand(begin({ ...written, steps: [{ name: 'only' }] }))
    expect(duePrompt(single, PLACE)).toMatchObject({ step: 1, batch: undefined, artifact: 'step-result-1.json' })
    expect(promptRecord(duePrompt(single, PLACE), false)).toBe('prompt: a, step 1 of 1: {"name":"only"}, attempt 1')
    expect(stepsOf(duePrompt(single, PLACE))).toEqual([])
  })

  it('tells each step its own failure', () => {
    const slow: StepResultSeen = { ...FAILED, summary: 'too slow' }
    const again = hand(back(hand(begin({ ...FIVE, step_prompt: '<{{failure}}>' })), { 1: FAILED, 2: slow, 3: DONE }))
    const failures = duePrompt(again, PLACE).batch?.map(({ prompt }) => /<.*?>/.exec(prompt)?.[0])
    expect(failures).toEqual(['<no luck>', '<too slow>', '<>'])
  })

  it('says which schema a result must match', () => {
    const state = hand(begin({ id: 'a', steps: ['x'], step_check: { json_schema: { required: ['files'] } } }))
    expect(duePrompt(state, PLACE).prompt).toContain(PROMPT_TEXT.stepSchema('{"required":["files"]}'))
  })
})

it('a halted run with steps at once resumes with all of them', () => {
  const resumed = promptAgain(resumeState(haltState(out, 'why', 0), NO_SESSIONS, seeing()))
  expect(workOf(hand(resumed))).toEqual(workOf(out))
})

import { describe, expect, it } from 'vitest'
import { promptBound } from '../../../src/run/definition/bound.ts'
import { inputValues } from '../../../src/run/definition/definition.ts'
import { RULE_TEXT } from '../../../src/run/definition/definition-messages.ts'
import { checkDefinition } from '../../../src/run/definition/definition-rules.ts'
import { verdictOf } from '../../../src/run/definition/phase-fields.ts'
import { namedByStep, stepAsText, stepField } from '../../../src/run/definition/steps.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import type { Observation } from '../../../src/run/machine/observation.ts'
import { mermaidLines } from '../../../src/run/machine/picture.ts'
import { askForApproval, needOf } from '../../../src/run/machine/position.ts'
import { duePrompt } from '../../../src/run/machine/prompt.ts'
import { type Script, simulate } from '../../../src/run/machine/simulate.ts'
import {
  countElapsed,
  newState,
  pauseClock,
  phaseMs,
  type WorkflowState,
  workedMs,
} from '../../../src/run/machine/state.ts'
import { approveState, requestStop, resumeState } from '../../../src/run/machine/steering.ts'
import { ready } from '../../property/run/arbitraries.ts'
import { begin, MADE, NO_SESSIONS, NOW, PLACE, played, seeing } from './builders.ts'

/** Inputs, budgets, cases, approval, the clock, and simulations. */

const HOUR = 3_600_000

const faultsOf = (value: object): string[] =>
  checkDefinition({ name: 'x', ...value }).faults.map(({ path, detail }) => `${path.join('.')}: ${detail}`)

const A = { id: 'a', prompt: 'p', artifact: 'a.json' }
const CASES = { verdict: '/kind', cases: { bug: 'fix', idea: 'end' } }
const LONG_CASE = 'x'.repeat(61)
const TRIAGE = { id: 'triage', prompt: 'p', artifact: 't.json', next: CASES }
/** The same with another next. */
const triage = (next: object) => ({ ...TRIAGE, next: { ...CASES, ...next } })
const WRONG_CHECK = { json_schema: { pattern: 'x' } }
const FIX = { id: 'fix', prompt: 'p', artifact: 'fix.md' }

describe('a definition', () => {
  it.each([
    [{ inputs: { '1x': {} }, phases: [A] }, 'inputs.1x: invalid name "1x"'],
    [{ inputs: { x: { required: true, default: 'y' } }, phases: [A] }, 'inputs.x.default: the input "x" has a default'],
    [{ inputs: { x: { defualt: 1 } }, phases: [A] }, 'inputs.x.defualt: unknown field "defualt" (did you mean "def'],
    [{ phases: [{ ...A, prompt: '{{input.x}}' }] }, 'phases.0.prompt: {{input.x}} does not name an input'],
    [{ phases: [{ ...A, prompt: '{{step.x}}' }] }, 'phases.0.prompt: {{step.x}} does not name a field of the'],
    [{ phases: [{ id: 'a', steps: ['x'], approve: true }] }, 'phases.0.approve: approve needs an artifact'],
    [{ phases: [{ ...A, approve: true, gate: 'advisory' }] }, `phases.0.approve: ${RULE_TEXT.approveAdvisory}`],
    [{ phases: [{ ...A, parallel: 2 }] }, 'phases.0.parallel: parallel is allowed only in a phase with steps'],
    [{ phases: [{ id: 'a', steps: ['x'], parallel: 17 }] }, 'phases.0.parallel: '],
    [{ phases: [{ id: 'a', steps: [{ agent: 3 }] }] }, 'phases.0.steps.0.agent: the agent of a step must be a string'],
    [{ phases: [{ id: 'a', steps: ['x'], step_check: WRONG_CHECK }] }, 'phases.0.step_check.json_schema.pattern: '],
    [{ phases: [TRIAGE] }, 'phases.0.next.cases.bug: unknown phase "fix"'],
    [{ phases: [triage({ cases: {} }), FIX] }, 'phases.0.next.cases: give at least one case'],
    [{ phases: [triage({ cases: { [LONG_CASE]: 'fix' } }), FIX] }, `phases.0.next.cases.${LONG_CASE}: a case must`],
    [{ phases: [{ ...TRIAGE, gate: 'advisory' }, FIX] }, 'phases.0.next: an advisory phase may end without a verdict'],
    [{ phases: [triage({ default: 'fx' }), FIX] }, 'phases.0.next.default: unknown phase "fx" (did you mean "fix"?)'],
    [{ phases: [triage({ cases: undefined, casse: {} }), FIX] }, 'phases.0.next.'],
  ])('%j has a fault', (value, fault) => {
    expect(faultsOf(value)[0]?.slice(0, fault.length)).toBe(fault)
  })

  const inputs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`i${at}`, {}]))

  it('may have 50 inputs at most', () => {
    expect(ready({ name: 'x', inputs: inputs(50), phases: [A] }).definition.inputs.size).toBe(50)
    expect(faultsOf({ inputs: inputs(51), phases: [A] })).toEqual(['inputs: at most 50 inputs are allowed'])
  })

  it('may have cases of 60 characters', () => {
    expect(faultsOf({ phases: [triage({ cases: { [LONG_CASE.slice(1)]: 'fix' } }), FIX] })).toEqual([])
  })

  it('has no fault with all of it', () => {
    const steps = [{ name: 'x', agent: 'g', model: 'm' }, 'y']
    const phase = { ...FIX, steps, step_prompt: '{{step.name}} {{input.issue}}', parallel: 2, approve: true }
    const taken = { id: 'c', steps: { from: 'tasks.md', checklist: true }, step_prompt: '{{step.any}}' }
    const issue = { required: true, description: 'its number' }
    const given = { issue, flag: { default: true }, count: { default: 3 } }
    const all = { inputs: given, max_prompts: 9, max_minutes: 60, phases: [TRIAGE, phase, taken] }
    expect(checkDefinition({ name: 'x', ...all })).toMatchObject({ faults: [], warnings: [] })
    const { definition } = ready({ name: 'x', ...all })
    expect(promptBound(definition)).toBe(9)
    expect(Object.fromEntries(definition.inputs)).toEqual({
      issue: { description: 'its number', default: undefined, required: true },
      flag: { description: undefined, default: 'true', required: undefined },
      count: { description: undefined, default: '3', required: undefined },
    })
    expect(definition.phases[2]?.steps).toEqual({ kind: 'checklist', artifact: 'tasks.md' })
  })

  it('shows its ways, its steps at once and its approvals in the diagram', () => {
    const steps = { ...FIX, steps: ['x'], parallel: 4, approve: true }
    const phases = [triage({ default: 'triage', cases: { ...CASES.cases, '': 'end' } }), steps]
    const lines = mermaidLines(ready({ name: 'x', phases }).definition)
    const ways = ['"bug" --> p_fix', '"idea" --> finish', '" " --> finish', '"any other" --> p_triage']
    const fix = '  p_fix["fix<br/>fix.md<br/>1 step<br/>4 at once<br/>needs approval"]'
    expect(lines).toEqual(expect.arrayContaining([...ways.map((way) => `  p_triage -- ${way}`), fix]))
    expect(mermaidLines(ready({ name: 'x', phases: [TRIAGE, FIX] }).definition)).not.toContain('any other')
  })
})

describe('cases', () => {
  const reason = 'it crashes'
  const seen = (verdict: string): Partial<Observation> => ({ artifact: { kind: 'valid', verdict, reason } })

  it("lead on by their verdict, which the next phase's prompt contains", () => {
    const fixing = played(begin(TRIAGE, FIX), {}, seen('bug'))
    expect(fixing).toMatchObject({ phase: 'fix', ledBy: { phase: 'triage', verdict: 'bug', reason } })
    expect(fixing.history.at(-2)).toMatchObject({ event: 'pass', verdict: 'bug', detail: 'it crashes' })
    expect(duePrompt(fixing, PLACE).prompt).toContain('the phase "triage", whose verdict was "bug":\nit crashes')
    expect(played(begin(TRIAGE, FIX), {}, seen('idea'))).toMatchObject({ outcome: 'completed' })
  })

  it('named "fail" are neither good nor bad', () => {
    const start = begin(triage({ cases: { fail: 'end', pass: 'fix' } }), FIX)
    expect(played(start, {}, seen('fail'))).toMatchObject({ outcome: 'completed' })
    expect(played(start, {}, seen('pass'))).toMatchObject({ phase: 'fix' })
  })

  it('have a default for any other verdict, and for none if the phase is advisory', () => {
    expect(played(begin(triage({ default: 'fix' }), FIX), {}, seen('typo'))).toMatchObject({ phase: 'fix' })
    const advisory = { ...triage({ default: 'fix', cases: { fail: 'end', bug: 'end' } }), gate: 'advisory' }
    const ledBy = { phase: 'triage', verdict: undefined, reason: undefined }
    expect(played(begin(advisory, FIX), {}, {})).toMatchObject({ phase: 'fix', skips: 1, ledBy })
  })

  it.each([
    [{ bug: 'x' }, undefined, ['bug', 'toString', null], ['bug', undefined, undefined]],
    [{ true: 'x', 3: 'x' }, undefined, [true, 3], ['true', '3']],
    [{ bug: 'x' }, 'x', [['bug'], 'y'.repeat(100)], [undefined, 'y'.repeat(60)]],
    [undefined, undefined, [true, 'pass', false, 'fail', 'bug'], ['pass', 'pass', 'fail', 'fail', undefined]],
  ])('%j with the default %s: the values %j are the verdicts %j', (cases, otherwise, values, verdicts) => {
    const next = { pass: 'end', fail: 'end', verdict: '/k', reason: undefined, cases, otherwise }
    expect(values.map((value) => verdictOf(next, value))).toEqual(verdicts)
  })

  it('are listed in the prompt', () => {
    const promptOf = (phase: object): string => duePrompt(begin(phase, FIX), PLACE).prompt
    expect(promptOf(TRIAGE)).toContain('/kind it must have one of these strings: "bug", "idea"')
    expect(promptOf(triage({ default: 'fix' }))).toContain('a string, such as one of these: "bug"')
  })
})

describe('inputs', () => {
  const { definition } = ready({
    name: 'x',
    inputs: { issue: { required: true }, tone: { default: 'dry' }, note: {} },
    phases: [{ ...A, prompt: '{{input.issue}}, {{input.tone}}, {{input.note}}.' }],
  })

  it('have the given values, their defaults, or nothing; prompts show them', () => {
    const twice = ['41', '42'].map((value) => ['issue', value] as const)
    const inputs = inputValues(definition, twice)
    expect(inputs).toEqual({ issue: '42', tone: 'dry', note: '' })
    expect(inputValues(definition, [['issue', 'x'.repeat(5000)]]).issue).toHaveLength(5000)
    const state = newState(definition, { id: 'x', nowMs: NOW, ...NO_SESSIONS, inputs })
    expect(duePrompt(state, PLACE).prompt).toContain('\n\n42, dry, .\n\n')
  })

  it.each([
    [[['isue', '1']], { problem: 'unknown', name: 'isue', known: 'issue, tone, note' }],
    [[['issue', 'x'.repeat(5001)]], { problem: 'too-long', name: 'issue' }],
    [[], { problem: 'missing', name: 'issue' }],
  ] as const)('%j are refused', (given, args) => {
    const error = expect.objectContaining({ code: 'workflow-input', args: expect.objectContaining(args) })
    expect(() => inputValues(definition, given)).toThrowError(error)
  })
})

it('a prompt that is too long loses the end of its template, and never the file that decides', () => {
  const state = begin({ id: 'a', prompt: '{{verdict}} '.repeat(4000), artifact: 'a.md' })
  const ledBy = { phase: 'b', verdict: undefined, reason: 'because '.repeat(200) }
  const { prompt } = duePrompt({ ...state, ledBy }, PLACE)
  expect(prompt).toHaveLength(60_000)
  expect(prompt).toContain(`Write the result of this phase to the file ${PLACE.folder}/a.md`)
  expect(prompt).toMatch(/once that file is valid\.$/)
})

describe('a budget', () => {
  const limited = (limits: object, ...phases: object[]): WorkflowState => {
    const { definition } = ready({ name: 'x', ...limits, phases })
    return newState(definition, { id: 'x', nowMs: NOW, ...NO_SESSIONS })
  }

  it('of prompts stalls the run when one more is due, and again after a resume', () => {
    const spent = played(limited({ max_prompts: 1 }, A), {}, {}, {})
    const why =
      'the budget is used up: 1 prompt of at most 1 (max_prompts). A resume does not renew it: `postflight workflow start 7 --definition FILE --fresh` begins a new run'
    expect(spent).toMatchObject({ outcome: 'stalled', prompts: 1, why })
    expect(played(resumeState(spent, NO_SESSIONS, seeing()), {})).toMatchObject({ outcome: 'stalled', prompts: 1 })
    expect([spent, { ...spent, why: undefined }].map((state) => needOf(state).kind)).toEqual(['nothing', 'resume'])
    expect(played(limited({ max_prompts: 1 }, A), {}, MADE)).toMatchObject({ outcome: 'completed' })
  })

  it('of minutes counts the time of work only', () => {
    const start = limited({ max_minutes: 60 }, A, FIX)
    const late = played(start, { nowMs: NOW + HOUR })
    expect(late).toMatchObject({
      outcome: 'stalled',
      why: expect.stringContaining(': 60 minutes of work (max_minutes). A'),
    })
    expect(needOf(late).kind).toBe('nothing')
    expect(played(start, { nowMs: NOW + HOUR - 1 })).toMatchObject({ active: true, stage: 'prompted' })
    const stopped = played(requestStop(start, NOW), { nowMs: NOW + 1000 })
    expect(stopped).toMatchObject({ outcome: 'stopped', durations: { a: 1000 }, clockSinceMs: undefined })
    const resumed = resumeState(stopped, NO_SESSIONS, seeing({ nowMs: NOW + 24 * HOUR }))
    expect(played(resumed, { nowMs: NOW + 24 * HOUR + 1000 })).toMatchObject({ active: true, stage: 'prompted' })
    expect(workedMs(resumed, NOW + 24 * HOUR + 1000)).toBe(2000)
  })
})

describe('the clock', () => {
  const state = begin(A, FIX)

  it('counts the time of each phase, over all its visits', () => {
    const fixing = played(state, { nowMs: NOW + 1000 }, { ...MADE, nowMs: NOW + 5000 })
    expect(fixing).toMatchObject({ phase: 'fix', durations: { a: 5000 }, clockSinceMs: NOW + 5000 })
    const times = [phaseMs(fixing, 'a', NOW + 7000), phaseMs(fixing, 'fix', NOW + 7000), workedMs(fixing, NOW + 7000)]
    expect(times).toEqual([5000, 2000, 7000])
  })

  it('takes nothing away if it was set back, and stands while it is paused', () => {
    expect(phaseMs(state, 'a', NOW - 1000)).toBe(0)
    const paused = pauseClock(state, NOW + 1000)
    expect(paused).toMatchObject({ durations: { a: 1000 }, clockSinceMs: undefined })
    expect(pauseClock(paused, NOW + 9000)).toBe(paused)
    expect([phaseMs(paused, 'a', NOW + 9000), workedMs(paused, NOW + 9000)]).toEqual([1000, 1000])
    expect(countElapsed(paused, NOW + 9000)).toMatchObject({ durations: { a: 1000 }, clockSinceMs: NOW + 9000 })
  })

  it('of a run that lost its client counts until the last transition', () => {
    const lost = played(state, { nowMs: NOW + 1000 })
    const resumed = resumeState(lost, NO_SESSIONS, seeing({ nowMs: NOW + HOUR }))
    expect(resumed).toMatchObject({ durations: { a: 1000 }, clockSinceMs: NOW + HOUR })
  })
})

describe('an approval', () => {
  const asking = played(begin({ ...A, approve: true }, FIX), {}, MADE)

  it('is waited for without counting, until a person gives it', () => {
    expect(asking).toMatchObject({ phase: 'a', stage: 'between-prompts', clockSinceMs: undefined })
    expect(asking.approval).toMatchObject({ standing: 'asked' })
    for (const seen of [{}, MADE, { artifact: { kind: 'invalid', why: 'cut' } as const }]) {
      expect(advance(asking, seeing(seen))).toMatchObject({ state: asking, command: 'wait' })
    }
    const approved = approveState(asking, undefined, NOW)
    expect(played(approved, MADE)).toMatchObject({ phase: 'fix', approval: undefined })
    // An artifact that has become invalid is requested again, and approved again.
    expect(played(approved, {})).toMatchObject({ phase: 'a', stage: 'prompted', approval: undefined })
  })

  it('leaves the run alone, and a stop request ends it at once', () => {
    const asked = advance(played(begin({ ...A, approve: true }, FIX), {}), seeing(MADE))
    expect(asked).toEqual({ state: asking, command: 'wait', effects: [] })
    const stopped = advance(requestStop(asking, NOW), seeing(MADE))
    expect(stopped).toMatchObject({ state: { outcome: 'stopped' }, command: 'finish', effects: [] })
  })

  it('is also asked for an artifact that was there before', () => {
    expect(played(begin({ ...A, approve: true }), MADE)).toMatchObject({ approval: { standing: 'asked' }, prompts: 0 })
  })

  it('outlasts a stop and a resume, whose clock still stands', () => {
    const stopped = played(requestStop(asking, NOW), {})
    expect(stopped).toMatchObject({ outcome: 'stopped', approval: { standing: 'asked' } })
    const resumed = resumeState(stopped, NO_SESSIONS, seeing({ nowMs: NOW + HOUR }))
    expect(resumed).toMatchObject({ active: true, approval: { standing: 'asked' }, clockSinceMs: undefined })
    expect(askForApproval(begin(A), NOW).history.at(-1)).toMatchObject({ event: 'approval', phase: 'a' })
  })
})

describe('a step', () => {
  it('is shown as its text, as a task, or as JSON', () => {
    const steps = ['x', { a: 1 }, { text: 'x', item: 2 }, { text: 'x', item: '2' }, { text: 1, item: 2 }, ['x']]
    const texts = ['x', '{"a":1}', 'x', '{"text":"x","item":"2"}', '{"text":1,"item":2}', '["x"]']
    expect(steps.map(stepAsText)).toEqual(texts)
  })

  it('has fields, and may name an agent and a model', () => {
    const step = { name: 'x', list: [1], agent: 'a'.repeat(300), model: '' }
    expect([stepField(step, 'name'), stepField(step, 'list'), stepField(step, 'toString')]).toEqual(['x', '[1]', ''])
    const named = [namedByStep(step, 'agent'), namedByStep(step, 'model'), namedByStep('x', 'agent')]
    expect(named).toEqual(['a'.repeat(200), undefined, undefined])
  })
})

describe('a simulation', () => {
  const script: Script = { failures: new Map(), cases: new Map(), steps: new Map() }
  const walk = (phases: object[], more: Partial<Script> = {}) => {
    const { definition } = ready({ name: 'x', phases })
    const { prompts, state, history } = simulate(definition, { ...script, ...more }, PLACE, {})
    const path = history.flatMap(({ event, phase }) => (event === 'enter' ? [phase] : []))
    return { path, prompts: prompts.map(({ phase, attempt, batch }) => `${phase} ${batch?.length ?? attempt}`), state }
  }

  it('lets the first attempts fail that the script names: by a verdict, without an artifact, or in a step', () => {
    const next = { pass: 'end', fail: 'fix', verdict: '/ok' }
    const check = { id: 'check', prompt: 'p', artifact: 'c.json', next, max_visits: 3 }
    const loop = [check, { ...FIX, next: 'check', max_visits: 3 }]
    expect(walk(loop, { failures: new Map(Object.entries({ check: 1, fix: 1 })) })).toMatchObject({
      path: ['check', 'fix', 'check'],
      prompts: ['check 1', 'fix 1', 'fix 2', 'check 1'],
      state: { outcome: 'completed' },
    })
    const steps = [{ id: 's', steps: ['x', 'y'], parallel: 2 }]
    expect(walk(steps, { failures: new Map([['s/2', 2]]) })).toMatchObject({ prompts: ['s 2', 's 2', 's 3'] })
  })

  it('takes the first case, or the one that the script names', () => {
    const flow = [triage({ cases: { idea: 'end', bug: 'fix' } }), FIX]
    expect(walk(flow).path).toEqual(['triage'])
    expect(walk(flow, { cases: new Map([['triage', 'bug']]) }).path).toEqual(['triage', 'fix'])
    expect(walk(flow, { failures: new Map([['triage', 9]]) }).state).toMatchObject({ outcome: 'stalled' })
  })

  it('takes steps from files that exist, also from checklists, and stalls without a file that a phase should have made', () => {
    const tasks = { id: 't', steps: { from: 'tasks.md', checklist: true }, step_prompt: '{{step}}' }
    expect(walk([tasks]).prompts).toHaveLength(3)
    expect(walk([tasks], { steps: new Map([['t', 1]]) }).prompts).toEqual(['t 1'])
    const plan = { id: 'plan', gate: 'advisory', prompt: 'p', artifact: 'tasks.md' }
    const why = 'tasks.md, which lists the steps, is missing: create it, then run `postflight workflow resume 7`'
    expect(walk([plan, tasks], { failures: new Map([['plan', 1]]) }).state).toMatchObject({ outcome: 'stalled', why })
  })

  it('gives approvals at once, and keeps the whole history', () => {
    const some = { prompt: 'p', approve: true }
    const phases = Array.from({ length: 60 }, (_, at) => ({ ...some, id: `p${at}`, artifact: `${at}.md` }))
    const { state, history } = simulate(ready({ name: 'x', phases }).definition, script, PLACE, {})
    expect(state.outcome).toBe('completed')
    expect(history.map(({ n }) => n)).toEqual(Array.from({ length: state.sequence }, (_, at) => at + 1))
    expect(history.filter(({ event }) => event === 'approved')).toHaveLength(60)
  })

  it('ends after the maximum number of prompts', () => {
    const { definition } = ready({ name: 'x', phases: [{ id: 'a', steps: ['x', 'y', 'z'] }] })
    const { prompts, state } = simulate(definition, script, PLACE, {}, 2)
    expect([prompts.length, state.active]).toEqual([2, true])
  })
})

import { describe, expect, it } from 'vitest'
import { unknownField } from '../../../src/kernel/text.ts'
import { PLACEHOLDERS, unknownPlaceholders } from '../../../src/run/definition/definition-limits.ts'
import { RULE_TEXT } from '../../../src/run/definition/definition-messages.ts'
import { hadAskedBefore, MAX_REPEATS } from '../../../src/run/machine/agent-stop.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import { mermaidLines, phaseStatuses } from '../../../src/run/machine/picture.ts'
import { currentWork, isResumable } from '../../../src/run/machine/position.ts'
import { duePrompt, PROMPT_LIMIT } from '../../../src/run/machine/prompt.ts'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import {
  abortState,
  haltState,
  promptAgain,
  requestStop,
  resumeState,
  settleState,
} from '../../../src/run/machine/steering.ts'
import { PROMPT_TEXT, TURN_ENDS } from '../../../src/run/run-messages.ts'
import { begin, FAILED, MADE, NO_SESSIONS, NOT_DONE, NOW, PLACE, played, seeing } from './builders.ts'

const TEMPLATE = 'Do {{task}} in {{ phase }}, {{failure}}{{step}}'
const ONE = [{ id: 'a', prompt: TEMPLATE, artifact: 'a.json', max_attempts: 1 }]
const SECOND = { id: 'b', prompt: 'p', artifact: 'b.md' }

describe('a stop request', () => {
  it('may be made twice, and after the last phase it has no effect', () => {
    const running = requestStop(played(begin(...ONE), {}), NOW)
    expect(requestStop(running, NOW)).toBe(running)
    expect(played(running, MADE).outcome).toBe('completed')
  })

  it('stops the run before the next phase, which a resume begins', () => {
    const state = played(requestStop(played(begin(...ONE, SECOND), {}), NOW), MADE, {})
    expect(state).toMatchObject({ active: false, outcome: 'stopped', phase: 'b', stopRequestedMs: undefined })
    const resumed = played(resumeState(state, NO_SESSIONS, seeing()), {})
    expect(resumed).toMatchObject({ active: true, phase: 'b', stage: 'prompted', visits: { a: 1, b: 1 } })
  })
})

describe('the sessions of a resumed run', () => {
  const HAD = { parentSession: 'parent', hostSession: 'host' }
  const halted = { ...haltState(begin(...ONE), 'why', NOW), ...HAD }

  it.each([
    ['without a known session: those that it had', {}, HAD],
    ['without a known session, but with a parent', { parentSession: 'new' }, { ...HAD, parentSession: 'new' }],
    ['another session: that one', { parentSession: 'p2', hostSession: 'h2' }, {}],
    ['another session without a parent', { hostSession: 'h2' }, {}],
  ])('%s', (_who, who, expected) => {
    const sessions = { ...NO_SESSIONS, ...who }
    expect(resumeState(halted, sessions, seeing())).toMatchObject({ ...sessions, ...expected })
  })

  it('are still unknown if it had none', () => {
    expect(resumeState(haltState(begin(...ONE), 'why', NOW), NO_SESSIONS, seeing())).toMatchObject(NO_SESSIONS)
  })
})

describe('a request', () => {
  const out = played(begin(...ONE), {})

  it('from before the prompt went out brings no result; a later one may, and so may one without a prompt', () => {
    expect([NOW - 1, NOW].map((at) => hadAskedBefore(out, at))).toEqual([true, false])
    const without = [promptAgain(out), begin(...ONE), abortState(out, NOW)]
    expect(without.map((state) => hadAskedBefore(state, NOW - 1))).toEqual([false, false, false])
  })

  it('counts as later after too many repeats: a clock that was set back must not keep an agent forever', () => {
    let state = out
    for (let count = 0; count < MAX_REPEATS; count++) {
      expect(hadAskedBefore(state, NOW - 1)).toBe(true)
      state = { ...state, repeats: state.repeats + 1 }
    }
    expect(hadAskedBefore(state, NOW - 1)).toBe(false)
  })
})

describe('an ended run', () => {
  it('stays finished, and cannot be stopped, aborted or halted again', () => {
    const ended = abortState(begin(...ONE), NOW)
    expect(advance(ended, seeing())).toEqual({ state: ended, command: 'finish', effects: [] })
    expect([requestStop(ended, NOW), abortState(ended, NOW), haltState(ended, 'x', NOW)]).toEqual([ended, ended, ended])
    const outcomes = ['stopped', 'stalled', 'failed', 'completed', 'aborted'] as const
    expect(outcomes.filter((outcome) => isResumable({ ...ended, outcome }))).toEqual(['stopped', 'stalled', 'failed'])
  })

  it('is accepted once a person knows of it, unless it is done or continues', () => {
    const ended = haltState(begin(...ONE), 'why', NOW)
    const settled = settleState(ended)
    expect(settled).toEqual({ ...ended, settled: true })
    expect(resumeState(settled, NO_SESSIONS, seeing()).settled).toBe(false)
    const done = played(begin(...ONE), MADE)
    expect(settleState({ ...done, skips: 1 }).settled).toBe(true)
    for (const state of [settled, done, begin(...ONE)]) expect(settleState(state)).toBe(state)
  })

  it('that could be resumed can be aborted, and then cannot be resumed', () => {
    const aborted = abortState(haltState(begin(...ONE), 'why', NOW), NOW)
    expect(aborted).toMatchObject({ active: false, outcome: 'aborted', why: undefined })
  })

  it('gets another visit from resume if the visits were spent', () => {
    const failed = played(begin({ ...ONE[0], next: 'a', max_visits: 1 }), {}, MADE)
    expect(failed).toMatchObject({ outcome: 'failed', why: expect.stringContaining('max_visits') })
    const again = played(resumeState(failed, NO_SESSIONS, seeing()), MADE)
    expect(again).toMatchObject({ active: true, stage: 'archiving', visits: { a: 2 } })
  })

  it('that failed because the visits of the next phase were spent does not enter its own phase again', () => {
    const loop = { ...ONE[0], next: { pass: 'end', fail: 'a', verdict: '/ok' }, max_visits: 1 }
    const failed = played(begin(loop), {}, FAILED)
    expect(failed.why).toContain('max_visits')
    const resumed = resumeState(failed, NO_SESSIONS, seeing(FAILED))
    expect(resumed).toMatchObject({ stage: 'prompted', visits: { a: 1 }, visitsGranted: 1 })
    expect(played(resumed, FAILED).visits).toEqual({ a: 2 })
  })

  it('that a step stopped gets another attempt at it from resume', () => {
    const steps = { id: 'a', steps: ['x'], max_step_attempts: 1, on_exhausted: 'stop' }
    const state = played(begin(steps), {}, {}, { stepResults: [{ ...NOT_DONE, summary: 'no' }] })
    expect(state).toMatchObject({ outcome: 'failed', why: 'step 1 failed once: no' })
    expect(currentWork(resumeState(state, NO_SESSIONS, seeing()))).toMatchObject({ attempts: 1, maxAttempts: 2 })
  })
})

it('a prompt of a step that goes out again changes nothing else, and waits for a driver that may prompt', () => {
  const out = played(begin({ id: 'a', steps: ['x'] }), {}, {})
  const again = promptAgain(out)
  expect(again).toEqual({ ...out, stage: 'between-prompts', inWork: [{ ...out.inWork[0], out: false }] })
  expect(advance(again, seeing({ mayPrompt: false })).command).toBe('wait')
})

/** Of a definition without artifacts, inputs and steps. */
const NO_NAMES = () => false

describe('a prompt', () => {
  it('says what to do, which file to write, and what the last problem was; values are not templates', () => {
    const state: WorkflowState = { ...begin(...ONE), phaseAttempts: 1, lastFailure: 'it said {{task}}\u001b[31m' }
    const { prompt } = duePrompt(state, { task: '007_x', folder: '/p/specs/007_x' })
    expect(prompt).toBe(
      [
        'Workflow "flow", task 007_x: phase "a", attempt 2 of 1.',
        'Do 007_x in a, it said {{task}}[31m',
        'Problem with the last result: it said {{task}}[31m',
        'Write the result of this phase to the file /p/specs/007_x/a.json.',
        'Then end your turn. The next prompt follows once that file is valid.',
      ].join('\n\n'),
    )
  })

  it('keeps unknown placeholders, and does not mention an artifact that the phase does not have', () => {
    const state = begin({ id: 'a', steps: ['x'], step_prompt: '[{{artifact}}] {{step_number}}/{{total_steps}}' })
    expect(duePrompt(played(state, {}, {}), PLACE).prompt).toContain('\n\n[] 1/1\n\n')
    const one = begin(...ONE)
    const phases = [{ ...one.definition.phases[0], prompt: '{{unknown}}' }] as const
    const changed = { ...one, definition: { ...one.definition, phases } }
    expect(duePrompt(changed, PLACE).prompt).toContain('{{unknown}}')
  })

  it('has a value for every placeholder, in a phase and in its steps', () => {
    const all = PLACEHOLDERS.map((name) => `${name}={{${name}}}`).join(' ')
    const both = { prompt: all, step_prompt: all, steps: ['wash up', 'dry'] }
    const known = played(begin({ id: 'a', artifact: 'a.md', ...both }), {})
    const first = { step: 0, attempts: 1, outcome: 'done' } as const
    const second = { step: 1, attempts: 1, maxAttempts: 3, out: true, failure: undefined }
    const ofStep = duePrompt({ ...known, inWork: [second], endedSteps: [first] }, PLACE).prompt
    const [title, values, result, next] = ofStep.split('\n\n')
    expect(title).toBe('Workflow "flow", task 7: phase "a", step 2 of 2, attempt 2 of 3.')
    expect(values).toBe(
      'workflow=flow task=7 task_folder=/f phase=a visit=1 attempt=2 max_attempts=3 artifact=/f/a.md previous_artifact= verdict= step=dry step_number=2 total_steps=2 failure=',
    )
    expect([result, next]).toEqual([PROMPT_TEXT.stepResult('/f/step-result.json'), TURN_ENDS.alone])
    expect(duePrompt({ ...known, endedSteps: [first, { ...first, step: 1 }] }, PLACE).prompt).toContain(
      'phase=a visit=1 attempt=1 max_attempts=3 artifact=/f/a.md previous_artifact= verdict= step= step_number= total_steps=2 failure=',
    )
  })

  it('has each unknown placeholder reported once, with or without blanks around the name', () => {
    expect(unknownPlaceholders('{{ a b }} {{c}}{{ task }} {{step}} {{a b}} {{  c }}', NO_NAMES)).toEqual(['a b', 'c'])
  })

  it('may begin a placeholder that never ends with many blanks', () => {
    const before = performance.now()
    expect(unknownPlaceholders(`{{${' '.repeat(2_000)}`, NO_NAMES)).toEqual([])
    expect(performance.now() - before).toBeLessThan(1_000)
  })

  const JUDGED = { next: { pass: 'end', fail: 'end', verdict: '/ok' } }
  it.each([
    [{ check: { min_bytes: 2 } }, [PROMPT_TEXT.minBytes(2)]],
    [{ check: { json: true } }, [PROMPT_TEXT.json]],
    [{ check: { json_schema: {} } }, [PROMPT_TEXT.json, PROMPT_TEXT.schema('{}')]],
    [JUDGED, [PROMPT_TEXT.json, PROMPT_TEXT.verdict('/ok')]],
    [
      { ...JUDGED, check: { min_bytes: 1, json_schema: { type: 'object' } } },
      [PROMPT_TEXT.minBytes(1), PROMPT_TEXT.json, PROMPT_TEXT.schema('{"type":"object"}'), PROMPT_TEXT.verdict('/ok')],
    ],
  ])('with %j lists its demands, and no others', (more, demands) => {
    const { prompt } = duePrompt(begin({ ...ONE[0], ...more }), PLACE)
    const [, list] = prompt.split('to the file /f/a.json:\n')
    expect(list?.split('\n\n')[0]).toBe(demands.map((one) => `- ${one}`).join('\n'))
  })

  it('names the check that must succeed, and the command that runs it', () => {
    const state = begin({ ...ONE[0], prompt: 'Do it.', check: { run: 'make test' } })
    const { prompt } = duePrompt(state, { ...PLACE, checkCommand: 'postflight workflow check 7' })
    expect(prompt.split('\n\n').slice(2)).toEqual([
      'Write the result of this phase to the file /f/a.json.',
      PROMPT_TEXT.check('make test', 'postflight workflow check 7'),
      `${TURN_ENDS.afterCheck} ${PROMPT_TEXT.checkVoid}`,
    ])
  })

  it('shows names on one line, and the last problem trimmed and cut', () => {
    const state = { ...begin(...ONE), name: 'a\nb', phaseAttempts: 1, lastFailure: ` ${'x'.repeat(4000)} ` }
    const [title, , problem] = duePrompt(state, { task: '7\n8', folder: '/f' }).prompt.split('\n\n')
    expect(title).toBe('Workflow "a b", task 7 8: phase "a", attempt 2 of 1.')
    expect(problem).toMatch(/^Problem with the last result: x/)
    expect(problem).toHaveLength('Problem with the last result: '.length + 3000)
  })

  it('has a standard text for steps without a template and for the artifact after them, and is cut at the limit', () => {
    const state = played(begin({ id: 'a', steps: ['wash up'], artifact: 'a.md' }), {})
    const due = duePrompt(state, PLACE)
    expect(due).toMatchObject({ step: 1, artifact: 'step-result.json' })
    expect(due.prompt).toContain('Do this step of the work: wash up')
    const after: WorkflowState = { ...state, endedSteps: [{ step: 0, attempts: 1, outcome: 'done' }] }
    expect(duePrompt(after, PLACE).prompt).toContain(PROMPT_TEXT.standard(false))
    expect(duePrompt(state, { task: 't', folder: '/f'.repeat(PROMPT_LIMIT) }).prompt).toHaveLength(PROMPT_LIMIT)
  })
})

describe('the standing of phases', () => {
  const running = begin(...ONE, SECOND)
  const entered = played(running, MADE)
  const done = played(entered, MADE)

  it.each([
    ['running', running, ['running', 'waiting']],
    ['in its second phase', entered, ['done', 'running']],
    ['aborted', abortState(entered, NOW), ['done', 'failed']],
    ['halted', haltState(entered, 'x', NOW), ['done', 'waiting']],
    ['completed', done, ['done', 'done']],
  ])('follows from the run: %s', (_what, state, statuses) => {
    expect(phaseStatuses(state)).toEqual(statuses)
  })

  it('is shown by its colours in the diagram', () => {
    const lines = mermaidLines(running.definition, entered)
    expect(lines.slice(0, 7)).toEqual(mermaidLines(running.definition))
    expect(lines.slice(7)).toEqual([
      '  classDef done fill:#d3f9d8,stroke:#2b8a3e',
      '  classDef running fill:#fff3bf,stroke:#e67700',
      '  classDef failed fill:#ffe3e3,stroke:#c92a2a',
      '  classDef skipped fill:#ffffff,stroke:#e67700,stroke-dasharray:4',
      '  classDef waiting fill:#f1f3f5,stroke:#868e96',
      ...['  class p_a done', '  class p_b running'],
    ])
    expect(mermaidLines(done.definition, done)).toContain('  finish(("completed"))')
  })
})

it('every fault of a definition stays on one line, whatever its values', () => {
  const hostile = 'x\n\u001b[31m'
  const target = (id: string): string => RULE_TEXT.target(id, [id])
  const field = (name: string): string => unknownField(name, [name])
  const sentences = Object.values({ ...RULE_TEXT, target, field }).map((text) =>
    typeof text === 'function' ? (text as (...words: string[]) => string)(hostile, hostile, hostile, hostile) : text,
  )
  for (const sentence of sentences) expect(sentence.replaceAll(hostile, '')).toMatch(/^[^\n\u001b]*$/)
})

import { describe, expect, it } from 'vitest'
import { unknownField } from '../../../src/kernel/text.ts'
import { PLACEHOLDERS, unknownPlaceholders } from '../../../src/run/definition/definition-limits.ts'
import { RULE_TEXT } from '../../../src/run/definition/definition-messages.ts'
import {
  abortState,
  hadAskedBefore,
  haltState,
  MAX_REPEATS,
  promptAgain,
  repeatPrompt,
  requestStop,
  resumeState,
} from '../../../src/run/machine/control.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import { mermaidLines, phaseStatuses } from '../../../src/run/machine/picture.ts'
import { currentPhase, currentWork, isResumable } from '../../../src/run/machine/position.ts'
import { duePrompt, PROMPT_LIMIT } from '../../../src/run/machine/prompt.ts'
import { isPrompted, type WorkflowState } from '../../../src/run/machine/state.ts'
import { definitionSize, PROMPT_TEXT, WORKFLOW_TEXT } from '../../../src/run/run-messages.ts'
import { begin, NO_SESSIONS, NOW, seeing } from './builders.ts'

const ONE = [
  { id: 'a', prompt: 'Do {{task}} in {{ phase }}, {{failure}}{{step}}', artifact: 'a.json', max_attempts: 1 },
]

describe('a stop request', () => {
  it('stops the run at once between two phases, otherwise after the current phase; after the last phase it has no effect', () => {
    const fresh = requestStop(begin(...ONE), NOW)
    expect(requestStop(fresh, NOW)).toBe(fresh)
    expect(advance(fresh, seeing()).state).toMatchObject({ active: false, outcome: 'stopped' })
    const running = requestStop(advance(begin(...ONE), seeing()).state, NOW)
    expect(advance(running, seeing({ returned: false })).command.kind).toBe('wait')
    expect(advance(running, seeing({ artifact: { kind: 'valid' } })).state.outcome).toBe('completed')
  })

  it('stops the run after its phase, before the next one begins', () => {
    const two = [...ONE, { id: 'b', prompt: 'p', artifact: 'b.md' }]
    const running = requestStop(advance(begin(...two), seeing()).state, NOW)
    const { state, command } = advance(advance(running, seeing({ artifact: { kind: 'valid' } })).state, seeing())
    expect(command.kind).toBe('finish')
    expect(state).toMatchObject({ active: false, outcome: 'stopped', phase: 'b', stopRequestedMs: undefined })
    // The first phase is done.
    expect(phaseStatuses(state)).toEqual(['done', 'waiting'])
    const resumed = advance(resumeState(state, NO_SESSIONS, seeing()), seeing())
    expect(resumed.state).toMatchObject({ active: true, phase: 'b', stage: 'prompted', visits: { a: 1, b: 1 } })
  })
})

describe('the sessions of a resumed run', () => {
  const HAD = { parentSession: 'parent', hostSession: 'host' }
  const halted = { ...haltState(begin(...ONE), 'why', NOW), ...HAD }

  it.each([
    ['without a known session: those that it had', NO_SESSIONS, HAD],
    [
      'without a known session, but with a parent',
      { ...NO_SESSIONS, parentSession: 'new' },
      { ...HAD, parentSession: 'new' },
    ],
    [
      'another session: that one',
      { parentSession: 'p2', hostSession: 'h2' },
      { parentSession: 'p2', hostSession: 'h2' },
    ],
    ['another session without a parent', { ...NO_SESSIONS, hostSession: 'h2' }, { ...NO_SESSIONS, hostSession: 'h2' }],
  ])('%s', (_who, who, expected) => {
    expect(resumeState(halted, who, seeing())).toMatchObject(expected)
  })

  it('are still unknown if it had none', () => {
    expect(resumeState(haltState(begin(...ONE), 'why', NOW), NO_SESSIONS, seeing())).toMatchObject(NO_SESSIONS)
  })
})

describe('counts', () => {
  it('have the singular for one and the plural for several', () => {
    expect(WORKFLOW_TEXT.visitsSpent('a', 1)).toContain('was already entered once')
    expect(WORKFLOW_TEXT.visitsSpent('a', 2)).toContain('was already entered 2 times')
    expect(WORKFLOW_TEXT.exhausted(1, 'why')).toBe('1 attempt failed: why')
    expect(WORKFLOW_TEXT.exhausted(2, 'why')).toBe('2 attempts failed, most recently: why')
    expect(WORKFLOW_TEXT.stepExhausted(3, 1, 'why')).toBe('step 3 failed once: why')
    expect(WORKFLOW_TEXT.tooSmall('a', 1, 2)).toBe('a has 1 byte, but must have at least 2')
    expect(definitionSize(2, 0, 3)).toBe('2 phases, at most 3 prompts')
    expect(definitionSize(1, 6, 21)).toBe('1 phase, 6 steps, at most 21 prompts')
    expect(definitionSize(1, undefined, 9)).toBe('1 phase, at most 9 prompts (steps not known yet count as 1000)')
  })
})

describe('a request', () => {
  const out = advance(begin(...ONE), seeing()).state

  it('from before the prompt went out brings no result; a later one may, and so may one without a prompt', () => {
    expect(hadAskedBefore(out, NOW - 1)).toBe(true)
    expect(hadAskedBefore(out, NOW)).toBe(false)
    expect(hadAskedBefore(promptAgain(out), NOW - 1)).toBe(false)
    expect(hadAskedBefore(begin(...ONE), NOW - 1)).toBe(false)
    expect(hadAskedBefore(abortState(out, NOW), NOW - 1)).toBe(false)
  })

  it('counts as later after too many repeats: a clock that was set back must not keep an agent for ever', () => {
    let state = out
    for (let count = 0; count < MAX_REPEATS; count++) {
      expect(hadAskedBefore(state, NOW - 1)).toBe(true)
      state = repeatPrompt(state)
    }
    expect(hadAskedBefore(state, NOW - 1)).toBe(false)
  })
})

describe('an ended run', () => {
  it('stays finished, and cannot be stopped, aborted or halted again', () => {
    const ended = abortState(begin(...ONE), NOW)
    expect(advance(ended, seeing())).toEqual({ state: ended, command: { kind: 'finish' }, effects: [] })
    expect([requestStop(ended, NOW), abortState(ended, NOW), haltState(ended, 'x', NOW)]).toEqual([ended, ended, ended])
    expect(isResumable(ended)).toBe(false)
    for (const outcome of ['stopped', 'stalled', 'failed'] as const) {
      expect(isResumable({ ...ended, outcome })).toBe(true)
    }
    expect(isResumable({ ...ended, outcome: 'completed' })).toBe(false)
  })

  it('that could be resumed can be aborted, and then cannot be resumed', () => {
    const aborted = abortState(haltState(begin(...ONE), 'why', NOW), NOW)
    expect(aborted).toMatchObject({ active: false, outcome: 'aborted', why: undefined })
    expect(isResumable(aborted)).toBe(false)
  })

  it('gets more attempts or visits from resume if they were spent', () => {
    const asked = advance(begin(...ONE), seeing()).state
    const { state: stalled } = advance(asked, seeing())
    expect(stalled).toMatchObject({ outcome: 'stalled', phaseAttempts: 1 })
    const resumed = resumeState(stalled, NO_SESSIONS, seeing())
    expect(resumed).toMatchObject({ active: true, phaseAttempts: 1, maxPhaseAttempts: 2 })
    const loop = [{ ...ONE[0], next: 'a', max_visits: 1 }]
    const { state: failed } = advance(advance(begin(...loop), seeing()).state, seeing({ artifact: { kind: 'valid' } }))
    expect(failed).toMatchObject({ outcome: 'failed', why: expect.stringContaining('max_visits') })
    const again = advance(resumeState(failed, NO_SESSIONS, seeing()), seeing({ artifact: { kind: 'valid' } }))
    expect(again.state).toMatchObject({ active: true, stage: 'archiving', visits: { a: 2 } })
  })

  it('that a verdict ended enters the phase again after resume, unless the verdict has changed', () => {
    const judged = [{ ...ONE[0], next: { pass: 'end', fail: 'end', verdict: '/ok' } }]
    const failing = seeing({ artifact: { kind: 'valid', verdict: 'fail' } })
    const { state: failed } = advance(advance(begin(...judged), seeing()).state, failing)
    expect(failed).toMatchObject({ active: false, outcome: 'failed', why: expect.stringContaining('"fail"') })
    expect(resumeState(failed, NO_SESSIONS, failing)).toMatchObject({
      stage: 'archiving',
      visits: { a: 2 },
    })
    const passing = seeing({ artifact: { kind: 'valid', verdict: 'pass' } })
    expect(advance(resumeState(failed, NO_SESSIONS, passing), passing).state.outcome).toBe('completed')
  })

  it('that failed because the visits of the next phase were spent does not enter its own phase again', () => {
    const loop = [{ ...ONE[0], next: { pass: 'end', fail: 'a', verdict: '/ok' }, max_visits: 1 }]
    const failing = seeing({ artifact: { kind: 'valid', verdict: 'fail' } })
    const { state: failed } = advance(advance(begin(...loop), seeing()).state, failing)
    expect(failed.why).toContain('max_visits')
    const resumed = resumeState(failed, NO_SESSIONS, failing)
    expect(resumed).toMatchObject({ stage: 'prompted', visits: { a: 1 }, visitsGranted: 1 })
    expect(advance(resumed, failing).state.visits).toEqual({ a: 2 })
  })

  it('can be resumed if it was halted, or if a step stopped it', () => {
    expect(isResumable(haltState(begin(...ONE), 'why', NOW))).toBe(true)
    const steps = [{ id: 'a', steps: ['x'], max_step_attempts: 1, on_exhausted: 'stop' }]
    let state = advance(advance(begin(...steps), seeing()).state, seeing()).state
    expect(isPrompted(state)).toBe(true)
    state = advance(
      state,
      seeing({ stepResults: [{ kind: 'result', success: false, summary: 'no', archived: false }] }),
    ).state
    expect(state).toMatchObject({ outcome: 'failed', why: 'step 1 failed once: no' })
    expect(currentWork(resumeState(state, NO_SESSIONS, seeing()))).toMatchObject({ attempts: 1, maxAttempts: 2 })
  })
})

describe('steps', () => {
  it('do not count a result from before the prompt, and archive it under another name', () => {
    const state = advance(begin(...[{ id: 'a', steps: ['x'] }]), seeing()).state
    const early = advance(state, seeing({ stepResults: [{ kind: 'result', success: true, archived: false }] }))
    expect(early).toMatchObject({ command: { kind: 'prompt' }, effects: [{ name: 'early-1-1.json' }] })
    const again = promptAgain(early.state)
    expect(again).toEqual({
      ...early.state,
      stage: 'between-prompts',
      inWork: [{ ...early.state.inWork[0], out: false }],
    })
    expect(advance(again, seeing({ mayPrompt: false })).command.kind).toBe('wait')
  })

  it('are waited for if they were not observed yet', () => {
    const state = begin({ id: 'a', artifact: 'a.json', steps: { from: 'x.json', pointer: '' } })
    expect(advance(state, seeing()).command.kind).toBe('wait')
  })
})

/** Of a definition without artifacts, inputs and steps. */
const NO_NAMES = { makers: new Set<string>(), inputs: new Set<string>(), hasStepField: () => false }

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
    const state = begin(...[{ id: 'a', steps: ['x'], step_prompt: '[{{artifact}}] {{step_number}}/{{total_steps}}' }])
    const { prompt } = duePrompt(advance(advance(state, seeing()).state, seeing()).state, { task: 't', folder: '/f' })
    expect(prompt).toContain('\n\n[] 1/1\n\n')
    const one = begin(...ONE)
    const [phase] = one.definition.phases
    const changed = {
      ...one,
      definition: { ...one.definition, phases: [{ ...phase, prompt: '{{unknown}}' }] as const },
    }
    expect(duePrompt(changed, { task: 't', folder: '/f' }).prompt).toContain('{{unknown}}')
  })

  it('has a value for every placeholder, in a phase and in its steps', () => {
    const all = `${PLACEHOLDERS.map((name) => `${name}={{${name}}}`).join('\n')}\n`
    const phase = { id: 'a', prompt: all, step_prompt: all, artifact: 'a.md', steps: ['wash up', 'dry'] }
    const place = { task: '7', folder: '/f' }
    const known = advance(begin(...[phase]), seeing()).state
    const first = { step: 0, attempts: 1, outcome: 'done' } as const
    const second = { step: 1, attempts: 1, maxAttempts: 3, out: true, failure: undefined }
    expect(duePrompt({ ...known, inWork: [second], endedSteps: [first] }, place).prompt).toBe(
      [
        'Workflow "flow", task 7: phase "a", step 2 of 2, attempt 2 of 3.',
        [
          ...['workflow=flow', 'task=7', 'task_folder=/f', 'phase=a', 'visit=1', 'attempt=2', 'max_attempts=3'],
          ...[
            'artifact=/f/a.md',
            'previous_artifact=',
            'verdict=',
            'step=dry',
            'step_number=2',
            'total_steps=2',
            'failure=',
          ],
        ].join('\n'),
        'When the step is done, write {"success": true} to the file /f/step-result.json. If it could not be done, write {"success": false, "summary": "<what went wrong>"}.',
        'Then end your turn. The next prompt follows once that file is valid.',
      ].join('\n\n'),
    )
    expect(duePrompt({ ...known, endedSteps: [first, { ...first, step: 1 }] }, place).prompt).toContain(
      'phase=a\nvisit=1\nattempt=1\nmax_attempts=3\nartifact=/f/a.md\nprevious_artifact=\nverdict=\nstep=\nstep_number=\ntotal_steps=2\nfailure=',
    )
  })

  it('has each unknown placeholder reported once, with or without blanks around the name', () => {
    expect(unknownPlaceholders('{{ a b }} {{c}}{{ task }} {{step}} {{a b}} {{  c }}', NO_NAMES)).toEqual(['a b', 'c'])
  })

  it.each([
    [{ check: { min_bytes: 2 } }, ['it must have at least 2 bytes']],
    [{ check: { json: true } }, ['it must be JSON']],
    [{ check: { json_schema: {} } }, ['it must be JSON', 'it must match this JSON Schema: {}']],
    [
      { next: { pass: 'end', fail: 'end', verdict: '/ok' } },
      ['it must be JSON', 'at the JSON pointer /ok it must have true or "pass" if all is well, false or "fail" if not'],
    ],
  ])('with %j lists its demands, and no others', (more, demands) => {
    const { prompt } = duePrompt(begin(...[{ ...ONE[0], ...more }]), { task: 't', folder: '/f' })
    const [, list] = prompt.split('to the file /f/a.json:\n')
    expect(list?.split('\n\n')[0]).toBe(demands.map((one) => `- ${one}`).join('\n'))
  })

  it('lists every demand on the artifact', () => {
    const [phase] = ONE
    const check = { min_bytes: 1, json_schema: { type: 'object' } }
    const state = begin({ ...phase, check, next: { pass: 'end', fail: 'end', verdict: '/ok' } })
    const { prompt } = duePrompt(state, { task: 't', folder: '/f' })
    for (const text of ['at least 1 byte', 'must be JSON', '{"type":"object"}', 'pointer /ok'])
      expect(prompt).toContain(text)
  })

  it('names the check that must succeed, and the command that runs it', () => {
    const state = begin({ ...ONE[0], prompt: 'Do it.', check: { run: 'make test' } })
    const { prompt } = duePrompt(state, { task: '7', folder: '/f', checkCommand: 'postflight workflow check 7' })
    expect(prompt.split('\n\n').slice(2)).toEqual([
      'Write the result of this phase to the file /f/a.json.',
      'Then run `postflight workflow check 7`. It runs the check `make test`, which must succeed; give that shell call enough time. If it fails, fix what it shows and run it again.',
      'Then end your turn. The file and the check decide what comes next, and you will be told. Any change after the check has passed makes the check void.',
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
    const state = advance(begin(...[{ id: 'a', steps: ['wash up'], artifact: 'a.md' }]), seeing()).state
    expect(duePrompt(state, { task: 't', folder: '/f' })).toMatchObject({ step: 1, artifact: 'step-result.json' })
    expect(duePrompt(state, { task: 't', folder: '/f' }).prompt).toContain('Do this step of the work: wash up')
    const after: WorkflowState = { ...state, endedSteps: [{ step: 0, attempts: 1, outcome: 'done' }] }
    expect(duePrompt(after, { task: 't', folder: '/f' }).prompt).toContain('All steps of this phase have ended')
    expect(duePrompt(state, { task: 't', folder: '/f'.repeat(PROMPT_LIMIT) }).prompt).toHaveLength(PROMPT_LIMIT)
    expect(currentPhase(state).id).toBe('a')
  })
})

describe('the standing of phases', () => {
  it('is shown by its colours in the diagram', () => {
    const two = [...ONE, { id: 'b', prompt: 'p', artifact: 'b.md' }]
    const running = begin(...two)
    expect(phaseStatuses(running)).toEqual(['running', 'waiting'])
    const entered = advance(running, seeing({ artifact: { kind: 'valid' } })).state
    expect(phaseStatuses(entered)).toEqual(['done', 'running'])
    expect(phaseStatuses(abortState(entered, NOW))).toEqual(['done', 'failed'])
    expect(phaseStatuses(haltState(entered, 'x', NOW))).toEqual(['done', 'waiting'])
    const done = advance(entered, seeing({ artifact: { kind: 'valid' } })).state
    expect(phaseStatuses(done)).toEqual(['done', 'done'])
    expect(mermaidLines(running.definition, entered)).toEqual([
      'flowchart TD',
      '  start(( )) --> p_a',
      '  p_a["a<br/>a.json"]',
      '  p_a --> p_b',
      '  p_b["b<br/>b.md"]',
      '  p_b --> finish',
      '  finish(("end"))',
      '  classDef done fill:#d3f9d8,stroke:#2b8a3e',
      '  classDef running fill:#fff3bf,stroke:#e67700',
      '  classDef failed fill:#ffe3e3,stroke:#c92a2a',
      '  classDef skipped fill:#ffffff,stroke:#e67700,stroke-dasharray:4',
      '  classDef waiting fill:#f1f3f5,stroke:#868e96',
      '  class p_a done',
      '  class p_b running',
    ])
    expect(mermaidLines(done.definition, done)).toContain('  finish(("completed"))')
  })
})

describe('sentences', () => {
  it('about an end name the command that continues the run, if there is one', () => {
    expect(WORKFLOW_TEXT.ended('7', 'completed', undefined, 'r')).toBe(
      'postflight-guard: the workflow of task 7 has ended (completed).',
    )
    expect(WORKFLOW_TEXT.ended('7', 'aborted', undefined, 'r')).not.toContain('continues')
    expect(WORKFLOW_TEXT.ended('7', 'stalled', 'spent', 'r')).toBe(
      'postflight-guard: the workflow of task 7 has ended (stalled): spent. `r` continues it.',
    )
  })

  it.each([
    [undefined, undefined, 'Hand the following to a sub-agent, word for word'],
    ['worker', undefined, 'a sub-agent of the type worker, word'],
    [undefined, 'small', 'a sub-agent with the model small, word'],
    ['worker', 'small', 'a sub-agent of the type worker with the model small, word'],
  ])('hand a prompt to the agent type %s with the model %s', (agent, model, text) => {
    expect(PROMPT_TEXT.dispatch(agent, model)).toContain(text)
  })

  it('have the singular for one byte', () => {
    expect([PROMPT_TEXT.minBytes(1), PROMPT_TEXT.minBytes(2)]).toEqual([
      'it must have at least 1 byte',
      'it must have at least 2 bytes',
    ])
  })
})

it('every sentence stays on one line, whatever its values', () => {
  const hostile = 'x\n\u001b[31m'
  const target = (id: string): string => RULE_TEXT.target(id, [id])
  const field = (name: string): string => unknownField(name, [name])
  const sentences = [WORKFLOW_TEXT, { ...RULE_TEXT, target, field }].flatMap((table) =>
    Object.values(table).map((text) =>
      typeof text === 'function' ? (text as (...words: string[]) => string)(hostile, hostile, hostile, hostile) : text,
    ),
  )
  for (const sentence of sentences) expect(sentence.replaceAll(hostile, '')).toMatch(/^[^\n\u001b]*$/)
})

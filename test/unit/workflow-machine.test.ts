import { describe, expect, it } from 'vitest'
import { RULE_TEXT } from '../../src/core/messages/definitions.ts'
import { definitionSize, PROMPT_TEXT, WORKFLOW_TEXT } from '../../src/core/messages/runs.ts'
import {
  abortState,
  hadAskedBefore,
  haltState,
  isResumable,
  MAX_REPEATS,
  promptAgain,
  repeatPrompt,
  requestStop,
  resumeState,
} from '../../src/core/workflow/control.ts'
import { advance, currentPhase } from '../../src/core/workflow/machine.ts'
import { mermaidLines, phaseStandings } from '../../src/core/workflow/mermaid.ts'
import { duePrompt, PLACEHOLDERS, PROMPT_LIMIT, unknownPlaceholders } from '../../src/core/workflow/prompt.ts'
import type { WorkflowState } from '../../src/core/workflow/state.ts'
import { begin, NOBODY, NOW, seeing } from './workflow-builders.ts'

const ONE = [
  { id: 'a', prompt: 'Do {{task}} in {{ phase }}, {{failure}}{{step}}', artifact: 'a.json', max_attempts: 1 },
]

describe('a stop request', () => {
  it('between two phases stops at once; while one runs, when it is through; after the last it is too late', () => {
    const fresh = requestStop(begin(...ONE), NOW)
    expect(requestStop(fresh, NOW)).toBe(fresh)
    expect(advance(fresh, seeing()).state).toMatchObject({ active: false, outcome: 'stopped' })
    const running = requestStop(advance(begin(...ONE), seeing()).state, NOW)
    expect(advance(running, seeing({ returned: false })).command.kind).toBe('wait')
    expect(advance(running, seeing({ artifact: { kind: 'valid' } })).state.outcome).toBe('completed')
  })

  it('is kept when the phase is through, and the next one is not entered', () => {
    const two = [...ONE, { id: 'b', prompt: 'p', artifact: 'b.md' }]
    const running = requestStop(advance(begin(...two), seeing()).state, NOW)
    const { state, command } = advance(running, seeing({ artifact: { kind: 'valid' } }))
    expect(command.kind).toBe('finish')
    expect(state).toMatchObject({ active: false, outcome: 'stopped', phase: 'a', stopRequestedMs: undefined })
    const resumed = resumeState(state, NOBODY, seeing())
    expect(advance(resumed, seeing({ artifact: { kind: 'valid' } })).state).toMatchObject({ active: true, phase: 'b' })
  })
})

describe('who drives a run that is taken up again', () => {
  const HAD = { parentSession: 'parent', hostSession: 'host' }
  const halted = { ...haltState(begin(...ONE), 'why', NOW), ...HAD }

  it.each([
    ['nobody who is known: those it had', NOBODY, HAD],
    ['nobody who is known, with a parent', { ...NOBODY, parentSession: 'new' }, { ...HAD, parentSession: 'new' }],
    ['another session', { parentSession: 'p2', hostSession: 'h2' }, { parentSession: 'p2', hostSession: 'h2' }],
    ['another without a parent', { ...NOBODY, hostSession: 'h2' }, { ...NOBODY, hostSession: 'h2' }],
  ])('%s', (_who, who, expected) => {
    expect(resumeState(halted, who, seeing())).toMatchObject(expected)
  })

  it('is still nobody where it had none', () => {
    expect(resumeState(haltState(begin(...ONE), 'why', NOW), NOBODY, seeing())).toMatchObject(NOBODY)
  })
})

describe('counts', () => {
  it('of one and of several are said as people say them', () => {
    expect(WORKFLOW_TEXT.visitsSpent('a', 1)).toContain('was entered once already')
    expect(WORKFLOW_TEXT.visitsSpent('a', 2)).toContain('was entered 2 times already')
    expect(WORKFLOW_TEXT.exhausted(1, 'why')).toBe('1 attempt came to nothing: why')
    expect(WORKFLOW_TEXT.exhausted(2, 'why')).toBe('2 attempts came to nothing, the last one: why')
    expect(WORKFLOW_TEXT.stepExhausted(3, 1, 'why')).toBe('step 3 failed once: why')
    expect(WORKFLOW_TEXT.tooSmall('a', 1, 2)).toBe('a has 1 byte, and must have at least 2')
    expect(definitionSize(2, 3)).toBe('2 phases, at most 3 prompts')
  })
})

describe('somebody who asks', () => {
  const out = advance(begin(...ONE), seeing()).state

  it('since before the prompt went out has not come back with it; later, or when nothing is out, it may have', () => {
    expect(hadAskedBefore(out, NOW - 1)).toBe(true)
    expect(hadAskedBefore(out, NOW)).toBe(false)
    expect(hadAskedBefore(promptAgain(out), NOW - 1)).toBe(false)
    expect(hadAskedBefore(begin(...ONE), NOW - 1)).toBe(false)
    expect(hadAskedBefore(abortState(out, NOW), NOW - 1)).toBe(false)
  })

  it('too often has: a clock that was set back must not keep an agent for ever', () => {
    let state = out
    for (let count = 0; count < MAX_REPEATS; count++) {
      expect(hadAskedBefore(state, NOW - 1)).toBe(true)
      state = repeatPrompt(state)
    }
    expect(hadAskedBefore(state, NOW - 1)).toBe(false)
  })
})

describe('what ended', () => {
  it('is finished however often it is asked, and cannot be stopped, aborted or halted again', () => {
    const ended = abortState(begin(...ONE), NOW)
    expect(advance(ended, seeing())).toEqual({ state: ended, command: { kind: 'finish' }, effects: [] })
    expect([requestStop(ended, NOW), abortState(ended, NOW), haltState(ended, 'x', NOW)]).toEqual([ended, ended, ended])
    expect(isResumable(ended)).toBe(false)
    for (const outcome of ['stopped', 'stalled', 'failed'] as const) {
      expect(isResumable({ ...ended, outcome })).toBe(true)
    }
    expect(isResumable({ ...ended, outcome: 'completed' })).toBe(false)
  })

  it('but could be taken up again can be aborted: then it cannot', () => {
    const aborted = abortState(haltState(begin(...ONE), 'why', NOW), NOW)
    expect(aborted).toMatchObject({ active: false, outcome: 'aborted', why: undefined })
    expect(isResumable(aborted)).toBe(false)
  })

  it('by spent attempts or visits is given as many again by resume', () => {
    const asked = advance(begin(...ONE), seeing()).state
    const { state: stalled } = advance(asked, seeing())
    expect(stalled).toMatchObject({ outcome: 'stalled', phaseAttempts: 1 })
    const resumed = resumeState(stalled, NOBODY, seeing())
    expect(resumed).toMatchObject({ active: true, phaseAttempts: 1, maxPhaseAttempts: 2 })
    const loop = [{ ...ONE[0], next: 'a', max_visits: 1 }]
    const { state: failed } = advance(advance(begin(...loop), seeing()).state, seeing({ artifact: { kind: 'valid' } }))
    expect(failed).toMatchObject({ outcome: 'failed', why: expect.stringContaining('max_visits') })
    const again = advance(resumeState(failed, NOBODY, seeing()), seeing({ artifact: { kind: 'valid' } }))
    expect(again.state).toMatchObject({ active: true, clearing: true, visits: { a: 2 } })
  })

  it('by a verdict is judged anew by resume, unless the verdict is another one by then', () => {
    const judged = [{ ...ONE[0], next: { pass: 'end', fail: 'end', verdict: '/ok' } }]
    const failing = seeing({ artifact: { kind: 'valid', verdict: 'fail' } })
    const { state: failed } = advance(advance(begin(...judged), seeing()).state, failing)
    expect(failed).toMatchObject({ active: false, outcome: 'failed', why: expect.stringContaining('"fail"') })
    expect(resumeState(failed, NOBODY, failing)).toMatchObject({ clearing: true, prompted: false, visits: { a: 2 } })
    const passing = seeing({ artifact: { kind: 'valid', verdict: 'pass' } })
    expect(advance(resumeState(failed, NOBODY, passing), passing).state.outcome).toBe('completed')
  })

  it('for want of visits of where its verdict leads is not judged anew', () => {
    const loop = [{ ...ONE[0], next: { pass: 'end', fail: 'a', verdict: '/ok' }, max_visits: 1 }]
    const failing = seeing({ artifact: { kind: 'valid', verdict: 'fail' } })
    const { state: failed } = advance(advance(begin(...loop), seeing()).state, failing)
    expect(failed.why).toContain('max_visits')
    const resumed = resumeState(failed, NOBODY, failing)
    expect(resumed).toMatchObject({ clearing: false, visits: { a: 1 }, visitsGranted: 1 })
    expect(advance(resumed, failing).state.visits).toEqual({ a: 2 })
  })

  it('by halt can be resumed; a step that stops the run too', () => {
    expect(isResumable(haltState(begin(...ONE), 'why', NOW))).toBe(true)
    const steps = [{ id: 'a', steps: ['x'], max_step_attempts: 1, on_exhausted: 'stop' }]
    let state = advance(advance(begin(...steps), seeing()).state, seeing()).state
    expect(state.prompted).toBe(true)
    state = advance(
      state,
      seeing({ stepResult: { kind: 'result', success: false, summary: 'no', archived: false } }),
    ).state
    expect(state).toMatchObject({ outcome: 'failed', why: 'step 1 failed once: no' })
    expect(resumeState(state, NOBODY, seeing())).toMatchObject({ stepAttempts: 1, maxStepAttempts: 2 })
  })
})

describe('steps', () => {
  it('a result that nobody asked for yet is put beside, not taken', () => {
    const state = advance(begin(...[{ id: 'a', steps: ['x'] }]), seeing()).state
    const early = advance(state, seeing({ stepResult: { kind: 'result', success: true, archived: false } }))
    expect(early).toMatchObject({ command: { kind: 'prompt' }, effects: [{ name: 'early-1-1.json' }] })
    expect(advance(promptAgain(early.state), seeing({ mayPrompt: false })).command.kind).toBe('wait')
  })

  it('that are not looked for yet are waited for', () => {
    const state = begin({ id: 'a', artifact: 'a.json', steps: { from: 'x.json', pointer: '' } })
    expect(advance(state, seeing()).command.kind).toBe('wait')
  })
})

describe('a prompt', () => {
  it('says what to do, what to leave where, and what was wrong; values are not templates', () => {
    const state: WorkflowState = { ...begin(...ONE), lastFailure: 'it said {{task}}\u001b[31m' }
    const { prompt } = duePrompt(state, { task: '007_x', folder: '/p/specs/007_x' })
    expect(prompt).toBe(
      [
        'Workflow "flow", task 007_x: phase "a", attempt 1 of 1.',
        'Do 007_x in a, it said {{task}}[31m',
        'What was wrong the last time: it said {{task}}[31m',
        'Leave the result of this phase as the file /p/specs/007_x/a.json.',
        'Then end your turn. What comes next is decided by that file alone; you will be told.',
      ].join('\n\n'),
    )
  })

  it('leaves what is no placeholder, and has nothing to say of an artifact that is not asked for', () => {
    const state = begin(...[{ id: 'a', steps: ['x'], step_prompt: '[{{artifact}}] {{step_number}}/{{total_steps}}' }])
    const { prompt } = duePrompt(advance(advance(state, seeing()).state, seeing()).state, { task: 't', folder: '/f' })
    expect(prompt).toContain('\n\n[] 1/1\n\n')
    const one = begin(...ONE)
    const [phase] = one.definition.phases
    const changed = {
      ...one,
      definition: { ...one.definition, phases: [{ ...phase, prompt: '{{nobody}}' }] as const },
    }
    expect(duePrompt(changed, { task: 't', folder: '/f' }).prompt).toContain('{{nobody}}')
  })

  it('has a value for every placeholder, in a phase and in its steps', () => {
    const all = `${PLACEHOLDERS.map((name) => `${name}={{${name}}}`).join('\n')}\n`
    const phase = { id: 'a', prompt: all, step_prompt: all, artifact: 'a.md', steps: ['wash up', 'dry'] }
    const place = { task: '7', folder: '/f' }
    const known = advance(begin(...[phase]), seeing()).state
    expect(duePrompt({ ...known, currentStep: 1, stepAttempts: 1 }, place).prompt).toBe(
      [
        'Workflow "flow", task 7: phase "a", step 2 of 2, attempt 2 of 3.',
        [
          ...['workflow=flow', 'task=7', 'task_folder=/f', 'phase=a', 'visit=1', 'attempt=2', 'max_attempts=3'],
          ...['artifact=/f/a.md', 'step=dry', 'step_number=2', 'total_steps=2', 'failure='],
        ].join('\n'),
        'When the step is done, leave the file /f/step-result.json with {"success": true}. If it could not be done: {"success": false, "summary": "<what went wrong>"}.',
        'Then end your turn. What comes next is decided by that file alone; you will be told.',
      ].join('\n\n'),
    )
    expect(duePrompt({ ...known, currentStep: 2 }, place).prompt).toContain(
      'phase=a\nvisit=1\nattempt=1\nmax_attempts=3\nartifact=/f/a.md\nstep=\nstep_number=\ntotal_steps=2\nfailure=',
    )
  })

  it('of a template with unknown names is known by them, each once, whatever blanks surround them', () => {
    expect(unknownPlaceholders('{{ a b }} {{c}}{{ task }} {{step}} {{a b}} {{  c }}')).toEqual(['a b', 'c'])
  })

  it.each([
    [{ check: { min_bytes: 2 } }, ['it must have at least 2 bytes']],
    [{ check: { json: true } }, ['it must be JSON']],
    [{ check: { json_schema: {} } }, ['it must be JSON', 'it must fit this JSON Schema: {}']],
    [
      { next: { pass: 'end', fail: 'end', verdict: '/ok' } },
      [
        'it must be JSON',
        'at the JSON pointer /ok it must say true or "pass" when all is well, false or "fail" when it is not',
      ],
    ],
  ])('with %j demands what follows from it, and no more', (more, demands) => {
    const { prompt } = duePrompt(begin(...[{ ...ONE[0], ...more }]), { task: 't', folder: '/f' })
    const [, list] = prompt.split('as the file /f/a.json:\n')
    expect(list?.split('\n\n')[0]).toBe(demands.map((one) => `- ${one}`).join('\n'))
  })

  it('names every demand of the artifact', () => {
    const [phase] = ONE
    const check = { min_bytes: 1, json_schema: { type: 'object' } }
    const state = begin({ ...phase, check, next: { pass: 'end', fail: 'end', verdict: '/ok' } })
    const { prompt } = duePrompt(state, { task: 't', folder: '/f' })
    for (const text of ['at least 1 byte', 'must be JSON', '{"type":"object"}', 'pointer /ok'])
      expect(prompt).toContain(text)
  })

  it('has standard words for steps without a template, and for what follows them; it is cut', () => {
    const state = advance(begin(...[{ id: 'a', steps: ['wash up'], artifact: 'a.md' }]), seeing()).state
    expect(duePrompt(state, { task: 't', folder: '/f' })).toMatchObject({ step: 1, artifact: 'step-result.json' })
    expect(duePrompt(state, { task: 't', folder: '/f' }).prompt).toContain('Do this step of the work: wash up')
    const after = { ...state, currentStep: 1 }
    expect(duePrompt(after, { task: 't', folder: '/f' }).prompt).toContain('The steps of this phase are through')
    expect(duePrompt(state, { task: 't', folder: '/f'.repeat(PROMPT_LIMIT) }).prompt).toHaveLength(PROMPT_LIMIT)
    expect(currentPhase(state).id).toBe('a')
  })
})

describe('how phases stand', () => {
  it('shows in the picture and in the diagram', () => {
    const two = [...ONE, { id: 'b', prompt: 'p', artifact: 'b.md' }]
    const running = begin(...two)
    expect(phaseStandings(running)).toEqual(['running', 'waiting'])
    const entered = advance(running, seeing({ artifact: { kind: 'valid' } })).state
    expect(phaseStandings(entered)).toEqual(['done', 'running'])
    expect(phaseStandings(abortState(entered, NOW))).toEqual(['done', 'failed'])
    expect(phaseStandings(haltState(entered, 'x', NOW))).toEqual(['done', 'waiting'])
    const done = advance(entered, seeing({ artifact: { kind: 'valid' } })).state
    expect(phaseStandings(done)).toEqual(['done', 'done'])
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
      '  classDef waiting fill:#f1f3f5,stroke:#868e96',
      '  class p_a done',
      '  class p_b running',
    ])
    expect(mermaidLines(done.definition, done)).toContain('  finish(("completed"))')
  })
})

describe('sentences', () => {
  it('of an end name what goes on with it, where something does', () => {
    expect(WORKFLOW_TEXT.ended('7', 'completed', undefined, 'r')).toBe(
      'postflight-guard: the workflow of task 7 is completed.',
    )
    expect(WORKFLOW_TEXT.ended('7', 'aborted', undefined, 'r')).not.toContain('goes on')
    expect(WORKFLOW_TEXT.ended('7', 'stalled', 'spent', 'r')).toBe(
      'postflight-guard: the workflow of task 7 is stalled: spent. `r` goes on with it.',
    )
  })

  it.each([
    [undefined, undefined, 'Hand the following to a sub-agent, word for word'],
    ['worker', undefined, 'a sub-agent of the type worker, word'],
    [undefined, 'small', 'a sub-agent with the model small, word'],
    ['worker', 'small', 'a sub-agent of the type worker with the model small, word'],
  ])('hand on to %s and %s', (agent, model, text) => {
    expect(PROMPT_TEXT.dispatch(agent, model)).toContain(text)
  })

  it('count', () => {
    expect([PROMPT_TEXT.minBytes(1), PROMPT_TEXT.minBytes(2)]).toEqual([
      'it must have at least 1 byte',
      'it must have at least 2 bytes',
    ])
  })
})

it('every sentence stays on its line, whatever is put in', () => {
  const hostile = 'x\n\u001b[31m'
  const sentences = [WORKFLOW_TEXT, RULE_TEXT].flatMap((table) =>
    Object.values(table).map((text) =>
      typeof text === 'function' ? (text as (...words: string[]) => string)(hostile, hostile, hostile, hostile) : text,
    ),
  )
  for (const sentence of sentences) expect(sentence.replaceAll(hostile, '')).toMatch(/^[^\n\u001b]*$/)
})

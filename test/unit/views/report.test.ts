import { describe, expect, it } from 'vitest'
import { readDefinition } from '../../../src/run/definition/definition.ts'
import { enter, type WorkflowState, withTransition } from '../../../src/run/machine/state.ts'
import { composeReport, MAX_TASKS, storyLines } from '../../../src/views/report/compose.ts'
import { reportPage } from '../../../src/views/report/page/page.ts'
import { clock, duration, scaleOf } from '../../../src/views/report/page/track.ts'
import type { Report, ReportMarker, TaskStory } from '../../../src/views/report/story.ts'
import { statusLine } from '../../../src/views/status-line.ts'
import { reportDefinition, reportRun } from '../../support/report-project.ts'
import { CREATED, type Entry, MINUTE, reportMarker as marker, NOW, reportOf, TASK, WORK } from './report-builders.ts'

const statuses = ({ tasks }: Report): string[] => tasks.flatMap(({ markers }) => markers.map(({ status }) => status))

describe('the story of a marker', () => {
  it.each<[string, readonly Entry[], readonly ReportMarker[], readonly string[]]>([
    ['created and cleared', [CREATED, [1, 'clear', { markerId: 'pf_1' }]], [], ['cleared']],
    [
      'cleared without its checks: the marker that was kept belongs to it',
      [CREATED, [1, 'clear', { outcome: 'unchecked', markerId: 'pf_1' }]],
      [marker({ state: 'unchecked' })],
      ['unchecked'],
    ],
    ['given up', [CREATED, [1, 'cap', { markerId: 'pf_1' }]], [marker({ state: 'abandoned' })], ['abandoned']],
    ['given up and cleared later', [CREATED, [1, 'cap'], [2, 'clear', { markerId: 'pf_1' }]], [], ['cleared']],
    ['bypassed', [CREATED, [1, 'bypass']], [], ['bypassed']],
    ['pending', [CREATED], [marker()], ['pending']],
    ['waiting', [CREATED, [1, 'wait']], [marker({ waitsFor: 'x' })], ['waiting']],
    ['waiting, as only the marker says', [], [marker({ waitsFor: 'x' })], ['waiting']],
    ['expired', [], [marker({ state: 'expired', madeMs: undefined })], ['expired']],
    ['removed by hand: neither an end nor a marker', [CREATED], [], ['removed']],
    [
      'replaced by another marker',
      [CREATED, [1, 'create', { markerId: 'pf_2' }]],
      [marker({ id: 'pf_2' })],
      ['replaced', 'pending'],
    ],
    ['renewed: the same marker', [CREATED, [1, 'create', { markerId: 'pf_1' }]], [marker()], ['pending']],
    ['of plain bash, known only by its block', [[5, 'block', { count: 1 }]], [marker({ id: undefined })], ['pending']],
    ['of a marker whose id the journal does not know', [CREATED], [marker({ id: 'pf_9' })], ['removed', 'pending']],
  ])('%s', (_, entries, markers, expected) => {
    expect(statuses(reportOf(entries, markers)).sort()).toEqual([...expected].sort())
  })

  it('counts its blocks and its waits, and says what happened', () => {
    const [task] = reportOf(
      [
        [0, 'create', { markerId: 'pf_1', hostSession: 's', agent: 'main' }],
        [1, 'block', { count: 1 }],
        [2, 'block'],
        [3, 'wait', { detail: 'answers' }],
        [4, 'wait', { detail: 'answers' }],
        [9, 'wait-end', { detail: 'answers' }],
        [10, 'wait-end', { detail: 'answers' }],
        [11, 'check', { markerId: 'pf_1', detail: 'failed: npm test' }],
        [11, 'step', { detail: 'done: git commit' }],
        [12, 'clear', { outcome: 'cleared' }],
      ],
      [],
    ).tasks as [TaskStory]
    const [marker] = task.markers
    expect(marker).toMatchObject({ blocks: 2, agent: 'main', session: 's', operation: undefined })
    expect(marker?.waits).toEqual([{ startMs: NOW - 57 * MINUTE, endMs: NOW - 51 * MINUTE }])
    expect(marker?.events.map(({ words }) => words)).toEqual([
      'marker created',
      'stop blocked: 1 of 3',
      'stop blocked',
      'waits: answers',
      'waits: answers',
      'the wait ended: answers',
      'the wait ended: answers',
      'check failed: npm test',
      'step done: git commit',
      'cleared',
    ])
  })

  it('is not made of the waits of a run', () => {
    const [task] = reportOf(
      [
        [2, 'wait', { markerId: 'wf_1', detail: 'a person' }],
        [3, 'wait-end', { detail: 'a person' }],
      ],
      [marker({ id: undefined })],
    ).tasks
    expect(task?.markers.map(({ status, events }) => ({ status, events }))).toEqual([{ status: 'pending', events: [] }])
  })

  it('begins when the marker says, where the journal knows only a part', () => {
    const [task] = reportOf([[30, 'block', { count: 1 }]], [marker({ id: undefined })]).tasks
    expect(task?.markers[0]?.startMs).toBe(NOW - 60 * MINUTE)
  })
})

describe('a report', () => {
  it('has the task of the last change first, and leaves the oldest of very many out', () => {
    const entries = Array.from(
      { length: MAX_TASKS + 2 },
      (_, index): Entry => [index % 50, 'create', { markerId: `pf_${index}`, task: `${100 + index}_x` }],
    )
    const report = reportOf(entries)
    expect(report.tasks).toHaveLength(MAX_TASKS)
    expect(report.leftOut).toBe(2)
    expect(report.tasks[0]?.endMs).toBeGreaterThanOrEqual(report.tasks.at(-1)?.endMs ?? 0)
    expect(reportPage(report)).toContain('2 older tasks left out')
    expect(storyLines(report, { bold: (text) => text }).at(-1)).toContain('2 older tasks left out')
  })

  it('orders tasks of one time by name', () => {
    const report = reportOf([
      [0, 'create', { task: 'b' }],
      [0, 'create', { task: 'a' }],
    ])
    expect(report.tasks.map(({ task }) => task)).toEqual(['a', 'b'])
  })

  it('keeps errors apart, and passes over lines without a time or a task', () => {
    const report = composeReport({
      ...{ root: '/', nowMs: NOW, markers: [], runs: [] },
      journal: [
        { event: 'create', time: 7, task: TASK },
        { event: 'create', time: 'yesterday', task: TASK },
        { event: 'create', time: '2026-11-22T10:00:00Z' },
        { event: 'error', time: '2026-11-22T10:00:00Z', detail: 'disk full' },
        { event: 'workflow', time: '2026-11-22T10:00:00Z', task: TASK, detail: 'x' },
      ],
    })
    expect(report.tasks).toEqual([])
    expect(report.others.map(({ words, task }) => [words, task])).toEqual([['error: disk full', undefined]])
    expect(storyLines(report, { bold: (text) => text })).toEqual([
      'Other events',
      expect.stringMatching(/ {2}error: disk full$/),
    ])
    expect(reportPage(report)).toContain('<span>error: disk full</span>')
  })

  it('says where there is nothing', () => {
    const empty = reportOf([])
    expect(storyLines(empty, { bold: (text) => text })).toEqual(['No markers and no runs here yet.'])
    expect(reportPage(empty)).toContain('No markers and no runs here yet.')
  })
})

describe('the story of a run', () => {
  const storyOf = (state: WorkflowState, history = state.history) =>
    reportOf([], [], [{ task: TASK, state, history }]).tasks[0]?.runs[0]

  it('has the time in each phase, the attempts and the result of each step', () => {
    const run = storyOf(reportRun(NOW - 60 * MINUTE, 'completed'))
    expect(run).toMatchObject({ status: 'completed', why: undefined, waitsFor: undefined })
    expect(run?.phases.map(({ id, status, prompts }) => [id, status, prompts])).toEqual([
      ['research', 'done', 1],
      ['plan', 'done', 1],
      ['implement', 'done', 5],
      ['review', 'done', 1],
    ])
    expect(run?.phases[2]?.steps.at(-1)?.steps.map(({ name, attempts, result }) => [name, attempts, result])).toEqual([
      ['parser', 1, 'done'],
      ['command line', 2, 'done'],
      ['documentation', 1, 'done'],
      ['tests', 1, 'done'],
    ])
    expect(run?.phases[3]?.check).toBe('npm test')
    expect(run?.visits.map(({ phase, result }) => `${phase} ${result}`)).toEqual([
      'research passed',
      'plan passed',
      'implement passed',
      'review passed',
    ])
  })

  it.each<[string, Partial<WorkflowState>, string]>([
    ['running', {}, 'running'],
    ['waiting', { wait: { for: 'answers', count: 1 } }, 'waiting'],
    ['waiting for an approval', { approval: { standing: 'asked', note: undefined } }, 'waiting'],
    ['rejected', { approval: { standing: 'rejected', note: 'no' } }, 'running'],
    ['completed with skips', { active: false, outcome: 'completed', skips: 1 }, 'skipped'],
    ['stopped', { active: false, outcome: 'stopped' }, 'stopped'],
    ['without an outcome', { active: false }, 'stopped'],
    ['aborted', { active: false, outcome: 'aborted' }, 'aborted'],
  ])('that is %s', (_, more, expected) => {
    const state = { ...reportRun(NOW - 60 * MINUTE, undefined), ...more }
    const run = storyOf(state)
    expect(run?.status).toBe(expected)
    expect(reportPage(reportOf([], [], [{ task: TASK, state, history: state.history }]))).toContain('class="graph"')
  })

  it('is resumed: the same visit of a phase goes on, and steps may fail or be given up', () => {
    let state = reportRun(NOW - 60 * MINUTE, 'stalled')
    const note = (event: 'resume' | 'fail' | 'prompt' | 'step-skipped' | 'step-failed', more: object = {}): void => {
      state = withTransition(state, { event, phase: state.phase, ...more }, state.updatedMs + MINUTE)
    }
    state = { ...state, active: true, outcome: undefined, why: undefined }
    note('resume')
    note('fail')
    const implement = state.definition.phases[2]
    if (implement === undefined) throw new Error('no such phase')
    state = enter(state, implement, state.updatedMs)
    for (const step of [1, 2]) note('prompt', { step, attempt: 1 })
    note('step-skipped', { step: 1, detail: 'too hard' })
    note('step-failed', { step: 2, detail: 'red' })
    const run = storyOf(state)
    expect(run?.visits.map(({ phase, result }) => `${phase} ${result}`).slice(3)).toEqual([
      'review stuck',
      'review failed',
      'implement running',
    ])
    expect(run?.phases[2]?.steps.at(-1)?.steps.map(({ result }) => result)).toEqual([
      'skipped',
      'failed',
      'open',
      'open',
    ])
    const page = reportPage(reportOf([], [], [{ task: TASK, state, history: state.history }]))
    expect(page).toContain('2 ×')
    expect(page).toContain('given up (too hard)')
  })

  it('waits for a person, who is named in what needs attention', () => {
    const state: WorkflowState = {
      ...reportRun(NOW - 60 * MINUTE, undefined),
      approval: { standing: 'asked', note: undefined },
    }
    expect(storyOf(state)?.waitsFor).toBe(`a person to approve the result of ${state.phase}`)
    const page = reportPage(reportOf([], [], [{ task: TASK, state, history: state.history }]))
    expect(/Needs attention.*?<\/ul>/s.exec(page)?.[0]).toContain('waiting</span>')
  })

  it('tells what a person did, and the verdict that led on', () => {
    let state = reportRun(NOW - 60 * MINUTE, undefined)
    const begun = state.history.length
    for (const transition of [
      { event: 'approval' },
      { event: 'rejected', detail: 'too short' },
      { event: 'approved' },
      { event: 'pass', verdict: 'bug', detail: 'it crashes' },
      { event: 'end', outcome: 'stopped' },
    ] as const) {
      state = withTransition(state, { phase: 'review', ...transition }, NOW)
    }
    expect(
      storyOf(state)
        ?.events.slice(begun)
        .map(({ words, tone }) => [words, tone]),
    ).toEqual([
      ['review: waits for approval', 'wait'],
      ['review: rejected (too short)', 'warn'],
      ['review: approved', 'good'],
      ['review: passed (verdict bug: it crashes)', 'good'],
      ['review: ended (stopped)', 'plain'],
    ])
  })

  it('has a step open again after it was retried', () => {
    let state = reportRun(NOW - 60 * MINUTE, undefined)
    const implement = state.definition.phases[2]
    if (implement === undefined) throw new Error('no such phase')
    state = enter(state, implement, NOW)
    for (const event of ['prompt', 'step-failed', 'step-skipped', 'step-again'] as const) {
      state = withTransition(state, { event, phase: 'implement', step: 1, attempt: 1 }, NOW)
    }
    expect(storyOf(state)?.phases[2]?.steps.at(-1)?.steps[0]?.result).toBe('open')
  })

  it('that is resumed from another phase has no visit of the one that it was in', () => {
    let state = reportRun(NOW - 60 * MINUTE, 'stalled')
    const [research] = state.definition.phases
    const before = storyOf(state)?.visits.length
    state = withTransition({ ...state, active: true, outcome: undefined }, { event: 'resume', phase: state.phase }, NOW)
    state = enter(state, research, NOW)
    expect(
      storyOf(state)
        ?.visits.slice(before)
        .map(({ phase, result }) => `${phase} ${result}`),
    ).toEqual(['research running'])
  })

  it('whose steps come from an artifact has their names in the phase in progress, and where the history lacks them only there', () => {
    const phase = (id: string): object => ({
      ...{ id, gate: 'strict', max_attempts: 3, max_visits: 1, max_step_attempts: 3, on_exhausted: 'skip' },
      ...{ steps: { from: 'plan.json', pointer: '/steps' }, step_prompt: 'p', next: { pass: 'b', fail: 'b' } },
    })
    const definition = readDefinition({
      name: 'n',
      phases: [phase('a'), { ...phase('b'), next: { pass: 'end', fail: 'end' } }],
    })
    if (definition === undefined) throw new Error('not sound')
    const start = {
      ...reportRun(NOW - 60 * MINUTE, undefined),
      ...{ definition, phase: 'a', visits: { a: 1 }, history: [] },
    }
    const noted = withTransition(start, { event: 'prompt', phase: 'a', step: 1, attempt: 1 }, NOW)
    const state = { ...noted, takenSteps: ['one', 'two'] }
    expect(
      storyOf(state)?.phases.map(({ steps }) => steps.flatMap((one) => one.steps).map(({ name }) => name)),
    ).toEqual([['one', 'two'], []])
    const later = { ...state, phase: 'b', visits: { a: 1, b: 1 }, takenSteps: undefined }
    expect(
      storyOf(later)?.phases.map(({ steps }) => steps.flatMap((one) => one.steps).map(({ name }) => name)),
    ).toEqual([[undefined], []])
    expect(reportPage(reportOf([], [], [{ task: TASK, state: later, history: later.history }]))).toContain('step 1')
  })
})

describe('the page', () => {
  it('has what a marker and a run need', () => {
    const state = reportRun(NOW - 50 * MINUTE, 'stalled')
    const report = reportOf(
      [
        [0, 'create', { markerId: 'pf_1', agent: 'a1' }],
        [4, 'wait', { detail: 'answers' }],
      ],
      [
        marker({
          waitsFor: 'answers',
          skill: 'skill-x',
          ...WORK,
        }),
      ],
      [{ task: TASK, state, history: state.history }],
    )
    const page = reportPage(report)
    for (const text of [
      'check: npm test, failed the last time (exit code 1)',
      'check: npm run lint</li>',
      '<li class="done">one</li>',
      'agent a1',
      'skill-x',
      'phase &quot;review&quot;: 3 attempts failed',
      '<h1>project</h1>',
    ]) {
      expect(page).toContain(text)
    }
    expect(storyLines(report, { bold: (text) => text }).join('\n')).toContain('Marker pf_1: waiting')
  })

  it('folds long lists, and leaves out the earliest events of very many', () => {
    let state = reportRun(NOW - 50 * MINUTE, undefined)
    for (let count = 0; count < 200; count++) state = withTransition(state, { event: 'retry', phase: 'implement' }, NOW)
    const history = Array.from({ length: 200 }, (_, index) => ({
      ...{ n: index, timeMs: NOW - index * 500_000, event: 'retry' as const, phase: 'implement' },
    })).reverse()
    const page = reportPage(reportOf([], [], [{ task: TASK, state, history }]))
    expect(page).toContain('50 earlier events left out')
    // A new day begins with its date.
    expect(page).toMatch(/<time>2026-11-22 00:\d\d:\d\d<\/time>/)

    const many = reportOf(
      Array.from({ length: 40 }, (_, index): Entry => [index, 'cap', { markerId: `pf_${index}`, task: `${index}_x` }]),
    )
    expect(reportPage(many)).toContain('<summary>10 more</summary>')
    expect(reportPage(many)).toContain('<summary>32 more</summary>')
  })

  it('draws forty phases, and counts the others', () => {
    const phases = Array.from({ length: 45 }, (_, index) => ({
      ...{
        id: `p${index}`,
        prompt: 'p',
        artifact: index % 2 === 0 ? `a${index}.md` : 'a-rather-long-path/of-an-artifact.md',
      },
      ...{ gate: 'strict', max_attempts: 3, max_visits: 3, max_step_attempts: 3, on_exhausted: 'skip' },
      // Some lead over several phases, back, or to the end.
      next: {
        pass: index === 44 ? 'end' : `p${index + 1}`,
        fail: index % 3 === 0 ? 'end' : `p${Math.max(0, index - 3)}`,
        verdict: '/ok',
      },
    }))
    const definition = readDefinition({ name: 'long', phases })
    if (definition === undefined) throw new Error('not sound')
    const state = { ...reportRun(NOW - 50 * MINUTE, undefined), definition, phase: 'p0', visits: { p0: 1 } }
    const page = reportPage(reportOf([], [], [{ task: TASK, state, history: [] }]))
    expect(page.match(/class="node /g)).toHaveLength(40)
    expect(page).toContain('5 more phases')
    expect(page).not.toMatch(/NaN|undefined/)
  })

  it('of a root without a name says the root', () => {
    expect(reportPage({ ...reportOf([]), root: '/' })).toContain('<h1>/</h1>')
  })

  it('has a graph of every definition without a number that is not one', () => {
    const state = reportRun(NOW, 'completed', reportDefinition('x'))
    expect(reportPage(reportOf([], [], [{ task: TASK, state, history: [] }]))).not.toMatch(/NaN|undefined|Infinity/)
  })
})

it('has the dates of a timeline of several days, and counts what a line of text is told', () => {
  const day = 24 * 60
  const state = { ...reportRun(NOW - 30 * MINUTE, 'stalled'), skips: 1, hostSession: undefined }
  const report = reportOf(
    [
      [-3 * day, 'create', { task: 'a' }],
      [-3 * day + 30, 'clear', { task: 'a' }],
      [-day, 'block', { task: 'b' }],
      [-day + 1, 'wait', { task: 'b' }],
      [-day + 9, 'wait-end', { task: 'b' }],
      [-day + 40, 'bypass', { task: 'b' }],
      [50, 'error', { task: 'b', detail: 'x' }],
    ],
    [],
    [
      {
        task: 'b',
        state,
        history: state.history.map(({ detail, ...entry }) => ({ ...entry, ...(detail && { detail: 'y' }) })),
      },
    ],
  )
  const page = reportPage(report)
  expect(page).toContain('>2026-11-19 11:00</span>')
  expect(page).toContain('1 skipped')
  expect(page).toContain('1 wait')
  expect(page).toContain('b: error: x')
  const lines = storyLines(report, { bold: (text) => text }).join('\n')
  expect(lines).toMatch(/Marker: bypassed · 40 min · 1 stop blocked/)
  expect(lines).toContain('b: error: x')
})

describe('the drawing of a run', () => {
  it('has every way out of a phase with cases, and what a phase needs', () => {
    const base = { gate: 'strict', max_attempts: 3, max_visits: 3, max_step_attempts: 3, on_exhausted: 'skip' }
    const definition = readDefinition({
      name: 'n',
      phases: [
        {
          ...{ ...base, id: 'triage', prompt: 'p', artifact: 'a.json', approve: true },
          next: {
            ...{ pass: 'end', fail: 'end', verdict: '/kind', default: 'triage' },
            cases: { bug: 'fix', regression: 'fix', duplicate: 'end' },
          },
        },
        { ...base, id: 'plan', prompt: 'p', artifact: 'plan.md', next: { pass: 'fix', fail: 'fix' } },
        { ...base, id: 'fix', steps: ['a', 'b'], step_prompt: 'p', parallel: 2, next: { pass: 'end', fail: 'end' } },
      ],
    })
    if (definition === undefined) throw new Error('not sound')
    const state = { ...reportRun(NOW - 60 * MINUTE, undefined), definition, phase: 'triage', history: [] }
    const page = reportPage(reportOf([], [], [{ task: TASK, state, history: [] }]))
    const texts = [.../<text[^>]*>([^<]*)/g[Symbol.matchAll](page)].map(([, text]) => text)
    expect(texts).toEqual(expect.arrayContaining(['bug, regression', 'duplicate', 'any other']))
    expect(texts).toEqual(expect.arrayContaining(['a.json · needs approval', '2 steps · 2 at once']))
  })
})

describe('the scale of a timeline', () => {
  const span = (from: number, to: number) => ({ startMs: from * MINUTE, endMs: to * MINUTE })

  it('draws long pauses short', () => {
    const scale = scaleOf([span(0, 10), span(1000, 1010)])
    expect(scale.at(0)).toBe(0)
    expect(scale.at(10 * MINUTE)).toBe(48.5)
    expect(scale.at(1000 * MINUTE)).toBe(51.5)
    expect(scale.at(1010 * MINUTE)).toBe(100)
    expect(scale.pauses).toEqual([{ from: 48.5, to: 51.5 }])
    expect(scale.ticks.map(({ at }) => at)).toEqual([0, 51.5])
  })

  it('draws very many stretches as they are', () => {
    const spans = Array.from({ length: 30 }, (_, index) => span(index * 1000, index * 1000 + 1))
    expect(scaleOf(spans).pauses).toEqual([])
  })

  it('puts every time on the line, and later ones further to the right', () => {
    const scale = scaleOf([span(5, 3), span(0, 1), span(90, 95)])
    const places = [-100, 0, 1, 2, 50, 92, 1e6].map((minute) => scale.at(minute * MINUTE))
    expect(places).toEqual([...places].sort((one, other) => one - other))
    expect(Math.min(...places)).toBe(0)
    expect(Math.max(...places)).toBe(100)
  })

  it('of nothing, and of a moment', () => {
    expect(scaleOf([]).at(5)).toBe(0)
    expect(scaleOf([span(1, 1)]).at(MINUTE)).toBe(0)
  })
})

it.each([
  [0, '0 ms'],
  [-5, '0 ms'],
  [850, '850 ms'],
  [1_000, '1 s'],
  [59_400, '59 s'],
  [303_000, '5 min 3 s'],
  [7_500_000, '2 h 5 min'],
  [7_200_000, '2 h'],
  [90_000_000, '1 day 1 h'],
  [270_000_000, '3 days 3 h'],
])('a duration of %d ms is %s', (ms, expected) => {
  expect(duration(ms)).toBe(expected)
})

it('a time with and without its date', () => {
  expect(clock(NOW, true)).toBe('2026-11-22 12:00:00')
  expect(clock(NOW, false)).toBe('12:00:00')
})

describe('the status line', () => {
  const item = (text: string, isOurs = true) => ({ kind: 'pending' as const, isOurs, text })
  it.each([
    [[], ''],
    [[item('a')], 'a'],
    [[item('a'), item('b', false)], 'a · +1 elsewhere'],
    [['a', 'b', 'c', 'd', 'e'].map((text) => item(text)), 'a · b · c · +2 more'],
  ])('%j', (items, expected) => {
    expect(statusLine(items)).toBe(expected)
  })

  it('names first what waits for the user, and last what was abandoned', () => {
    const kinds = ['abandoned', 'abandoned', 'unusable', 'running', 'pending', 'waiting'] as const
    const items = kinds.map((kind) => ({ kind, isOurs: true, text: kind }))
    expect(statusLine(items)).toBe('waiting · pending · running · +3 more')
  })
})

import { describe, expect, it } from 'vitest'
import type { MarkerView } from '../../../src/marker/marker-view.ts'
import { enter, type WorkflowState, withTransition } from '../../../src/run/machine/state.ts'
import { composeReport, MAX_TASKS, type Report, storyLines } from '../../../src/views/report/compose.ts'
import { reportPage } from '../../../src/views/report/page/page.ts'
import { duration } from '../../../src/views/report/report-messages.ts'
import type { RunStory } from '../../../src/views/report/run-story.ts'
import { reportRun } from '../../support/report-project.ts'
import {
  CREATED,
  definitionOf,
  type Entry,
  journalAt,
  MINUTE,
  reportMarker as marker,
  NOW,
  phaseOf,
  reportOf,
  reportOfRun,
  runOf,
  TASK,
} from './report-builders.ts'

const OLD = 'pf_000000000000'
const CAP: Entry = [1, 'cap']
const CLEARED: Entry = [1, 'clear', { markerId: 'pf_1' }]
const CREATED_AGAIN: Entry = [3, 'create', { markerId: 'pf_1' }]
const GIVEN_UP: Entry = [-1, 'cap', { markerId: OLD }]
const SETTLES = { markerId: 'pf_1', settles: [OLD] }
const KEEPS = { keeps: 'pf_1' }
const NO_MARKER = { outcome: undefined }
const UNCHECKED = marker({ state: 'abandoned', outcome: 'unchecked' })

const statuses = ({ tasks }: Report): string[] => tasks.flatMap(({ markers }) => markers.map(({ status }) => status))

describe('the story of a marker', () => {
  it.each<[string, readonly Entry[], readonly MarkerView[], readonly string[]]>([
    ['created and cleared', [CREATED, CLEARED], [], ['cleared']],
    ['unchecked', [CREATED, [1, 'clear', { outcome: 'unchecked' }]], [UNCHECKED], ['unchecked']],
    ['given up', [CREATED, [1, 'cap', { markerId: 'pf_1' }]], [marker({ state: 'abandoned' })], ['abandoned']],
    ['given up and cleared later', [CREATED, CAP, [2, 'clear', { markerId: 'pf_1' }]], [], ['cleared']],
    ['given up and removed later', [GIVEN_UP, [2, 'clear', { settles: [OLD], ...NO_MARKER }]], [], ['cleared']],
    ['given up without an id, and removed later', [CAP, [2, 'clear', NO_MARKER]], [], ['cleared']],
    ['given up and cleared with another', [GIVEN_UP, CREATED, [2, 'clear', SETTLES]], [], ['cleared', 'cleared']],
    ['given up and adopted', [GIVEN_UP, [2, 'adopt', SETTLES]], [marker()], ['replaced', 'pending']],
    ['pending when a run was settled', [CREATED, [1, 'clear', NO_MARKER]], [marker()], ['pending']],
    ['kept when it was replaced', [CREATED, [1, 'create', KEEPS]], [UNCHECKED], ['unchecked', 'removed']],
    ['kept when it was bypassed', [CREATED, [1, 'bypass', KEEPS]], [UNCHECKED], ['unchecked']],
    ['bypassed', [CREATED, [1, 'bypass']], [], ['bypassed']],
    ['pending', [CREATED], [marker()], ['pending']],
    ['waiting', [CREATED, [1, 'wait']], [marker({ wait: { for: 'x', count: 1 } })], ['waiting']],
    ['waiting, as only the marker says', [], [marker({ wait: { for: 'x', count: 1 } })], ['waiting']],
    ['expired', [], [marker({ state: 'expired', promised_at: null })], ['expired']],
    ['removed by hand: neither an end nor a marker', [CREATED], [], ['removed']],
    ['replaced', [CREATED, [1, 'create', { markerId: 'pf_2' }]], [marker({ id: 'pf_2' })], ['replaced', 'pending']],
    ['renewed: the same marker', [CREATED, [1, 'create', { markerId: 'pf_1' }]], [marker()], ['pending']],
    ['of plain bash, known only by its block', [[5, 'block', { count: 1 }]], [marker({ id: null })], ['pending']],
    ['known by a block without an id', [[5, 'block']], [marker()], ['pending']],
    ['cleared, and back', [CREATED, CLEARED], [marker({ task: '8_y' }), marker()], ['cleared', 'pending', 'pending']],
    ['of an id that ended', [CREATED, CLEARED, [2, 'block'], CREATED_AGAIN], [], ['cleared', 'replaced', 'removed']],
    ['of a marker whose id the journal does not know', [CREATED], [marker({ id: 'pf_9' })], ['removed', 'pending']],
  ])('%s', (_, entries, markers, expected) => {
    expect(statuses(reportOf(entries, markers)).sort()).toEqual([...expected].sort())
  })

  it('counts its blocks, and a wait that was announced or ended twice as one', () => {
    // Several processes write the journal, so its lines may be in another order than their times.
    const entries: Entry[] = [[12, 'clear'], CREATED, [1, 'block', { count: 1 }], [2, 'block']]
    entries.push([4, 'wait'], [3, 'wait'], [10, 'wait-end'], [9, 'wait-end'])
    const waits = [{ startMs: journalAt(3), endMs: journalAt(9) }]
    expect(reportOf(entries).tasks[0]?.markers).toMatchObject([{ blocks: 2, waits }])
  })

  it('is not made of the waits of a run', () => {
    const begin: Entry = [2, 'wait', { markerId: 'wf_1' }]
    expect(reportOf([begin, [3, 'wait-end']]).tasks).toEqual([])
    const [task] = reportOf([begin, [3, 'wait-end']], [marker({ id: null })]).tasks
    expect(task?.markers).toMatchObject([{ status: 'pending', events: [] }])
    const beside = reportOf([CREATED, begin, [3, 'wait-end']]).tasks
    expect(beside).toMatchObject([{ markers: [{ events: [{ words: 'marker created' }] }] }])
  })
})

describe('a report', () => {
  it('has the task of the last change first, and leaves the oldest of very many out', () => {
    const entries = Array.from(
      { length: MAX_TASKS + 2 },
      (_, index): Entry => [index % 50, 'create', { markerId: `pf_${index}`, task: `${100 + index}_x` }],
    )
    const errors = Array.from({ length: 51 }, (_, index): Entry => [index, 'error', { task: `${index}` }])
    const report = reportOf([...entries, ...errors])
    expect(report.others.map(({ task }) => task)).toEqual(errors.slice(1).map(([, , more]) => more?.task))
    expect(report.tasks).toHaveLength(MAX_TASKS)
    expect(report.leftOut).toBe(2)
    const starts = report.tasks.map(({ markers }) => markers[0]?.startMs ?? 0)
    expect(starts).toEqual([...starts].sort((one, other) => other - one))
    expect(reportPage(report)).toContain('2 older tasks left out')
    expect(storyLines(report, { bold: (text) => text }).at(-1)).toContain('2 older tasks left out')
    // Within the time limit of a test.
    const many = Array.from({ length: 20_000 }, (_, index) => marker({ task: `${10_000 + index}_x` }))
    expect(reportOf([], many).leftOut).toBe(20_000 - MAX_TASKS)
    const alike = Array.from({ length: 60_000 }, (_, at): Entry => [at % 50, 'create', { markerId: `pf_${at}` }])
    expect(reportOf(alike).tasks[0]?.markers).toHaveLength(60_000)
  })

  it('orders tasks of one time by name', () => {
    const { tasks } = reportOf(['b', 'c', 'a'].map((task): Entry => [0, 'create', { task }]))
    expect(tasks.map(({ task }) => task)).toEqual(['a', 'b', 'c'])
  })

  it('keeps errors apart, and passes over lines without a time or a task', () => {
    const report = composeReport({
      ...{ root: '/', nowMs: NOW, markers: [], runs: [] },
      journal: [
        { event: 'create', time: 7, task: TASK },
        { event: 'create', time: 'yesterday', task: TASK },
        ...[undefined, '', 7].map((task) => ({ event: 'create', time: '2026-11-22T10:00:00Z', task })),
        { event: 'error', time: '2026-11-22T10:00:00Z', detail: 'disk full' },
        { event: 'workflow', time: '2026-11-22T10:00:00Z', task: TASK, detail: 'x' },
      ],
    })
    expect(report.tasks).toEqual([])
    expect(report.others.map(({ words, task }) => [words, task])).toEqual([['error: disk full', undefined]])
    const lines = ['Other events', '    2026-11-22 10:00:00  error: disk full', 'All times are UTC.']
    expect(storyLines(report, { bold: (text) => text })).toEqual(lines)
    expect(reportPage(report)).toContain('<span>error: disk full</span>')
  })

  it('says where there is nothing', () => {
    const empty = reportOf([])
    expect(storyLines(empty, { bold: (text) => text })).toEqual(['No markers and no runs here yet.'])
    expect(reportPage(empty)).toContain('No markers and no runs here yet.')
  })
})

describe('the story of a run', () => {
  const visitsOf = ({ visits }: RunStory): string[] => visits.map(({ phase, result }) => `${phase} ${result}`)

  it.each<[string, Partial<WorkflowState>, string]>([
    ['running', {}, 'running'],
    ['waiting', { wait: { for: 'answers', count: 1 } }, 'waiting'],
    ['waiting for an approval', { approval: { standing: 'asked', note: undefined } }, 'waiting'],
    ['rejected', { approval: { standing: 'rejected', note: 'no' } }, 'running'],
    ['completed', { active: false, outcome: 'completed' }, 'completed'],
    ['completed with skips', { active: false, outcome: 'completed', skips: 1 }, 'skipped'],
    ['stopped', { active: false, outcome: 'stopped' }, 'stopped'],
    ['without an outcome', { active: false }, 'stopped'],
    ['aborted', { active: false, outcome: 'aborted' }, 'aborted'],
  ])('that is %s', (_, more, expected) => {
    const state = { ...reportRun(NOW - 60 * MINUTE, undefined), ...more }
    expect(runOf(state).status).toBe(expected)
    expect(reportPage(reportOfRun(state))).toContain('class="graph"')
  })

  it('that is completed has passed its last phase', () => {
    expect(visitsOf(runOf(reportRun(NOW - 60 * MINUTE, 'completed'))).at(-1)).toBe('review passed')
  })

  it('that is over without an end in its history is stuck in its last phase', () => {
    const state = { ...reportRun(NOW - 60 * MINUTE, undefined), active: false }
    expect(visitsOf(runOf(state)).at(-1)).toBe('implement stuck')
  })

  it('is resumed: the same visit of a phase continues, and steps may fail, be given up or begin again', () => {
    let state = reportRun(NOW - 60 * MINUTE, 'stalled')
    const note = (event: 'resume' | 'fail' | 'prompt' | `step-${'skipped' | 'failed' | 'again'}`, more = {}): void => {
      state = withTransition(state, { event, phase: state.phase, ...more }, state.updatedMs + MINUTE)
    }
    state = { ...state, active: true, outcome: undefined, why: undefined }
    note('resume')
    note('fail')
    state = enter(state, phaseOf(state, 'implement'), state.updatedMs)
    // Another session may take over a run that goes on.
    note('resume')
    for (const step of [1, 2]) note('prompt', { step, attempt: 1 })
    note('step-skipped', { step: 1, detail: 'too hard' })
    note('step-failed', { step: 2, detail: 'red' })
    for (const event of ['step-skipped', 'step-again'] as const) note(event, { step: 3 })
    for (const event of ['step-failed', 'prompt'] as const) note(event, { step: 4 })
    const run = runOf(state)
    expect(visitsOf(run).slice(3)).toEqual(['review stuck', 'review failed', 'implement running'])
    expect(run.visits.at(-1)?.prompts).toBe(3)
    const results = run.phases[2]?.steps.at(-1)?.steps.map(({ result }) => result)
    expect(results).toEqual(['skipped', 'failed', 'open', 'open'])
    const page = reportPage(reportOfRun(state))
    expect(page).toContain('2 ×')
    expect(page).toContain('given up (too hard)')
  })

  it('waits for a person, who is named in what needs attention', () => {
    const approval = { standing: 'asked', note: undefined } as const
    const state: WorkflowState = { ...reportRun(NOW - 60 * MINUTE, undefined), approval }
    expect(runOf(state).waitsFor).toBe(`a person to approve the result of ${state.phase}`)
    expect(/Needs attention.*?<\/ul>/s.exec(reportPage(reportOfRun(state)))?.[0]).toContain('waiting</span>')
  })

  it('that is resumed from another phase has no visit of the one that it was in', () => {
    let state = reportRun(NOW - 60 * MINUTE, 'stalled')
    const before = runOf(state).visits.length
    state = withTransition({ ...state, active: true, outcome: undefined }, { event: 'resume', phase: state.phase }, NOW)
    state = enter(state, phaseOf(state, 'research'), NOW)
    expect(visitsOf(runOf(state)).slice(before)).toEqual(['research running'])
  })

  it('whose steps come from an artifact has their names in the phase in progress, and if the history lacks them only there', () => {
    const steps = { steps: { from: 'plan.json', pointer: '/steps' }, step_prompt: 'p' }
    const definition = definitionOf('n', [
      { ...steps, id: 'a', next: { pass: 'b', fail: 'b' } },
      { ...steps, id: 'b', next: { pass: 'end', fail: 'end' } },
    ])
    const namesOf = (state: WorkflowState) =>
      runOf(state).phases.map((phase) => phase.steps.flatMap((one) => one.steps).map(({ name }) => name))
    const start = { ...reportRun(NOW - 60 * MINUTE, undefined), definition, phase: 'a', visits: { a: 1 }, history: [] }
    const noted = withTransition(start, { event: 'prompt', phase: 'a', step: 1, attempt: 1 }, NOW)
    const state = { ...noted, takenSteps: ['one', 'two'] }
    expect(namesOf(state)).toEqual([['one', 'two'], []])
    const later = { ...state, phase: 'b', visits: { a: 1, b: 1 }, takenSteps: undefined }
    expect(namesOf(later)).toEqual([[undefined], []])
    expect(reportPage(reportOfRun(later))).toContain('step 1')
  })
})

describe('the page', () => {
  it('folds long lists', () => {
    const tasks = Array.from({ length: 40 }, (_, index) => `${index}_x`)
    const page = reportPage(reportOf(tasks.map((task, index): Entry => [index, 'cap', { task }])))
    expect(page.match(/(?<=<summary>)\d+ more(?=<\/summary>)/g)).toEqual(['32 more', '10 more'])
  })

  it('of a root without a name says the root', () => {
    expect(reportPage({ ...reportOf([]), root: '/' })).toContain('<h1>/</h1>')
  })
})

it.each([
  [0, '0 ms'],
  [-5, '0 ms'],
  [1_000, '1 s'],
  [59_400, '59 s'],
  [303_000, '5 min 3 s'],
  [7_500_000, '2 h 5 min'],
  [7_200_000, '2 h'],
  [90_000_000, '1 day 1 h'],
  [270_000_000, '3 days 3 h'],
])('a duration of %d ms is %s', (ms, expected) => expect(duration(ms)).toBe(expected))

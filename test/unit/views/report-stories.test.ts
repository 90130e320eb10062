import { describe, expect, it } from 'vitest'
import { toIso } from '../../../src/kernel/time.ts'
import { enter, pauseClock, phaseMs, withTransition, workedMs } from '../../../src/run/machine/state.ts'
import { storyLines } from '../../../src/views/report/compose.ts'
import { reportPage } from '../../../src/views/report/page/page.ts'
import type { Tone } from '../../../src/views/report/story.ts'
import { reportRun } from '../../support/report-project.ts'
import { begin } from '../run/builders.ts'
import {
  CREATED,
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
  WORK,
} from './report-builders.ts'

/** Whole stories, as data and as the lines of a terminal. `report.test.ts` has the rules one by one. */

/** A transition whose phase the test adds. */
type Transition = Omit<Parameters<typeof withTransition>[1], 'phase'>

const storiesOf = (...given: Parameters<typeof reportOf>) => reportOf(...given).tasks[0]?.markers ?? []

describe('the story of a marker', () => {
  it('has everything that the journal and the marker know', () => {
    const wait = { for: 'the go-ahead', count: 1 }
    const { steps, checks } = WORK
    const [story, ...others] = storiesOf(
      [
        [0, 'create', { markerId: 'pf_1' }],
        [1, 'block', { count: 1, agent: 'a1' }],
        [2, 'wait', { detail: 'an answer' }],
        [5, 'wait-end', { detail: 'an answer' }],
        [30, 'wait', { detail: 'the go-ahead', agent: 'a2' }],
      ],
      [marker({ wait, skill: 'skill-x', steps, checks, promised_at: toIso(NOW - 90 * MINUTE) })],
    )
    expect(others).toEqual([])
    expect(story).toEqual({
      ...{ id: 'pf_1', operation: 'research', skill: 'skill-x', agent: 'a2', status: 'waiting' },
      ...{ startMs: NOW - 90 * MINUTE, endMs: NOW, blocks: 1, steps, checks },
      waits: [
        { startMs: journalAt(2), endMs: journalAt(5) },
        { startMs: journalAt(30), endMs: NOW },
      ],
      events: [
        { timeMs: journalAt(0), tone: 'plain', words: 'marker created' },
        { timeMs: journalAt(1), tone: 'warn', words: 'stop blocked: 1 of 3' },
        { timeMs: journalAt(2), tone: 'wait', words: 'waits: an answer' },
        { timeMs: journalAt(5), tone: 'plain', words: 'the wait ended: an answer' },
        { timeMs: journalAt(30), tone: 'wait', words: 'waits: the go-ahead' },
      ],
    })
  })

  it('has only what its marker says if the journal knows nothing', () => {
    expect(storiesOf([], [marker({ promised_at: toIso(NOW - 5 * MINUTE), operation: null })])).toEqual([
      {
        ...{ id: 'pf_1', operation: undefined, skill: undefined, agent: undefined },
        ...{ status: 'pending', startMs: NOW - 5 * MINUTE, endMs: NOW, blocks: 0 },
        ...{ waits: [], events: [], steps: [], checks: [] },
      },
    ])
    const [at, past] = [NOW - 5 * MINUTE, marker({ state: 'abandoned', promised_at: toIso(NOW - 5 * MINUTE) })]
    expect(storiesOf([], [past])).toMatchObject([{ status: 'abandoned', startMs: at, endMs: at }])
    expect(storiesOf([], [{ ...past, promised_at: null }])).toMatchObject([{ startMs: NOW, endMs: NOW }])
  })

  it.each([
    ['plain', ['create', 'bypass-request', 'adopt', 'claim', 'step']],
    ['warn', ['block', 'bypass', 'expire']],
    ['bad', ['check', 'cap']],
    ['good', ['clear']],
    ['wait', ['wait']],
  ] as const)('has the tone %s of its events %j', (tone, events) => {
    const tones = events.map((event) => [event, storiesOf([[0, event, { markerId: 'pf_1' }]])[0]?.events[0]?.tone])
    expect(tones).toEqual(events.map((event) => [event, tone]))
  })

  it.each([
    ['block', {}, 'stop blocked'],
    ['block', { count: 2 }, 'stop blocked: 2 of 3'],
    ['clear', { outcome: 'unchecked' }, 'cleared without its checks'],
    ['check', { detail: 'failed: npm test' }, 'check failed: npm test'],
    ['error', { detail: 'EACCES' }, 'error: EACCES'],
  ] as const)('has its event %s %j in words', (event, more, words) => {
    const { tasks, others } = reportOf([[0, event, { markerId: 'pf_1', ...more }]])
    expect([...(tasks[0]?.markers[0]?.events ?? []), ...others]).toMatchObject([{ words }])
  })

  it('ends with its last event, not with the report, if it is over or its marker was removed', () => {
    const ends = (last: 'clear' | 'block', at: number) => storiesOf([CREATED, [2, 'step'], [at, last]])[0]
    expect(ends('clear', 7)).toMatchObject({ status: 'cleared', startMs: journalAt(0), endMs: journalAt(7) })
    expect(ends('block', 9)).toMatchObject({ status: 'removed', startMs: journalAt(0), endMs: journalAt(9) })
  })

  it('ends its wait with itself', () => {
    const entries: Entry[] = [CREATED, [3, 'wait'], [8, 'clear'], [9, 'wait-end']]
    const waits = [{ startMs: journalAt(3), endMs: journalAt(8) }]
    expect(storiesOf(entries)).toMatchObject([{ status: 'cleared', waits }])
  })

  it('waits since its last event if the journal does not tell since when', () => {
    const [story] = storiesOf([[4, 'create']], [marker({ wait: { for: 'x', count: 1 } })])
    expect(story?.waits).toEqual([{ startMs: journalAt(4), endMs: NOW }])
  })

  it.each([
    ['a later block starts another marker', [5, 'block'], ['cleared', 'removed']],
    ['so does one of the same marker', [5, 'block', { markerId: 'pf_1' }], ['cleared', 'removed']],
    ['and a new marker of the same id', [5, 'create', { markerId: 'pf_1' }], ['cleared', 'removed']],
    ['a second clear too', [5, 'clear'], ['cleared', 'cleared']],
  ] as const)('after its end %s', (_what, entry, statuses) => {
    expect(storiesOf([CREATED, [1, 'clear'], entry]).map(({ status }) => status)).toEqual(statuses)
  })

  it('of another marker is recognized by the id, and an event without one belongs to the last that is open', () => {
    const markers = storiesOf([
      [0, 'block', { markerId: 'pf_1' }],
      [1, 'block', { markerId: 'pf_2' }],
      [2, 'check', { markerId: 'pf_1' }],
      [3, 'step'],
    ])
    const stories = markers.map(({ id, events }) => `${id}: ${events.map(({ words }) => words).join(', ')}`)
    expect(stories).toEqual(['pf_1: stop blocked, check', 'pf_2: stop blocked, step'])
  })

  it('has the check of an abandoned marker, and a check without any marker is another event', () => {
    const entries: Entry[] = [
      [0, 'check'],
      [1, 'create', { markerId: 'pf_1' }],
      [2, 'cap'],
      [3, 'check'],
      [4, 'step'],
    ]
    const { tasks, others } = reportOf(entries)
    const events = ['marker created', 'gave up after the last blocked stop', 'check'].map((words) => ({ words }))
    const abandoned = { status: 'abandoned', startMs: journalAt(1), endMs: journalAt(2), events }
    expect(tasks).toMatchObject([{ markers: [abandoned, { events: [{ words: 'step' }] }] }])
    expect(others).toMatchObject([{ timeMs: journalAt(0), words: 'check', task: TASK }])
  })

  const there = { task: `260_${'renamed'.repeat(30)}` }
  it.each([
    ['its file is there', [], [marker(there)], 'moved', '0 / 1'],
    ['the journal has it there', [[1, 'clear', { markerId: 'pf_1', ...there }]], [], 'moved', '1 / 1'],
    ['but not if that is another one', [], [marker({ ...there, id: 'pf_2' })], 'removed', '0 / 2'],
  ] as const)('goes on elsewhere if its folder was renamed: %s', (_how, entries, markers, status, cleared) => {
    const report = reportOf([CREATED, [0, 'block', { markerId: 'pf_1' }], ...entries], markers)
    expect(report.tasks.find(({ task }) => task === TASK)?.markers).toMatchObject([{ id: 'pf_1', status }])
    expect(report.tasks.map(({ task }) => task)).toContain(there.task)
    expect(reportPage(report)).toMatch(new RegExp(`<b>${cleared}</b>.*<b>1</b><span>stops blocked`))
  })

  it('takes the newest of its task if a marker has no id', () => {
    const entries = ['pf_1', 'pf_2'].map((markerId, index): Entry => [index, 'block', { markerId }])
    const statuses = storiesOf(entries, [marker({ id: null })]).map(({ id, status }) => `${id} ${status}`)
    expect(statuses).toEqual(['pf_1 removed', 'pf_2 pending'])
  })

  it('that was given up does not take a pending marker, nor an open one an abandoned marker', () => {
    const capped = [CREATED, [1, 'cap', { markerId: 'pf_1' }]] as const
    const statuses = (...given: Parameters<typeof storiesOf>) => storiesOf(...given).map(({ status }) => status)
    expect(statuses(capped, [marker({ promised_at: toIso(NOW) })])).toEqual(['abandoned', 'pending'])
    const abandoned = marker({ state: 'abandoned', promised_at: toIso(NOW) })
    expect(statuses([CREATED], [abandoned])).toEqual(['removed', 'abandoned'])
    expect(statuses([[1, 'create']], [marker({ state: 'abandoned' })])).toEqual(['abandoned', 'removed'])
    expect(statuses([CREATED], [marker({ state: 'unreadable', id: null })])).toEqual(['unreadable'])
  })
})

describe('the story of a run', () => {
  it('has the whole of a run that stalled', () => {
    const state = { ...reportRun(NOW - 60 * MINUTE, 'stalled'), skips: 2 }
    const at = (minutes: number): number => NOW - 60 * MINUTE + Math.round(minutes * MINUTE)
    const { definition, events, ...story } = runOf(state)
    expect(definition).toEqual(state.definition)
    expect(events).toHaveLength(state.history.length)
    const phase = (id: string, durationMinutes: number, more: object) => ({
      ...{ id, status: 'done', check: undefined, visits: 1, prompts: 1, steps: [] },
      ...{ workedMs: Math.round(durationMinutes * MINUTE), ...more },
    })
    const step = (number: number, name: string, attempts: number, minutes: number) => ({
      ...{ number, name, attempts, result: 'done', durationMs: Math.round(minutes * MINUTE) },
    })
    const steps = [
      ...[step(1, 'parser', 1, 5), step(2, 'command line', 2, 10.1)],
      ...[step(3, 'documentation', 1, 7), step(4, 'tests', 1, 8)],
    ]
    const visit = (id: string, from: number, to: number, prompts: number, result: string) => ({
      ...{ phase: id, startMs: at(from), endMs: at(to), prompts, result },
    })
    expect(story).toEqual({
      ...{ name: 'research to release', status: 'stalled', why: 'phase "review": 3 attempts failed' },
      ...{ waitsFor: undefined, session: 'session-of-a-host', startMs: at(0), endMs: at(56.1), prompts: 8, skips: 2 },
      settled: false,
      workedMs: Math.round(56.1 * MINUTE),
      phases: [
        phase('research', 9.2, {}),
        phase('plan', 9.2, {}),
        phase('implement', 30.6, { prompts: 5, steps: [{ visit: 1, steps }] }),
        phase('review', 7.1, { status: 'failed', check: 'npm test' }),
      ],
      visits: [
        visit('research', 0, 9.2, 1, 'passed'),
        visit('plan', 9.2, 18.4, 1, 'passed'),
        visit('implement', 18.4, 49, 5, 'passed'),
        visit('review', 49, 56.1, 1, 'stuck'),
      ],
    })
  })

  it('continues until the time of the report while it runs, and never ends before it began', () => {
    const run = runOf({ ...reportRun(NOW - 60 * MINUTE, undefined), hostSession: undefined })
    expect(run).toMatchObject({ endMs: NOW, session: undefined, why: undefined, status: 'running' })
    expect(run.visits.at(-1)).toMatchObject({ phase: 'implement', endMs: NOW, result: 'running' })
    expect(runOf(reportRun(NOW + MINUTE, undefined))).toMatchObject({ startMs: NOW + MINUTE, endMs: NOW + MINUTE })
  })

  it('has worked only while its clock ran, and says so beside the time from its start to its end', () => {
    const running = reportRun(NOW - 60 * MINUTE, undefined)
    const stopped: typeof running = { ...pauseClock(running, NOW - 15 * MINUTE), active: false, outcome: 'stopped' }
    const state = { ...stopped, updatedMs: NOW }
    expect(runOf(state)).toMatchObject({ startMs: NOW - 60 * MINUTE, endMs: NOW, workedMs: 45 * MINUTE })
    const lines = storyLines(reportOfRun(state, []), { bold: (text) => text })
    expect(lines[1]).toBe('  Run "research to release": stopped · 1 h · 45 min of it worked · 7 prompts')
  })

  it('waits for what its agent announced, only while it runs', () => {
    const state = { ...reportRun(NOW, undefined), wait: { for: 'the\nbuild', count: 1 } }
    expect(runOf(state)).toMatchObject({ status: 'waiting', waitsFor: 'the build' })
    const over = runOf({ ...state, active: false, outcome: 'failed', why: 'too\nlate' })
    expect(over).toMatchObject({ status: 'failed', waitsFor: undefined, why: 'too late' })
  })

  it.each<[Transition, Tone, words: string]>([
    [{ event: 'pass', verdict: 'bug', detail: 'it crashes' }, 'good', 'passed (verdict bug: it crashes)'],
    [{ event: 'step-done' }, 'good', 'done'],
    [{ event: 'retry' }, 'warn', 'attempt failed'],
    [{ event: 'step-failed' }, 'warn', 'failed'],
    [{ event: 'step-skipped' }, 'bad', 'given up'],
    [{ event: 'fail' }, 'warn', 'verdict: fail'],
    [{ event: 'warn' }, 'warn', 'continued without a valid artifact'],
    [{ event: 'approval' }, 'wait', 'waits for approval'],
    [{ event: 'approved' }, 'good', 'approved'],
    [{ event: 'rejected', detail: 'too short' }, 'warn', 'rejected (too short)'],
    [{ event: 'stop-request' }, 'wait', 'stop requested'],
    [{ event: 'enter' }, 'plain', 'entered'],
    [{ event: 'resume' }, 'plain', 'resumed'],
    [{ event: 'end', outcome: 'completed' }, 'good', 'ended (completed)'],
    [{ event: 'end', outcome: 'stopped' }, 'plain', 'ended (stopped)'],
    [{ event: 'end', outcome: 'stalled' }, 'bad', 'ended (stalled)'],
    [{ event: 'end', outcome: 'failed' }, 'bad', 'ended (failed)'],
    [{ event: 'step-failed', step: 2, attempt: 3, detail: 'why' }, 'warn', 'failed (why)'],
    [{ event: 'enter', attempt: 1 }, 'plain', 'entered'],
  ])('has the tone and the words of the transition %j: %s, %j', (transition, tone, words) => {
    const state = withTransition(reportRun(NOW, undefined), { phase: 'review', ...transition }, NOW)
    const where = transition.step === undefined ? 'review' : 'review, step 2, attempt 3'
    expect(runOf(state).events.at(-1)).toEqual({ timeMs: NOW, tone, words: `${where}: ${words}` })
  })

  it('has the texts of steps from a file for past visits too, as far as their prompts went out', () => {
    const taking = { id: 'a', steps: { from: 'tasks.md', checklist: true }, step_prompt: '{{step}}' }
    const prompted = { event: 'prompt', phase: 'a', attempt: 1 } as const
    let state = begin(taking, { id: 'b', prompt: 'p', artifact: 'b.txt' })
    state = withTransition(state, { ...prompted, step: 1, detail: 'add the\u001b\nroute' }, NOW)
    state = withTransition(state, { event: 'step-done', phase: 'a', step: 1, attempt: 1 }, NOW)
    // One that a version before this wrote.
    state = withTransition(state, { ...prompted, step: 2 }, NOW)
    state = enter(state, phaseOf(state, 'b'), NOW)
    expect(runOf(state).phases[0]?.steps[0]?.steps.map(({ name }) => name)).toEqual(['add the route', undefined])
    expect(reportPage(reportOfRun(state))).toContain('1. add the route')
  })

  it('tells the results of each visit of a phase, and the working time of all as `status` does', () => {
    let state = reportRun(NOW - 120 * MINUTE, undefined)
    const before = runOf(state).phases[2]?.prompts ?? 0
    state = enter(state, phaseOf(state, 'plan'), NOW - 30 * MINUTE)
    state = withTransition(state, { event: 'fail', phase: 'plan', verdict: 'fail' }, NOW - 20 * MINUTE)
    state = enter(state, phaseOf(state, 'implement'), NOW - 20 * MINUTE)
    state = withTransition(state, { event: 'prompt', phase: 'implement', step: 1, attempt: 1 }, NOW - 19 * MINUTE)
    const run = runOf(state)
    expect(run.visits.slice(-2)).toEqual([
      { phase: 'plan', startMs: NOW - 30 * MINUTE, endMs: NOW - 20 * MINUTE, prompts: 0, result: 'failed' },
      { phase: 'implement', startMs: NOW - 20 * MINUTE, endMs: NOW, prompts: 1, result: 'running' },
    ])
    expect(run.phases[2]).toMatchObject({ visits: 2, prompts: before + 1 })
    expect(run.phases[2]?.workedMs).toBe(phaseMs(state, 'implement', NOW))
    expect(run.workedMs).toBe(workedMs(state, NOW))
    const [first, second, ...others] = run.phases[2]?.steps ?? []
    expect([first?.visit, second?.visit, others]).toEqual([1, 2, []])
    const names = ['parser', 'command line', 'documentation', 'tests']
    expect(first?.steps.map(({ name, result }) => [name, result])).toEqual(names.map((name) => [name, 'done']))
    const open = (attempts: number) => ({ attempts, result: 'open', durationMs: undefined })
    expect(second?.steps).toMatchObject([open(1), open(0), open(0), open(0)])
    const unnumbered = state.history.map(({ visit: _, ...entry }) => entry)
    expect(runOf(state, unnumbered).phases[2]?.steps).toEqual(run.phases[2]?.steps)
  })

  it('tells what is left of a history that has lost its beginning', () => {
    const state = reportRun(NOW - 60 * MINUTE, 'stalled')
    const from = state.history.findIndex(({ event, step }) => event === 'prompt' && step === 3)
    const run = runOf(state, state.history.slice(from))
    expect(run.visits.map(({ phase, result }) => `${phase} ${result}`)).toEqual(['review stuck'])
    const steps = run.phases[2]?.steps.map(({ visit, steps }) => [visit, ...steps.map(({ result }) => result)])
    expect(steps).toEqual([[1, 'open', 'open', 'done', 'done']])
  })
})

describe('the report in a terminal', () => {
  it('has each task with its markers and runs, and then what belongs to none', () => {
    const state = reportRun(NOW - 60 * MINUTE, 'stalled')
    const report = reportOf(
      [
        CREATED,
        [1, 'block', { count: 1 }],
        [3, 'clear'],
        [4, 'block', { task: 'done-0123456789abcdef' }],
        [5, 'error', { detail: 'disk full' }],
      ],
      [],
      [{ task: TASK, state, history: state.history.slice(-1) }],
    )
    expect(report.tasks).toMatchObject([
      { startMs: journalAt(0), endMs: state.updatedMs },
      { startMs: journalAt(4), endMs: journalAt(4) },
    ])
    const paint = { bold: (text: string): string => `*${text}*` }
    expect(storyLines({ ...report, leftOut: 2 }, paint)).toEqual([
      '*259_x*',
      '  Marker pf_1: cleared · 3 min · 1 stop blocked',
      '    2026-11-22 11:00:00  marker created',
      '    2026-11-22 11:01:00  stop blocked: 1 of 3',
      '    2026-11-22 11:03:00  cleared',
      '  Run "research to release": stalled · 56 min 6 s · 8 prompts',
      '    2026-11-22 11:56:06  review: ended (stalled: phase "review": 3 attempts failed)',
      '*definition of done (done-0123456789abcdef)*',
      '  Marker: removed by hand · 0 ms · 1 stop blocked',
      '    2026-11-22 11:04:00  stop blocked',
      '*Other events*',
      '    2026-11-22 11:05:00  259_x: error: disk full',
      'All times are UTC.',
      '2 older tasks left out: postflight report <task> shows one',
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { enter, type WorkflowState, withTransition } from '../../../src/run/machine/state.ts'
import type { TaskStory } from '../../../src/views/report/compose.ts'
import { graph } from '../../../src/views/report/page/graph-picture.ts'
import { type Html, html } from '../../../src/views/report/page/html.ts'
import { eventList, overview, reportPage, runCard, taskCard } from '../../../src/views/report/page/page.ts'
import { scaleOf } from '../../../src/views/report/page/track.ts'
import { reportRun } from '../../support/report-project.ts'
import {
  CREATED,
  definitionOf,
  type Entry,
  journalAt,
  known,
  MINUTE,
  reportMarker as marker,
  NOW,
  phaseOf,
  reportOf,
  reportOfRun,
  runOf,
  WORK,
} from './report-builders.ts'

/** The parts of the page as a browser gets them. `report.test.ts` has the rules one by one. */

const linesOf = ({ text }: Html): string => text.replace(/></g, '>\n<')

const taskOf = (...given: Parameters<typeof reportOf>): TaskStory => known(reportOf(...given).tasks[0])

/** A run of two phases that were visited twice, with a step that failed and one that is open. */
function loopedRun(): WorkflowState {
  const definition = definitionOf('make & check', [
    { id: 'make', steps: ['a <b>', 'c'], step_prompt: 'p', next: { pass: 'check', fail: 'check' } },
    {
      ...{ id: 'check', prompt: 'p', artifact: 'r.json', check: { run: 'npm test' } },
      next: { pass: 'end', fail: 'make', verdict: '/ok' },
    },
  ])
  let state: WorkflowState = {
    ...{ ...reportRun(NOW - 60 * MINUTE, undefined), definition, name: definition.name, history: [], visits: {} },
    ...{ hostSession: undefined, durations: {}, clockSinceMs: undefined },
  }
  state = enter(state, phaseOf(state, 'make'), journalAt(0))
  state = withTransition(state, { event: 'prompt', phase: 'make', visit: 1, step: 1, attempt: 1 }, journalAt(1))
  state = enter(state, phaseOf(state, 'check'), journalAt(10))
  state = withTransition(state, { event: 'fail', phase: 'check', visit: 1, verdict: 'fail' }, journalAt(20))
  state = enter(state, phaseOf(state, 'make'), journalAt(20))
  for (const attempt of [1, 2]) {
    const step = { phase: 'make', visit: 2, step: 1, attempt }
    state = withTransition(state, { ...step, event: 'prompt' }, journalAt(20 + attempt))
    state = withTransition(state, { ...step, event: 'step-failed' }, journalAt(30 + attempt))
  }
  return { ...state, prompts: 1 }
}

describe('a template of HTML', () => {
  it('escapes every value, without control characters, and leaves out false and undefined', () => {
    const given = `&<>"'\u001b\u202e`
    expect(html`<a href="${given}">${given}${7}${0}${false}${undefined}${''}</a>`.text).toBe(
      '<a href="&amp;&lt;&gt;&quot;&#39;">&amp;&lt;&gt;&quot;&#39;70</a>',
    )
  })

  it('takes HTML as it is, alone and in lists, and leaves out its own line breaks', () => {
    const items = ['a', 'b'].map((one) => html`<li>${one}</li>`)
    const list = html`<ul>
      ${items}

    </ul> <b>x y</b>${html`<i>&amp;</i>`}${[]}`
    expect(list.text).toBe('<ul><li>a</li><li>b</li></ul> <b>x y</b><i>&amp;</i>')
  })
})

describe('the card of a task', () => {
  it('has its marker, with waits, marks, steps, checks and events', () => {
    const task = taskOf(
      [
        [0, 'create', { markerId: 'pf_1', agent: 'main' }],
        [1, 'block', { count: 1 }],
        [3, 'wait', { detail: 'answers' }],
        [9, 'wait-end', { detail: 'answers' }],
        [11, 'check', { detail: 'failed: <red>' }],
        [30, 'wait', { detail: 'the go-ahead' }],
      ],
      [marker({ wait: { for: 'the go-ahead', count: 1 }, skill: 'skill-x', ...WORK })],
    )
    expect(linesOf(taskCard(task, 1, true))).toMatchSnapshot()
  })

  it('has only what is known of a marker, and each status once', () => {
    const task = taskOf([
      [1, 'create'],
      [1.5, 'clear'],
      [2, 'create'],
      [2.5, 'clear'],
      [4, 'create'],
    ])
    const markers = task.markers.map((one) => ({ ...one, events: [] }))
    expect(linesOf(taskCard({ ...task, markers }, 0, false))).toMatchSnapshot()
    expect(taskCard(taskOf([[0, 'create', { agent: 'a73' }]]), 0, false).text).toContain(' · agent a73</small>')
  })
})

describe('the card of a run', () => {
  it('has when each phase was in work, what became of it, and its steps', () => {
    const [before, rest] = linesOf(runCard(runOf(loopedRun()))).split('<svg ')
    const [, after] = (rest ?? '').split('</svg>\n')
    expect([before, after?.split('<details')[0]].join('<svg/>\n')).toMatchSnapshot()
  })

  it('says what it waits for, what it left out and which session drove it', () => {
    const state = { ...loopedRun(), skips: 2, hostSession: 's1', wait: { for: 'the build', count: 1 } }
    expect(
      linesOf(runCard(runOf(state)))
        .split('\n')
        .slice(1, 8),
    ).toEqual([
      '<div class="head">',
      '<span class="kind">Run</span>',
      '<b>make &amp; check</b>',
      '<span class="badge wait">waiting</span>',
      '<small>1 h · 1 prompt · 2 skipped · session s1</small>',
      '</div>',
      '<p>waits for: the build</p>',
    ])
  })

  it('counts the steps that it does not list', () => {
    const run = runOf(loopedRun())
    const phase = known(run.phases[0])
    const step = known(phase.steps[0]?.steps[0])
    const steps = Array.from({ length: 70 }, (_, index) => ({ ...step, number: index + 1, result: 'done' as const }))
    const card = runCard({ ...run, phases: [{ ...phase, visits: 1, steps: [{ visit: 1, steps }] }] }).text
    expect(card).toContain('<small>70 of 70 steps</small>')
    expect(card.match(/<li class="done">/g)).toHaveLength(60)
    const skipped = [{ visit: 1, steps: [{ ...step, result: 'skipped' as const }] }]
    const gaps = runCard({ ...run, phases: [{ ...phase, status: 'done', visits: 1, steps: skipped }] }).text
    expect(gaps).toContain('<span class="badge warn">done, 1 skipped</span>')
  })
})

describe('the events of a story', () => {
  const event = (timeMs: number, words: string, tone: 'plain' | 'bad' = 'plain') => ({ timeMs, tone, words })

  it('have the date where a new day begins', () => {
    const list = eventList([event(NOW, 'one'), event(NOW + 1000, 'two', 'bad'), event(NOW + 86_400_000, 'three')])
    expect(list && linesOf(list)).toMatchSnapshot()
    expect(eventList([])).toBeUndefined()
  })

  it('are the last hundred and fifty', () => {
    const events = Array.from({ length: 151 }, (_, index) => event(NOW + index * 1000, `event ${index}`))
    expect(eventList(events.slice(1))?.text).not.toContain('left out')
    const text = known(eventList(events)).text
    const head = '<summary>151 events, 2026-11-22</summary><ol class="events"><li>1 earlier event left out</li>'
    expect(text).toContain(head)
    const words = [...text.matchAll(/<span>(event \d+)<\/span>/g)].map(([, one]) => one)
    expect(words).toEqual(events.slice(1).map((one) => one.words))
  })
})

describe('the upper part of the page', () => {
  /** The part of the overview between two of its tags. */
  const part = (report: ReturnType<typeof reportOf>, from: string, to: string): string =>
    linesOf(overview(report)).split(from)[1]?.split(to)[0] ?? ''

  const stalled = reportRun(journalAt(0), 'stalled')
  const completed = reportRun(journalAt(0), 'completed')
  const run = (task: string, state: WorkflowState) => ({ task, state, history: state.history })
  const days = reportOf(
    [
      [-3000, 'create', { task: '1_a', markerId: 'pf_1' }],
      [-2990, 'clear', { task: '1_a' }],
      [-100, 'create', { task: '2_b', markerId: 'pf_2' }],
      [-99, 'block', { task: '2_b', count: 1 }],
      [-90, 'wait', { task: '2_b' }],
      [-70, 'wait-end', { task: '2_b' }],
      [-60, 'cap', { task: '2_b' }],
    ],
    [marker({ task: '2_b', id: 'pf_2', state: 'abandoned' }), marker({ task: '4_d', wait: { for: 'x', count: 1 } })],
    [run('2_b', stalled), run('3_c', completed)],
  )

  const cleared = reportOf([CREATED, [9, 'clear']])

  it('has the figures', () => {
    expect(part(days, '<div class="tiles">', '<h2>')).toMatchSnapshot()
    expect(part(cleared, '<div class="tiles">', '<h2>')).toMatchSnapshot()
    const unreadable = reportOf([], [marker({ state: 'unreadable' })])
    expect(part(unreadable, '<div class="tiles">', '<h2>')).toContain('<b>0</b>\n<span>given up')
    expect(part(reportOfRun({ ...completed, skips: 1 }), '<div class="tiles">', '<h2>')).toMatchSnapshot()
  })

  it('has what needs attention, with its last event of note', () => {
    expect(part(days, '<h2>Needs attention</h2>', '<h2>')).toMatchSnapshot()
    expect(linesOf(overview(reportOf([CREATED], [marker()])))).not.toContain('Needs attention')
    const skipped = (settled: boolean) => overview(reportOfRun({ ...completed, skips: 1, settled })).text
    expect([skipped(false), skipped(true)].map((text) => text.includes('Needs attention'))).toEqual([true, false])
  })

  it('has the timeline of all tasks, whose long pauses are cut', () => {
    expect(part(days, '<h2>Timeline</h2>', '<div class="key">')).toMatchSnapshot()
  })

  it('leaves out labels of the axis that have no room', () => {
    const starts = [0, 30, 600, 1200, 2000].flatMap((at): Entry[] => [
      [at - 2000, 'create', { task: `${at}_x` }],
      [at - 2000 + (at === 0 ? 200 : 1), 'clear', { task: `${at}_x` }],
    ])
    expect(part(reportOf(starts), '<div class="axis">', '<div class="rows">')).toMatchSnapshot()
  })

  it('explains the colours and marks that it has, and no others', () => {
    expect(part(days, '<div class="key">', 'nothing else')).toMatchSnapshot()
    expect(part(cleared, '<div class="key">', 'nothing else')).toMatchSnapshot()
  })
})

describe('the drawing of a run', () => {
  const phase = (id: string, next: object, more: object = {}) => ({
    ...{ id, prompt: 'p', artifact: `${id}.json`, next: { verdict: '/ok', ...next }, ...more },
  })
  const drawingOf = (phases: readonly object[], more: Partial<WorkflowState> = {}): string => {
    const definition = definitionOf('n "x"', phases)
    const state = { ...reportRun(NOW, undefined), definition, name: definition.name, history: [], visits: {} }
    return linesOf(graph(runOf({ ...state, phase: definition.phases[0].id, ...more })))
  }

  it('has its phases, and arrows to the next one, over phases and back', () => {
    const drawing = drawingOf([
      phase('one', { pass: 'two', fail: 'end' }),
      phase('two', { pass: 'four', fail: 'one' }),
      phase('three', { pass: 'four', fail: 'three' }),
      phase('four', { pass: 'end', fail: 'one' }),
    ])
    expect(drawing).toMatchSnapshot()
  })

  it('has one arrow for two ways to one place, and what a phase needs, and cuts what is too long', () => {
    const long = 'a_phase_with_a_name_that_is_far_too_long'
    const cases = { bug: 'last', 'a very long name of a case': 'last', another: 'end', duplicate: 'end' }
    const drawing = drawingOf([
      phase(long, { pass: 'end', fail: 'end', cases, default: 'mid' }, { artifact: `${long}/of/an/artifact.json` }),
      { id: 'mid', steps: ['a'], step_prompt: 'p', parallel: 2, next: { pass: 'last', fail: 'last' } },
      phase('last', { pass: 'end', fail: 'end' }, { approve: true }),
    ])
    expect(drawing).toMatchSnapshot()
  })

  it('has forty phases and the number of the others, and arrows to those end below', () => {
    const ids = Array.from({ length: 42 }, (_, index) => `p${index}`)
    const next = (index: number): string => ids[index + 1] ?? 'end'
    const phases = ids.map((id, at) => phase(id, { pass: next(at), fail: at === 38 ? 'p41' : next(at) }))
    const drawing = drawingOf(phases, { active: false, outcome: 'aborted' })
    expect(drawing.match(/class="node /g)).toHaveLength(40)
    const lines = drawing.split('\n')
    expect([lines[0], ...lines.slice(-8)].join('\n')).toMatchSnapshot()
  })
})

describe('the page', () => {
  it('shows up to six tasks open, and of more the first one', () => {
    const cardsOf = (count: number) =>
      reportPage(
        reportOf(Array.from({ length: count }, (_, index): Entry => [index, 'create', { task: `${index}_x` }])),
      ).match(/<details class="card task" open>/g)
    expect(cardsOf(6)).toHaveLength(6)
    expect(cardsOf(7)).toHaveLength(1)
  })

  it('has the name of the root, and the events that belong to no marker', () => {
    const report = reportOf([[0, 'error', { detail: '<disk>' }], CREATED])
    const page = reportPage({ ...report, root: 'C:\\my\\pro<ject\\', leftOut: 1 })
    expect(
      page
        .replace(/<style>[\s\S]*?<\/style>/, '<style/>')
        .replace(/<main>[\s\S]*?<h2>Tasks[\s\S]*?<\/section><\/div><\/details>/, '<main/>')
        .replace(/></g, '>\n<'),
    ).toMatchSnapshot()
    expect(page).toMatch(/<style>:root\{color-scheme:light dark;[^<\n]+<\/style>/)
  })
})

describe('the scale of a timeline', () => {
  const span = (from: number, to: number) => ({ startMs: from * MINUTE, endMs: to * MINUTE })
  const placesOf = (spans: Parameters<typeof scaleOf>[0], minutes: readonly number[]): number[] => {
    const scale = scaleOf(spans)
    return minutes.map((minute) => scale.at(minute * MINUTE))
  }

  it('draws a pause as it is up to twenty minutes, and up to a twelfth of the whole', () => {
    expect(scaleOf([span(0, 10), span(30, 40)]).pauses).toEqual([])
    expect(scaleOf([span(0, 10), span(31, 41)]).pauses).toHaveLength(1)
    expect(scaleOf([span(0, 1000), span(1086, 1086)]).pauses).toEqual([])
    expect(scaleOf([span(0, 1000), span(1100, 1100)]).pauses).toHaveLength(1)
  })

  it('gives each stretch a share by its length, and half of the room evenly', () => {
    const scale = scaleOf([span(0, 30), span(5, 12), span(100, 110)])
    expect(scale.pauses).toEqual([{ from: 60.63, to: 63.63 }])
    expect(scale.ticks).toEqual([
      { at: 0, timeMs: 0 },
      { at: 63.63, timeMs: 100 * MINUTE },
    ])
    expect(placesOf([span(100, 110), span(5, 12), span(0, 30)], [-1, 15, 30, 50, 100, 105, 200])).toEqual([
      0, 30.31, 60.63, 60.63, 63.63, 81.81, 100,
    ])
  })

  it('has at most twelve pauses', () => {
    const spans = (count: number) => Array.from({ length: count }, (_, index) => span(index * 1000, index * 1000 + 1))
    expect(scaleOf(spans(13)).pauses).toHaveLength(12)
    expect(scaleOf(spans(14))).toMatchObject({ pauses: [], ticks: [{ at: 0, timeMs: 0 }] })
  })

  it('is a line of nothing, and of a moment', () => {
    expect(placesOf([], [5])).toEqual([0])
    expect(placesOf([span(1, 1)], [1])).toEqual([0])
  })

  it('takes a span that ends before it begins as a moment', () => {
    expect(placesOf([span(10, 5), span(12, 20)], [10, 12, 20])).toEqual([0, 20, 100])
  })
})

import { counted, oneLine } from '../../../kernel/text.ts'
import { around, isGivenUp, type MarkerStory, type Report, type TaskStory } from '../compose.ts'
import { clock, duration, REPORT_TEXTS, runTimes, taskTitle } from '../report-messages.ts'
import type { PhaseStory, RunStory } from '../run-story.ts'
import { type Span, type StoryEvent, type Tone, toneOf } from '../story.ts'
import { graph } from './graph-picture.ts'
import { Html, html, STYLE } from './html.ts'
import { badge, bar, legend, marks, pause, type Scale, scaleOf } from './track.ts'

const OPEN_TASKS = 6

export function reportPage(report: Report): string {
  const { root, nowMs, tasks, others, leftOut } = report
  const name = oneLine(root.split(/[\\/]/).findLast((part) => part !== '') ?? root, 120)
  // The policy forbids every request and every script, in case a hostile name ever gets past the escaping.
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"/>
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
    <meta name="viewport" content="width=device-width,initial-scale=1"/>
    <title>Postflight report: ${name}</title><style>${new Html(STYLE)}</style></head><body>
    <header class="top"><div class="kind">Postflight report</div><h1>${name}</h1><p class="soft">${oneLine(root, 300)} · Generated ${clock(nowMs)}. ${REPORT_TEXTS.timeZone}</p></header>
    <main>${
      tasks.length === 0
        ? html`<p>${REPORT_TEXTS.nothingYet}</p>`
        : html`${overview(report)}
      <h2>Tasks</h2>${tasks.map((task, index) => taskCard(task, index, index === 0 || tasks.length <= OPEN_TASKS))}`
    }
    ${leftOut > 0 && html`<p class="soft">${REPORT_TEXTS.leftOut(leftOut)}</p>`}
    ${others.length > 0 && othersCard(others)}</main>
    <footer>postflight-guard</footer></body></html>`
  return `${page.text}\n`
}

function othersCard(others: Report['others']): Html {
  return html`<h2>${REPORT_TEXTS.otherEvents}</h2><div class="card"><ol class="events">${others.map(
    ({ timeMs, tone, words, task }) =>
      html`<li class="${tone}"><time>${clock(timeMs)}</time><span>${task !== undefined && `${task}: `}${words}</span></li>`,
  )}</ol></div>`
}

/** In percent. */
const LABEL_ROOM = 16

/** In percent: marks would hide a shorter bar. */
const ROOM_FOR_MARKS = 1

export function overview({ tasks }: Report): Html {
  const markers = tasks.flatMap((task) => task.markers)
  const runs = tasks.flatMap((task) => task.runs)
  const urgent = tasks.flatMap((task, index) => attention(task, index))
  const scale = scaleOf([...markers, ...runs])
  return html`<div class="tiles">${figures(markers, runs)}</div>
    ${urgent.length > 0 && html`<h2>Needs attention</h2><div class="card">${folded(urgent, 8, (part) => html`<ul class="list">${part}</ul>`)}</div>`}
    <h2>Timeline</h2><div class="card"${gaps(scale)}><div class="row"><span></span><div class="axis">${labels(scale, around([...markers, ...runs]))}</div></div>
    ${folded(
      tasks.map((task, index) => row(task, index, scale)),
      30,
      (part) => html`<div class="rows">${part}</div>`,
    )}${legend(markers, runs)}</div>`
}

function folded(items: readonly Html[], first: number, list: (part: readonly Html[]) => Html): Html {
  const others = items.slice(first)
  return html`${list(items.slice(0, first))}${others.length > 0 && html`<details class="more"><summary>${others.length} more</summary>${list(others)}</details>`}`
}

function figures(markers: readonly MarkerStory[], runs: readonly RunStory[]): Html[] {
  // A marker that goes on elsewhere is counted there, but its stops were blocked here.
  const all = markers.filter(({ status }) => status !== 'moved').length
  const cleared = markers.filter(({ status }) => status === 'cleared').length
  const blocks = markers.reduce((sum, marker) => sum + marker.blocks, 0)
  const waits = markers.reduce((sum, marker) => sum + marker.waits.length, 0)
  const completed = runs.filter(({ status }) => status === 'completed').length
  const abandoned = markers.filter(isGivenUp).length
  const tiles: readonly (false | readonly [figure: string | number, words: string, tone: string])[] = [
    all > 0 && [`${cleared} / ${all}`, 'markers cleared', cleared === all ? 'good' : ''],
    [abandoned, 'given up', abandoned > 0 ? 'bad' : ''],
    [blocks, 'stops blocked', ''],
    [waits, 'waits', ''],
    runs.length > 0 && [`${completed} / ${runs.length}`, 'runs completed', completed === runs.length ? 'good' : ''],
  ]
  return tiles
    .filter((tile) => tile !== false)
    .map(([figure, words, tone]) => html`<div class="tile ${tone}"><b>${figure}</b><span>${words}</span></div>`)
}

function attention(task: TaskStory, index: number): Html[] {
  const stories = [...task.markers, ...task.runs.filter(({ settled }) => !settled)].filter(
    ({ status }) => toneOf(status) === 'bad' || status === 'waiting',
  )
  return stories.map((one) => {
    const words = 'phases' in one ? explanationOf(one) : one.events.findLast(({ tone }) => tone !== 'plain')?.words
    return html`<li>${badge(one.status)}<a href="#t${index + 1}">${task.task}</a>${words !== undefined && html`<span class="soft">${words}</span>`}</li>`
  })
}

function row({ task, markers, runs }: TaskStory, index: number, scale: Scale): Html {
  const two = markers.length > 0 && runs.length > 0 ? ' two' : ''
  return html`<div class="row"><a href="#t${index + 1}">${task}</a><div class="track${two}">
    ${markers.map((one) => bar(scale, one, toneOf(one.status), one.operation))}
    ${runs.map((one) => bar(scale, one, `${two === '' ? '' : 'r '}${toneOf(one.status)}`, one.name))}
${markers.filter((one) => scale.at(one.endMs) - scale.at(one.startMs) >= ROOM_FOR_MARKS).flatMap((one) => [...one.waits.map((wait) => pause(scale, wait)), ...marks(scale, one)])}</div></div>`
}

function gaps({ pauses }: Scale): Html | false {
  const stops = pauses.map(({ from, to }) => `transparent ${from + 0.5}%,var(--card) 0 ${to - 0.5}%,transparent 0`)
  return stops.length > 0 && html` style="--gaps:linear-gradient(90deg,${stops.join(',')})"`
}

function labels({ ticks }: Scale, { startMs, endMs }: Span): Html[] {
  const isOneDay = clock(startMs).slice(0, 10) === clock(endMs).slice(0, 10)
  let last = Number.NEGATIVE_INFINITY
  return ticks.flatMap(({ at, timeMs }) => {
    if (at - last < LABEL_ROOM || at > 100 - LABEL_ROOM / 2) return []
    last = at
    return [html`<span style="left:${at}%">${clock(timeMs).slice(isOneDay ? 11 : 0, 16)}</span>`]
  })
}

export function taskCard({ task, markers, runs, endMs }: TaskStory, index: number, isOpen: boolean): Html {
  const statuses = [...new Set([...markers, ...runs].map(({ status }) => status))]
  return html`<details class="card task"${isOpen && html` open`}><summary><h3>${oneLine(taskTitle(task), 120)}</h3>
    ${statuses.map(badge)}<small>${clock(endMs)}</small></summary>
    <div id="t${index + 1}">${markers.map(markerCard)}${runs.map(runCard)}</div></details>`
}

function markerCard(marker: MarkerStory): Html {
  const { status, startMs, endMs, blocks, waits, events, steps, checks } = marker
  const scale = scaleOf([{ startMs, endMs }])
  const title = marker.operation ?? marker.id ?? 'Marker'
  const facts = [
    ...(marker.skill === undefined ? [] : [marker.skill]),
    duration(endMs - startMs),
    ...(blocks === 0 ? [] : [`${counted(blocks, 'stop')} blocked`]),
    ...(waits.length === 0 ? [] : [counted(waits.length, 'wait')]),
    ...(marker.agent === undefined ? [] : [marker.agent === 'main' ? 'main conversation' : `agent ${marker.agent}`]),
  ]
  return html`<section class="story"><div class="head"><span class="kind">Marker</span><b>${oneLine(title, 80)}</b>${badge(status)}<small>${facts.join(' · ')}</small></div>
    <div class="track">${bar(scale, marker, toneOf(status))}${waits.map((wait) => pause(scale, wait))}
    ${marks(scale, marker)}</div>
    ${
      (steps.length > 0 || checks.length > 0) &&
      html`<ul class="steps">${steps.map(
        ({ name, done }) => html`<li class="${done ? 'done' : 'open'}">${oneLine(name, 200)}</li>`,
      )}${checks.map(({ run, failed }) => html`<li class="${failed === null ? 'open' : 'failed'}">check: ${oneLine(run, 200)}${failed !== null && `, failed the last time (${failed})`}</li>`)}</ul>`
    }
    ${eventList(events)}</section>`
}

const VISIT_TONES: Readonly<Record<RunStory['visits'][number]['result'], Tone>> = {
  passed: 'good',
  failed: 'warn',
  running: 'warn',
  stuck: 'bad',
}

const MAX_STEPS = 60

export function runCard(run: RunStory): Html {
  const { status, phases, visits, startMs, endMs } = run
  const scale = scaleOf([{ startMs, endMs }])
  const facts = [
    ...runTimes(run),
    counted(run.prompts, 'prompt'),
    ...(run.skips === 0 ? [] : [`${run.skips} skipped`]),
    ...(run.session === undefined ? [] : [`session ${run.session}`]),
  ]
  const explanation = explanationOf(run)
  return html`<section class="story"><div class="head"><span class="kind">Run</span><b>${run.name}</b>${badge(status)}<small>${facts.join(' · ')}</small></div>
    ${explanation !== undefined && html`<p>${explanation}</p>`}
    <div class="rows">${phases
      .filter(({ id }) => visits.some(({ phase }) => phase === id))
      .map(
        ({ id }) =>
          html`<div class="row"><span>${id}</span><div class="track">${visits
            .filter(({ phase }) => phase === id)
            .map((visit) => bar(scale, visit, VISIT_TONES[visit.result]))}</div></div>`,
      )}</div>
    <div class="run">${graph(run)}<table><tr><th>Phase</th><th>Result</th><th class="n">Prompts</th><th class="n">Worked</th></tr>${phases.map(phaseRow)}</table></div>
    ${eventList(run.events)}</section>`
}

function explanationOf({ waitsFor, why }: RunStory): string | undefined {
  return waitsFor === undefined ? why : `waits for: ${waitsFor}`
}

function phaseRow({ id, status, visits, prompts, workedMs, steps, check }: PhaseStory): Html {
  const under = [
    ...(check === undefined ? [] : [html`<p><small>check: ${check}</small></p>`]),
    ...steps.map((one) => stepList(one, visits > 1)),
  ]
  const skips = steps.at(-1)?.steps.filter(({ result }) => result === 'skipped').length ?? 0
  const tone = status === 'done' && skips > 0 ? 'warn' : PHASE_TONES[status]
  return html`<tr><td><b>${id}</b>${visits > 1 && html` <small>${visits} ×</small>`}</td>
    <td><span class="badge ${tone}">${status === 'waiting' ? 'to do' : status}${skips > 0 && `, ${skips} skipped`}</span></td><td class="n">${prompts}</td><td class="n">${visits > 0 && duration(workedMs)}</td></tr>
    ${under.length > 0 && html`<tr class="under"><td colspan="4">${under}</td></tr>`}`
}

function stepList({ visit, steps }: PhaseStory['steps'][number], isOneOfSeveral: boolean): Html {
  const done = steps.filter(({ result }) => result === 'done').length
  const count = `${done} of ${counted(steps.length, 'step')}`
  return html`<p><small>${isOneOfSeveral && `visit ${visit}: `}${count}</small></p><ul class="steps">${steps.slice(0, MAX_STEPS).map(stepRow)}</ul>`
}

const PHASE_TONES: Readonly<Record<PhaseStory['status'], Tone>> = {
  done: 'good',
  running: 'warn',
  failed: 'bad',
  skipped: 'warn',
  waiting: 'plain',
}

function stepRow({ number, name, attempts, result, durationMs }: PhaseStory['steps'][number]['steps'][number]): Html {
  const facts = [
    ...(attempts > 1 ? [counted(attempts, 'attempt')] : []),
    ...(durationMs === undefined || attempts === 0 ? [] : [duration(durationMs)]),
  ]
  return html`<li class="${result}">${name === undefined ? `step ${number}` : `${number}. ${name}`}${facts.length > 0 && ` (${facts.join(', ')})`}</li>`
}

const MAX_EVENTS = 150

export function eventList(events: readonly StoryEvent[]): Html | undefined {
  if (events.length === 0) return undefined
  const shown = events.slice(-MAX_EVENTS)
  const left = events.length - shown.length
  const [first] = shown
  let day = ''
  return html`<details class="more"><summary>${counted(events.length, 'event')}${first !== undefined && `, ${clock(first.timeMs).slice(0, 10)}`}</summary><ol class="events">
    ${left > 0 && html`<li>${counted(left, 'earlier event')} left out</li>`}${shown.map(({ timeMs, tone, words }) => {
      const time = clock(timeMs)
      const isNewDay = day !== '' && time.slice(0, 10) !== day
      day = time.slice(0, 10)
      const kind = tone === 'plain' ? undefined : html` class="${tone}"`
      return html`<li${kind}><time>${isNewDay ? time : time.slice(11)}</time><span>${words}</span></li>`
    })}</ol></details>`
}

import { around } from '../compose.ts'
import type { PromiseStory, Report, RunStory, TaskStory } from '../report.ts'
import { REPORT_TEXT as TEXT } from '../report-messages.ts'
import { type Html, html } from './html.ts'
import { toldOf } from './run-card.ts'
import { clock, type Scale, scaleOf } from './scale.ts'
import { badge, toneOf } from './tones.ts'
import { bar, key, marks, pause } from './track.ts'

/** The upper part of the page: figures, what needs attention, and the timeline of all tasks. */

/** Labels of the time axis stand at least this far apart, in percent. */
const LABEL_ROOM = 16

/** The minimum length of a bar, in percent. A shorter one would be hidden by its marks. */
const ROOM_FOR_MARKS = 1

/** The overview. */
export function overview({ tasks }: Report): Html {
  const promises = tasks.flatMap((task) => task.promises)
  const runs = tasks.flatMap((task) => task.runs)
  const urgent = tasks.flatMap((task, index) => attention(task, index))
  const scale = scaleOf([...promises, ...runs])
  return html`<div class="tiles">${figures(promises, runs)}</div>
    ${urgent.length > 0 && html`<h2>${TEXT.attention}</h2><div class="card">${folded(urgent, 8, (part) => html`<ul class="list">${part}</ul>`)}</div>`}
    <h2>${TEXT.timeline}</h2><div class="card"${gaps(scale)}><div class="row"><span></span><div class="axis">${labels(scale, around([...promises, ...runs]))}</div></div>
    ${folded(
      tasks.map((task, index) => row(task, index, scale)),
      30,
      (part) => html`<div class="rows">${part}</div>`,
    )}${key(promises, runs)}</div>`
}

/** The first items, and the rest in a part that a reader can open. */
function folded(items: readonly Html[], first: number, list: (part: readonly Html[]) => Html): Html {
  const others = items.slice(first)
  return html`${list(items.slice(0, first))}${others.length > 0 && html`<details class="more"><summary>${TEXT.others(others.length)}</summary>${list(others)}</details>`}`
}

function figures(promises: readonly PromiseStory[], runs: readonly RunStory[]): Html[] {
  const cleared = promises.filter(({ standing }) => standing === 'cleared').length
  const blocks = promises.reduce((sum, promise) => sum + promise.blocks, 0)
  const waits = promises.reduce((sum, promise) => sum + promise.waits.length, 0)
  const completed = runs.filter(({ standing }) => standing === 'completed' || standing === 'skipped').length
  const abandoned = promises.filter(({ standing }) => toneOf(standing) === 'bad').length
  return [
    ...(promises.length === 0
      ? []
      : [tile(`${cleared} / ${promises.length}`, TEXT.figures.cleared, cleared === promises.length ? 'good' : '')]),
    tile(abandoned, TEXT.figures.givenUp, abandoned > 0 ? 'bad' : ''),
    tile(blocks, TEXT.figures.blocked, ''),
    tile(waits, TEXT.figures.waits, ''),
    ...(runs.length === 0
      ? []
      : [tile(`${completed} / ${runs.length}`, TEXT.figures.completed, completed === runs.length ? 'good' : '')]),
  ]
}

function tile(figure: string | number, words: string, tone: string): Html {
  return html`<div class="tile ${tone}"><b>${figure}</b><span>${words}</span></div>`
}

/** The promises and runs of a task that a person should look at. */
function attention(task: TaskStory, index: number): Html[] {
  const stories = [...task.promises, ...task.runs].filter(
    ({ standing }) => toneOf(standing) === 'bad' || standing === 'waiting',
  )
  return stories.map((story) => {
    const words = 'phases' in story ? toldOf(story) : story.events.findLast(({ tone }) => tone !== 'plain')?.words
    return html`<li>${badge(story.standing)}<a href="#t${index + 1}">${task.task}</a>${words !== undefined && html`<span class="soft">${words}</span>`}</li>`
  })
}

function row({ task, promises, runs }: TaskStory, index: number, scale: Scale): Html {
  const two = promises.length > 0 && runs.length > 0 ? ' two' : ''
  return html`<div class="row"><a href="#t${index + 1}">${task}</a><div class="track${two}">
    ${promises.map((one) => bar(scale, one, `p ${toneOf(one.standing)}`, one.operation))}
    ${runs.map((one) => bar(scale, one, `${two === '' ? '' : 'r '}${toneOf(one.standing)}`, one.name))}
${promises.filter((one) => scale.at(one.endMs) - scale.at(one.startMs) >= ROOM_FOR_MARKS).flatMap((one) => [...one.waits.map((wait) => pause(scale, wait)), ...marks(scale, one)])}</div></div>`
}

/** Cuts the tracks where a long time is drawn short. */
function gaps({ pauses }: Scale): Html | false {
  const stops = pauses.map(({ from, to }) => `transparent ${from + 0.5}%,var(--card) 0 ${to - 0.5}%,transparent 0`)
  return stops.length > 0 && html` style="--gaps:linear-gradient(90deg,${stops.join(',')})"`
}

function labels({ ticks }: Scale, { startMs, endMs }: { readonly startMs: number; readonly endMs: number }): Html[] {
  const isOneDay = clock(startMs, true).slice(0, 10) === clock(endMs, true).slice(0, 10)
  let last = Number.NEGATIVE_INFINITY
  return ticks.flatMap(({ at, timeMs }) => {
    if (at - last < LABEL_ROOM || at > 100 - LABEL_ROOM / 2) return []
    last = at
    return [html`<span style="left:${at}%">${clock(timeMs, !isOneDay).slice(0, isOneDay ? 5 : 16)}</span>`]
  })
}

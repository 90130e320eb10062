import { oneLine } from '../../../kernel/text.ts'
import type { PromiseStory, TaskStory } from '../report.ts'
import { REPORT_TEXT as TEXT } from '../report-messages.ts'
import { eventList } from './event-list.ts'
import { type Html, html } from './html.ts'
import { runCard } from './run-card.ts'
import { clock, duration, scaleOf } from './scale.ts'
import { badge, toneOf } from './tones.ts'
import { bar, marks, pause } from './track.ts'

/** A task: its promises and its runs. */

/** The card of a task. `index` counts from 0. */
export function taskCard({ task, promises, runs, endMs }: TaskStory, index: number, isOpen: boolean): Html {
  const standings = [...new Set([...promises, ...runs].map(({ standing }) => standing))]
  return html`<details class="card task" id="t${index + 1}"${isOpen && html` open`}><summary><h3>${oneLine(task, 120)}</h3>
    ${standings.map(badge)}<small>${clock(endMs, true)}</small></summary>
    ${promises.map(promiseCard)}${runs.map(runCard)}</details>`
}

function promiseCard(promise: PromiseStory): Html {
  const { standing, startMs, endMs, blocks, waits, events, steps, checks } = promise
  const scale = scaleOf([{ startMs, endMs }])
  const title = promise.operation ?? promise.id ?? TEXT.promise
  const facts = [
    ...(promise.skill === undefined ? [] : [promise.skill]),
    duration(endMs - startMs),
    ...(blocks === 0 ? [] : [TEXT.blocks(blocks)]),
    ...(waits.length === 0 ? [] : [TEXT.waitCount(waits.length)]),
    ...(promise.agent === undefined ? [] : [TEXT.agent(promise.agent)]),
  ]
  return html`<section class="story"><div class="head"><span class="kind">${TEXT.promise}</span><b>${oneLine(title, 80)}</b>${badge(standing)}<small>${facts.join(' · ')}</small></div>
    <div class="track">${bar(scale, promise, toneOf(standing))}${waits.map((wait) => pause(scale, wait))}
    ${marks(scale, promise)}</div>
    ${
      (steps.length > 0 || checks.length > 0) &&
      html`<ul class="steps">${steps.map(
        ({ name, done }) => html`<li class="${done ? 'done' : 'open'}">${oneLine(name, 200)}</li>`,
      )}${checks.map(({ run, failed }) => html`<li class="${failed === undefined ? 'open' : 'failed'}">${TEXT.check(oneLine(run, 200), failed)}</li>`)}</ul>`
    }
    ${eventList(events)}</section>`
}

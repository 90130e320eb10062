import type { PhaseStory, RunStory, StepStory, Tone, VisitSteps, VisitStory } from '../report.ts'
import { REPORT_TEXT as TEXT } from '../report-messages.ts'
import { eventList } from './event-list.ts'
import { graph } from './graph-picture.ts'
import { type Html, html } from './html.ts'
import { duration, runTimes, scaleOf } from './scale.ts'
import { badge } from './tones.ts'
import { bar } from './track.ts'

/** A run: its drawing, its phases with their steps, and the time spent on each phase. */

const VISIT_TONES: Readonly<Record<VisitStory['result'], Tone>> = {
  passed: 'good',
  failed: 'warn',
  running: 'warn',
  stuck: 'bad',
}

/** Steps beyond this number are counted, not listed. */
const MAX_STEPS = 60

/** The card of a run. */
export function runCard(run: RunStory): Html {
  const { standing, phases, visits, startMs, endMs } = run
  const scale = scaleOf([{ startMs, endMs }])
  const facts = [
    ...runTimes(run),
    TEXT.prompts(run.prompts),
    ...(run.skips === 0 ? [] : [TEXT.skips(run.skips)]),
    ...(run.session === undefined ? [] : [TEXT.session(run.session)]),
  ]
  const told = toldOf(run)
  return html`<section class="story"><div class="head"><span class="kind">${TEXT.run}</span><b>${run.name}</b>${badge(standing)}<small>${facts.join(' · ')}</small></div>
    ${told !== undefined && html`<p>${told}</p>`}
    <div class="rows">${phases
      .filter(({ id }) => visits.some(({ phase }) => phase === id))
      .map(
        ({ id }) =>
          html`<div class="row"><span>${id}</span><div class="track">${visits
            .filter(({ phase }) => phase === id)
            .map((visit) => bar(scale, visit, VISIT_TONES[visit.result]))}</div></div>`,
      )}</div>
    <div class="run">${graph(run)}<table><tr>${TEXT.columns.map((column, index) => html`<th${index > 1 && html` class="n"`}>${column}</th>`)}</tr>${phases.map(phaseRow)}</table></div>
    ${eventList(run.events)}</section>`
}

/** What a run waits for, or why it ended. */
export function toldOf({ waitsFor, why }: RunStory): string | undefined {
  return waitsFor === undefined ? why : TEXT.waitsFor(waitsFor)
}

function phaseRow({ id, standing, visits, prompts, workedMs, steps, check }: PhaseStory): Html {
  const under = [
    ...(check === undefined ? [] : [html`<p><small>${TEXT.check(check, undefined)}</small></p>`]),
    ...steps.map((one) => stepList(one, visits > 1)),
  ]
  return html`<tr><td><b>${id}</b>${visits > 1 && html` <small>${TEXT.visits(visits)}</small>`}</td>
    <td>${phaseBadge(standing)}</td><td class="n">${prompts}</td><td class="n">${visits > 0 && duration(workedMs)}</td></tr>
    ${under.length > 0 && html`<tr class="under"><td colspan="4">${under}</td></tr>`}`
}

function stepList({ visit, steps }: VisitSteps, isOneOfSeveral: boolean): Html {
  const done = steps.filter(({ result }) => result === 'done').length
  const count = TEXT.stepsDone(done, steps.length)
  return html`<p><small>${isOneOfSeveral ? TEXT.ofVisit(visit, count) : count}</small></p><ul class="steps">${steps.slice(0, MAX_STEPS).map(stepRow)}</ul>`
}

const PHASE_TONES: Readonly<Record<PhaseStory['standing'], Tone>> = {
  done: 'good',
  running: 'warn',
  failed: 'bad',
  skipped: 'warn',
  waiting: 'plain',
}

function phaseBadge(standing: PhaseStory['standing']): Html {
  return html`<span class="badge ${PHASE_TONES[standing]}">${TEXT.phaseStandings[standing]}</span>`
}

function stepRow({ number, name, attempts, result, durationMs }: StepStory): Html {
  const facts = [
    ...(attempts > 1 ? [TEXT.attempts(attempts)] : []),
    ...(durationMs === undefined || result === 'open' ? [] : [duration(durationMs)]),
  ]
  return html`<li class="${result}">${TEXT.step(number, name)}${facts.length > 0 && ` (${facts.join(', ')})`}</li>`
}

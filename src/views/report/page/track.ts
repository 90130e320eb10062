import type { PromiseStory, RunStory, Span, StoryEvent } from '../report.ts'
import { REPORT_TEXT as TEXT } from '../report-messages.ts'
import { type Html, html } from './html.ts'
import { clock, duration, type Scale } from './scale.ts'
import { toneOf } from './tones.ts'

/** Bars and marks on a line of time. */

/** A bar from the beginning of a span to its end. */
export function bar(scale: Scale, { startMs, endMs }: Span, kind: string, name?: string): Html {
  const left = scale.at(startMs)
  const width = Math.round((scale.at(endMs) - left) * 100) / 100
  const title = `${name === undefined ? '' : `${name}, `}${clock(startMs, true)}, ${duration(endMs - startMs)}`
  return html`<i class="${kind}" style="left:${left}%;width:${width}%" title="${title}"></i>`
}

/** A wait. */
export function pause(scale: Scale, { startMs, endMs }: Span): Html {
  const left = scale.at(startMs)
  return html`<s style="left:${left}%;width:${Math.round((scale.at(endMs) - left) * 100) / 100}%" title="${TEXT.waited(duration(endMs - startMs))}"></s>`
}

/** The moments of a promise that a person should see: blocked stops, and checks that failed. */
export function marks(scale: Scale, promise: PromiseStory): Html[] {
  return marked(promise).map(
    ({ timeMs, tone }) => html`<u${tone === 'bad' && html` class="bad"`} style="left:${scale.at(timeMs)}%"></u>`,
  )
}

function marked({ events }: PromiseStory): StoryEvent[] {
  return events.filter(({ tone }) => tone === 'warn' || tone === 'bad')
}

const { key: KEY } = TEXT

/** What the colours and marks mean that these stories have. */
export function key(promises: readonly PromiseStory[], runs: readonly RunStory[]): Html {
  const bars = new Set([...promises, ...runs].map(({ standing }) => toneOf(standing)))
  const events = new Set(promises.flatMap(marked).map(({ tone }) => tone))
  const entries: [boolean, Html, string][] = [
    [bars.has('good'), html`<i class="good"></i>`, KEY.good],
    [bars.has('warn'), html`<i class="warn"></i>`, KEY.goesOn],
    [bars.has('bad'), html`<i class="bad"></i>`, KEY.bad],
    [bars.has('plain'), html`<i></i>`, KEY.other],
    [bars.has('wait'), html`<i class="wait"></i>`, KEY.waitsNow],
    [promises.some(({ waits }) => waits.length > 0), html`<s></s>`, KEY.wait],
    [events.has('warn'), html`<u></u>`, KEY.block],
    [events.has('bad'), html`<u class="bad"></u>`, KEY.failure],
  ]
  return html`<div class="key">${entries.filter(([isDrawn]) => isDrawn).map(([, sign, words]) => html`<span>${sign}${words}</span>`)}</div>`
}

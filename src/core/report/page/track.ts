import { REPORT_TEXT as TEXT } from '../../messages/report.ts'
import type { PromiseStory, Span } from '../report.ts'
import { type Html, html } from './html.ts'
import { clock, duration, type Scale } from './scale.ts'

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
export function marks(scale: Scale, { events }: PromiseStory): Html[] {
  return events
    .filter(({ tone }) => tone === 'warn' || tone === 'bad')
    .map(({ timeMs, tone }) => html`<u${tone === 'bad' && html` class="bad"`} style="left:${scale.at(timeMs)}%"></u>`)
}

const { key: KEY } = TEXT

/** What the colours mean. */
export function key(): Html {
  return html`<div class="key"><span><i class="good"></i>${KEY.good}</span><span><i class="warn"></i>${KEY.goesOn}</span>
    <span><i class="bad"></i>${KEY.bad}</span><span><i></i>${KEY.other}</span><span><i class="wait"></i>${KEY.waitsNow}</span><span><s></s>${KEY.wait}</span><span><u></u>${KEY.block}</span><span><u class="bad"></u>${KEY.failure}</span></div>`
}

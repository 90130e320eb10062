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
  return html`<s style="left:${left}%;width:${Math.round((scale.at(endMs) - left) * 100) / 100}%" title="waits ${duration(endMs - startMs)}"></s>`
}

/** The moments of a promise that a person should see: blocked stops, and checks that failed. */
export function marks(scale: Scale, { events }: PromiseStory): Html[] {
  return events
    .filter(({ tone }) => tone === 'warn' || tone === 'bad')
    .map(({ timeMs, tone }) => html`<u${tone === 'bad' && html` class="bad"`} style="left:${scale.at(timeMs)}%"></u>`)
}

/** What the colours mean. */
export function key(): Html {
  return html`<div class="key"><span><i class="good"></i>cleared, completed</span><span><i class="warn"></i>pending, running</span>
    <span><i class="bad"></i>given up, failed</span><span><i></i>ended otherwise</span><span><i class="wait"></i>waiting now</span><span><s></s>a wait</span><span><u></u>a stop was blocked</span><span><u class="bad"></u>a check failed, or it was given up</span></div>`
}

import type { StoryEvent } from '../report.ts'
import { REPORT_TEXT as TEXT } from '../report-messages.ts'
import { type Html, html } from './html.ts'
import { clock } from './scale.ts'

/** The maximum number of events in a list. The earliest ones are left out. */
const MAX_EVENTS = 150

/** The events of a promise or a run, folded. */
export function eventList(events: readonly StoryEvent[]): Html | undefined {
  if (events.length === 0) return undefined
  const shown = events.slice(-MAX_EVENTS)
  const left = events.length - shown.length
  const [first] = shown
  let day = ''
  return html`<details class="more"><summary>${TEXT.events(events.length)}${first !== undefined && `, ${clock(first.timeMs, true).slice(0, 10)}`}</summary><ol class="events">
    ${left > 0 && html`<li>${TEXT.earlier(left)}</li>`}${shown.map(({ timeMs, tone, words }) => {
      const time = clock(timeMs, true)
      const isNewDay = day !== '' && time.slice(0, 10) !== day
      day = time.slice(0, 10)
      const kind = tone === 'plain' ? undefined : html` class="${tone}"`
      return html`<li${kind}><time>${isNewDay ? time : time.slice(11)}</time><span>${words}</span></li>`
    })}</ol></details>`
}

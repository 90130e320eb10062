import type { PromiseStanding, RunStory, Tone } from '../report.ts'
import { STANDING_WORDS } from '../report-messages.ts'
import { type Html, html } from './html.ts'

/** The colours of standings. */

type Standing = PromiseStanding | RunStory['standing']

const TONES: Readonly<Record<Standing, Tone>> = {
  pending: 'warn',
  waiting: 'wait',
  cleared: 'good',
  unchecked: 'bad',
  abandoned: 'bad',
  bypassed: 'plain',
  expired: 'plain',
  replaced: 'plain',
  removed: 'plain',
  unreadable: 'bad',
  running: 'warn',
  completed: 'good',
  skipped: 'warn',
  stopped: 'plain',
  stalled: 'bad',
  failed: 'bad',
  aborted: 'plain',
}

/** The colour of a standing. */
export function toneOf(standing: Standing): Tone {
  return TONES[standing]
}

/** A standing as a badge. */
export function badge(standing: Standing): Html {
  return html`<span class="badge ${toneOf(standing)}">${STANDING_WORDS[standing]}</span>`
}

import { around, type MarkerStory } from '../compose.ts'
import { clock, lengthOf, statusWords } from '../report-messages.ts'
import type { RunStory } from '../run-story.ts'
import { type Span, type Status, type StoryEvent, toneOf } from '../story.ts'
import { type Html, html } from './html.ts'

export function bar(scale: Scale, span: Span, kind: string, name?: string): Html {
  const title = `${name === undefined ? '' : `${name}, `}${clock(span.startMs)}, ${lengthOf(span)}`
  return html`<i class="${kind}" style="${position(scale, span)}" title="${title}"></i>`
}

export function pause(scale: Scale, wait: Span): Html {
  return html`<s style="${position(scale, wait)}" title="waits ${lengthOf(wait)}"></s>`
}

function position(scale: Scale, { startMs, endMs }: Span): string {
  const left = scale.at(startMs)
  return `left:${left}%;width:${Math.round((scale.at(endMs) - left) * 100) / 100}%`
}

export function marks(scale: Scale, marker: MarkerStory): Html[] {
  return marked(marker).map(
    ({ timeMs, tone }) => html`<u${tone === 'bad' && html` class="bad"`} style="left:${scale.at(timeMs)}%"></u>`,
  )
}

function marked({ events }: MarkerStory): StoryEvent[] {
  return events.filter(({ tone }) => tone === 'warn' || tone === 'bad')
}

export function legend(markers: readonly MarkerStory[], runs: readonly RunStory[]): Html {
  const bars = new Set([...markers, ...runs].map(({ status }) => toneOf(status)))
  const events = new Set(markers.flatMap(marked).map(({ tone }) => tone))
  const entries: [boolean, Html, string][] = [
    [bars.has('good'), html`<i class="good"></i>`, 'cleared, completed'],
    [bars.has('warn'), html`<i class="warn"></i>`, 'pending, running'],
    [bars.has('bad'), html`<i class="bad"></i>`, 'given up, failed, completed with skips'],
    [bars.has('plain'), html`<i></i>`, 'ended in another way'],
    [bars.has('wait'), html`<i class="wait"></i>`, 'waiting now'],
    [markers.some(({ waits }) => waits.length > 0), html`<s></s>`, 'a wait'],
    [events.has('warn'), html`<u></u>`, 'a stop was blocked'],
    [events.has('bad'), html`<u class="bad"></u>`, 'a check failed, or it was given up'],
  ]
  return html`<div class="key">${entries.filter(([isDrawn]) => isDrawn).map(([, sign, words]) => html`<span>${sign}${words}</span>`)}</div>`
}

export type Scale = ReturnType<typeof scaleOf>

/** An idle time that is longer than this (ms), and than a share of the whole, is drawn short: at most 12. */
const LONG_PAUSE_MS = 20 * 60_000
const LONG_SHARE = 0.08
/** In percent. */
const PAUSE_WIDTH = 3

/** In percent of the line. */
export function scaleOf(spans: readonly Span[]) {
  const stretches = merged(spans)
  if (stretches.length === 0) return { at: () => 0, pauses: [], ticks: [] }
  const total = stretches.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) || 1
  const room = 100 - PAUSE_WIDTH * (stretches.length - 1)
  // Half of the room is divided evenly, so that a short stretch beside a long one can still be seen.
  const widths = stretches.map(
    ({ startMs, endMs }) => room * (0.5 / stretches.length + (0.5 * (endMs - startMs)) / total),
  )
  let left = 0
  const placed = stretches.map((stretch, index) => {
    const location = { ...stretch, left, width: widths[index] ?? 0 }
    left += location.width + PAUSE_WIDTH
    return location
  })
  return {
    at: (timeMs: number) => {
      const place = placed.findLast(({ startMs }) => startMs <= timeMs) ?? placed[0]
      if (place === undefined || timeMs <= place.startMs) return round(place?.left ?? 0)
      const share = (Math.min(timeMs, place.endMs) - place.startMs) / (place.endMs - place.startMs || 1)
      return round(place.left + place.width * share)
    },
    pauses: placed.slice(1).map(({ left: to }) => ({ from: round(to - PAUSE_WIDTH), to: round(to) })),
    ticks: placed.map(({ startMs, left: at }) => ({ at: round(at), timeMs: startMs })),
  }
}

function merged(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((one, other) => one.startMs - other.startMs)
  const { startMs: firstMs, endMs: lastMs } = around(sorted)
  const pause = Math.max(LONG_PAUSE_MS, (lastMs - firstMs) * LONG_SHARE)
  const found: { startMs: number; endMs: number }[] = []
  for (const { startMs, endMs } of sorted) {
    const last = found.at(-1)
    if (last !== undefined && startMs - last.endMs <= pause) last.endMs = Math.max(last.endMs, endMs)
    else found.push({ startMs, endMs: Math.max(endMs, startMs) })
  }
  return found
}

function round(percent: number): number {
  return Math.round(Math.max(0, Math.min(100, percent)) * 100) / 100
}

export function badge(status: Status): Html {
  return html`<span class="badge ${toneOf(status)}">${statusWords(status)}</span>`
}

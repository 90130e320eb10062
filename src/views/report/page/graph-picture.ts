import { counted, cut, oneLine } from '../../../kernel/text.ts'
import { END } from '../../../run/definition/definition-limits.ts'
import type { Phase } from '../../../run/definition/phase-fields.ts'
import { phaseDetails, waysOf } from '../../../run/machine/picture.ts'
import type { PhaseStory, RunStory } from '../run-story.ts'
import { toneOf } from '../story.ts'
import { type Html, html } from './html.ts'

const MAX_DRAWN = 40
const NODE = { width: 190, height: 42, gap: 26, textLength: 24 } as const
const TOP = 34
const LANE = 18
const LABEL_LENGTH = 18
const LABEL_CHARACTER = 6.5

type Arrow = ReturnType<typeof arrowsOf>[number]
type Bypass = ReturnType<typeof inLanes>[number]

export function graph({ name, phases, definition, status }: RunStory): Html {
  const drawn = phases.slice(0, MAX_DRAWN)
  const hidden = phases.length - drawn.length
  const end = drawn.length
  const arrows = arrowsOf(definition.phases.slice(0, MAX_DRAWN))
  const straight = arrows.filter(({ from, to }) => to === from + 1)
  const back = inLanes(arrows.filter(({ from, to }) => to <= from))
  const forth = inLanes(arrows.filter(({ from, to }) => to > from + 1))
  const roomOf = ({ lane, label = '' }: Bypass) => Math.ceil((lane + 1) * LANE + 8 + label.length * LABEL_CHARACTER)
  const margin = (bypasses: readonly Bypass[]): number => Math.max(8, ...bypasses.map(roomOf))
  const left = margin(forth)
  const width = left + NODE.width + margin(back)
  const middle = left + NODE.width / 2
  const y = (at: number): number => TOP + at * (NODE.height + NODE.gap)
  const height = y(end) + 32
  const bypass = ({ from, to, label, lane }: Bypass, side: 1 | -1) => {
    const x = side === 1 ? left + NODE.width : left
    const far = x + side * (LANE * (lane + 1) - 4)
    const start = y(from) + NODE.height / 2 + 6
    const stop = to === end ? y(end) + 10 : y(to) + NODE.height / 2 - 6
    const tip = to === end ? middle + side * 10 : x
    const turn = stop > start ? 6 : -6
    const edge = html`<path class="edge" d="M${x} ${start}H${far - side * 6}Q${far} ${start} ${far} ${start + turn}V${stop - turn}Q${far} ${stop} ${far - side * 6} ${stop}H${tip + side * 6}"/>${head(tip, stop, side === 1 ? 'left' : 'right')}`
    return { edge, label: labelAt(far + side * 5, (start + stop) / 2 + 4, label, side === 1 ? 'start' : 'end') }
  }
  const sides = [...back.map((one) => bypass(one, 1)), ...forth.map((one) => bypass(one, -1))]
  return html`<svg class="graph" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The phases of ${name}">
    <circle class="dot" cx="${middle}" cy="9" r="6"/>
    ${line(middle, 15, TOP)}
    ${straight.map(({ from }) => line(middle, y(from) + NODE.height, y(from + 1)))}
    ${sides.map(({ edge }) => edge)}
    ${straight.flatMap(({ from, label }) => labelAt(middle + 8, y(from + 1) - 9, label))}
    ${sides.flatMap(({ label }) => label)}
    ${drawn.map((phase, at) => node(phase, left, y(at), definition.phases[at]))}
    ${hidden > 0 && html`<text class="sub" x="${middle}" y="${y(end) - 8}" text-anchor="middle">${counted(hidden, 'more phase')}</text>`}
    <circle class="dot end ${toneOf(status)}" cx="${middle}" cy="${y(end) + 10}" r="9"/>
  </svg>`
}

function arrowsOf(phases: readonly Phase[]) {
  const index = new Map(phases.map(({ id }, at) => [id, at]))
  // A phase that is not drawn is placed after the last one, like the end.
  const positionOf = (id: string): number => (id === END ? undefined : index.get(id)) ?? phases.length
  return phases.flatMap(({ next }, from) => {
    const labels = new Map<number, string[]>()
    for (const [label, target] of waysOf(next)) {
      const to = positionOf(target)
      labels.set(to, [...(labels.get(to) ?? []), ...(label === undefined ? [] : [oneLine(label, LABEL_LENGTH)])])
    }
    // Two ways to the same phase become one arrow.
    return [...labels].map(([to, names]) => ({ from, to, label: cut(names.join(', '), LABEL_LENGTH) || undefined }))
  })
}

function inLanes(arrows: readonly Arrow[]) {
  const length = ({ from, to }: Arrow): number => Math.abs(to - from)
  const sorted = [...arrows].sort((one, other) => length(one) - length(other))
  const lanes = [...new Set(sorted.map(({ to }) => to))]
  return sorted.map((one) => ({ ...one, lane: lanes.indexOf(one.to) }))
}

function line(x: number, from: number, to: number): Html {
  return html`<path class="edge" d="M${x} ${from}V${to - 5}"/>${head(x, to, 'down')}`
}

function head(x: number, y: number, way: 'down' | 'left' | 'right'): Html {
  const shape = way === 'down' ? 'l-4-7h8z' : way === 'left' ? 'l7-4v8z' : 'l-7-4v8z'
  return html`<path class="head" d="M${x} ${y}${shape}"/>`
}

function labelAt(x: number, y: number, label: string | undefined, anchor = 'start'): Html[] {
  if (label === undefined) return []
  return [html`<text class="label" x="${x}" y="${y}" text-anchor="${anchor}">${label}</text>`]
}

function node({ id, status }: PhaseStory, x: number, y: number, phase: Phase | undefined): Html {
  const details = oneLine(phase === undefined ? '' : phaseDetails(phase).join(' · '), 120)
  const middle = x + NODE.width / 2
  const textY = details === '' ? y + 26 : y + 18
  return html`<g class="node ${status}"><rect x="${x}" y="${y}" width="${NODE.width}" height="${NODE.height}" rx="8"/>
    <text x="${middle}" y="${textY}" text-anchor="middle">${cut(oneLine(id, 60), NODE.textLength)}</text>
    ${details !== '' && html`<text class="sub" x="${middle}" y="${y + 33}" text-anchor="middle">${cut(details, NODE.textLength + 6)}</text>`}</g>`
}

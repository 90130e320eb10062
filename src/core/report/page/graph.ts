import { REPORT_TEXT as TEXT } from '../../messages/report.ts'
import { GRAPH_TEXT } from '../../messages/runs.ts'
import { cut, oneLine } from '../../text.ts'
import { END } from '../../workflow/definition-limits.ts'
import type { PhaseStory, RunStory } from '../report.ts'
import { type Html, html } from './html.ts'

/** The phases of a run as a drawing: one below the other, with arrows to the phases that may follow. */

/** More phases than this are not drawn. */
const MAX_DRAWN = 40

const NODE = { width: 190, height: 42, gap: 26, textLength: 24 } as const
const TOP = 34
const LANE = 18

/** An arrow that does not lead to the next phase: it runs beside the phases, in a lane of its own. */
interface Bypass {
  readonly from: number
  readonly to: number
  readonly label: string | undefined
  readonly lane: number
}

/** The drawing. */
export function graph({ name, phases, definition, standing }: RunStory): Html {
  const drawn = phases.slice(0, MAX_DRAWN)
  const hidden = phases.length - drawn.length
  const index = new Map(drawn.map(({ id }, at) => [id, at]))
  const end = drawn.length
  const place = (id: string): number => (id === END ? end : (index.get(id) ?? end))
  const back: Bypass[] = []
  const forth: Bypass[] = []
  const straight: { from: number; label: string | undefined }[] = []
  for (const [from, phase] of definition.phases.slice(0, MAX_DRAWN).entries()) {
    const { pass, fail, verdict } = phase.next
    const targets =
      verdict === undefined
        ? [[pass, undefined] as const]
        : ([
            [pass, 'pass'],
            [fail, 'fail'],
          ] as const)
    for (const [id, label] of targets) {
      const to = place(id)
      if (to === from + 1) straight.push({ from, label })
      else if (to <= from) back.push({ from, to, label, lane: laneOf(back, to) })
      else forth.push({ from, to, label, lane: laneOf(forth, to) })
    }
  }
  // Labels stand in the outermost lanes.
  const margin = (arrows: readonly Bypass[]): number =>
    arrows.length === 0 ? 8 : (Math.max(...arrows.map(({ lane }) => lane)) + 1) * LANE + 44
  const left = margin(forth)
  const width = left + NODE.width + margin(back)
  const middle = left + NODE.width / 2
  const y = (at: number): number => TOP + at * (NODE.height + NODE.gap)
  const height = y(end) + 32
  return html`<svg class="graph" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${TEXT.graph(name)}">
    <circle class="dot" cx="${middle}" cy="9" r="6"/>
    ${line(middle, 15, TOP)}
    ${straight.map(({ from, label }) => html`${line(middle, y(from) + NODE.height, y(from + 1))}${labelAt(middle + 8, y(from + 1) - 9, label)}`)}
    ${back.map((one) => bypass(one, left + NODE.width, 1, y))}
    ${forth.map((one) => bypass(one, left, -1, y))}
    ${drawn.map((phase, at) => node(phase, left, y(at), stepsText(definition.phases[at])))}
    ${hidden > 0 && html`<text class="sub" x="${middle}" y="${y(end) - 8}" text-anchor="middle">${TEXT.more(hidden)}</text>`}
    <circle class="dot end ${standing}" cx="${middle}" cy="${y(end) + 10}" r="9"/>
  </svg>`
}

/** The lane of an arrow: arrows to one phase share theirs. */
function laneOf(arrows: readonly Bypass[], to: number): number {
  const lanes = arrows.map(({ lane }) => lane)
  return arrows.find((one) => one.to === to)?.lane ?? Math.max(-1, ...lanes) + 1
}

function line(x: number, from: number, to: number): Html {
  return html`<path class="edge" d="M${x} ${from}V${to - 5}"/>${head(x, to, 'down')}`
}

/** The head of an arrow. One of its own, because a marker of SVG needs an id, and the page has many drawings. */
function head(x: number, y: number, way: 'down' | 'left' | 'right'): Html {
  const shape = way === 'down' ? 'l-4-7h8z' : way === 'left' ? 'l7-4v8z' : 'l-7-4v8z'
  return html`<path class="head" d="M${x} ${y}${shape}"/>`
}

function bypass({ from, to, label, lane }: Bypass, x: number, side: 1 | -1, y: (at: number) => number): Html {
  const far = x + side * (LANE * (lane + 1) - 4)
  const start = y(from) + NODE.height / 2 + 6
  const isEnd = y(to) - y(from) > 0 && side === -1
  const stop = y(to) + NODE.height / 2 - (isEnd ? 6 : 6)
  return html`<path class="edge" d="M${x} ${start}H${far - side * 6}Q${far} ${start} ${far} ${start + (stop > start ? 6 : -6)}V${stop + (stop > start ? -6 : 6)}Q${far} ${stop} ${far - side * 6} ${stop}H${x + side * 6}"/>
    ${head(x, stop, side === 1 ? 'left' : 'right')}
    ${labelAt(far + side * 5, (start + stop) / 2 + 4, label, side === 1 ? 'start' : 'end')}`
}

function labelAt(x: number, y: number, label: string | undefined, anchor = 'start'): Html | undefined {
  if (label === undefined) return undefined
  return html`<text class="label" x="${x}" y="${y}" text-anchor="${anchor}">${label}</text>`
}

function node({ id, standing, artifact }: PhaseStory, x: number, y: number, steps: string | undefined): Html {
  const details = [artifact, steps].filter((one) => one !== undefined).join(' · ')
  const middle = x + NODE.width / 2
  const textY = details === '' ? y + 26 : y + 18
  return html`<g class="node ${standing}"><rect x="${x}" y="${y}" width="${NODE.width}" height="${NODE.height}" rx="8"/>
    <text x="${middle}" y="${textY}" text-anchor="middle">${cut(oneLine(id, 60), NODE.textLength)}</text>
    ${details !== '' && html`<text class="sub" x="${middle}" y="${y + 33}" text-anchor="middle">${cut(details, NODE.textLength + 6)}</text>`}</g>`
}

function stepsText(phase: RunStory['definition']['phases'][number] | undefined): string | undefined {
  if (phase?.steps === undefined) return undefined
  return phase.steps.kind === 'list'
    ? GRAPH_TEXT.steps(phase.steps.steps.length)
    : GRAPH_TEXT.stepsFrom(phase.steps.artifact)
}

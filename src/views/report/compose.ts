import { counted, inLine, oneLine } from '../../kernel/text.ts'
import { fromIso } from '../../kernel/time.ts'
import { namedWork, shownState } from '../../marker/marker.ts'
import type { MarkerView } from '../../marker/marker-view.ts'
import type { Painter } from '../../project/command-context.ts'
import type { JournalLine } from '../../project/journal-entry.ts'
import { clock, duration, REPORT_TEXTS, runTimes, statusWords, taskTitle } from './report-messages.ts'
import { type RunStory, runStory } from './run-story.ts'
import type { MarkerStatus, ReportSource, Span, StoryEvent, Tone } from './story.ts'

/** More would make the page unreadable. */
export const MAX_TASKS = 200

const MAX_OTHERS = 50

/** Of a folder. A name that is cut would be that of another task. */
const MAX_NAME = 255

export function composeReport({ root, nowMs, journal, markers, runs }: ReportSource) {
  const timed = journal
    .flatMap((line): TimedLine[] => {
      const timeMs = typeof line.time === 'string' ? fromIso(line.time) : undefined
      return timeMs === undefined ? [] : [{ line, timeMs }]
    })
    .sort((one, other) => one.timeMs - other.timeMs)
  const linesOf = grouped(timed, ({ line }) => (isOfMarker(line) ? textOf(line, 'task', MAX_NAME) : undefined))
  const markersOf = grouped(markers, ({ task }) => task)
  const runsOf = grouped(runs, ({ task }) => task)
  const linesWithId = grouped(timed, ({ line }) => textOf(line, 'marker_id'))
  const markersWithId = grouped(markers, ({ id }) => id)
  const ofNone = new Set<TimedLine>()
  // Its folder was renamed.
  const isElsewhere = ({ id, endMs }: MarkerStory, task: string): boolean =>
    id !== undefined &&
    (markersWithId.get(id)?.some((one) => one.task !== task) || Number(linesWithId.get(id)?.at(-1)?.timeMs) > endMs)
  const tasks = [...new Set([...linesOf.keys(), ...markersOf.keys(), ...runsOf.keys()])]
    .map((task) => {
      const stories = markerStories(linesOf.get(task) ?? [], markersOf.get(task) ?? [], nowMs, ofNone).map(
        (one): MarkerStory => (one.status === 'removed' && isElsewhere(one, task) ? { ...one, status: 'moved' } : one),
      )
      const own = (runsOf.get(task) ?? []).map((run) => runStory(run, nowMs))
      return { task, markers: stories, runs: own, ...around([...stories, ...own]) }
    })
    // If a run's folder is gone, the journal may still have the end of a wait.
    .filter(({ markers, runs }) => markers.length + runs.length > 0)
    .sort((one, other) => other.endMs - one.endMs || (one.task < other.task ? -1 : 1))
  const others = timed
    .filter((one) => one.line.event === 'error' || ofNone.has(one))
    .map((one) => ({ ...storyEvent(one), task: textOf(one.line, 'task', 120) }))
  return {
    root,
    nowMs,
    tasks: tasks.slice(0, MAX_TASKS),
    others: others.slice(-MAX_OTHERS),
    leftOut: Math.max(0, tasks.length - MAX_TASKS),
  }
}

export type Report = Readonly<ReturnType<typeof composeReport>>
export type TaskStory = Report['tasks'][number]

function grouped<One, Key>(all: readonly One[], keyOf: (one: One) => Key | null | undefined): Map<Key, One[]> {
  const groups = new Map<Key, One[]>()
  for (const one of all) {
    const key = keyOf(one)
    if (key === null || key === undefined) continue
    const group = groups.get(key) ?? []
    group.push(one)
    groups.set(key, group)
  }
  return groups
}

export function around(spans: readonly Span[]): Span {
  return {
    startMs: spans.reduce((least, { startMs }) => Math.min(least, startMs), Number.POSITIVE_INFINITY),
    endMs: spans.reduce((most, { endMs }) => Math.max(most, endMs), Number.NEGATIVE_INFINITY),
  }
}

type TimedLine = Readonly<{ timeMs: number; line: JournalLine }>

interface EventForm {
  /** By default its name, which begins the sentence of its details. */
  readonly words?: string
  readonly tone?: Tone
  /** What its marker is after it. */
  readonly ends?: MarkerStatus
}

const EVENTS_OF_MARKERS: ReadonlyMap<string, EventForm> = new Map<string, EventForm>([
  ['create', { words: 'marker created' }],
  ['block', { words: 'stop blocked', tone: 'warn' }],
  ['clear', { words: 'cleared', tone: 'good', ends: 'cleared' }],
  ['check', { tone: 'bad' }],
  ['cap', { words: 'gave up after the last blocked stop', tone: 'bad', ends: 'abandoned' }],
  ['bypass', { words: 'bypassed', tone: 'warn', ends: 'bypassed' }],
  ['bypass-request', { words: 'bypass requested' }],
  ['expire', { words: 'expired', tone: 'warn' }],
  ['adopt', { words: 'taken over' }],
  ['claim', { words: 'owner recorded' }],
  ['step', {}],
  ['wait', { words: 'waits', tone: 'wait' }],
  ['wait-end', { words: 'the wait ended' }],
])

const ERROR: EventForm = { words: 'error', tone: 'bad' }

interface Draft {
  id?: string | undefined
  agent?: string | undefined
  startMs: number
  endMs?: number
  status?: MarkerStatus
  blocks: number
  waits: Span[]
  waitingSinceMs?: number | undefined
  events: StoryEvent[]
}

function isOfMarker(line: JournalLine): boolean {
  return EVENTS_OF_MARKERS.has(line.event) && !textOf(line, 'marker_id')?.startsWith('wf_')
}

function textOf(line: JournalLine, field: string, limit = 300): string | undefined {
  const value = line[field]
  return typeof value === 'string' && value !== '' ? oneLine(value, limit) : undefined
}

function storyEvent({ line, timeMs }: TimedLine): StoryEvent {
  const { words, tone = 'plain' } = EVENTS_OF_MARKERS.get(line.event) ?? ERROR
  const count = typeof line.count === 'number' && line.event === 'block' ? `: ${line.count} of 3` : ''
  const isUnchecked = line.event === 'clear' && line.outcome === 'unchecked'
  const what = isUnchecked ? 'cleared without its checks' : `${words ?? line.event}${count}`
  const detail = textOf(line, 'detail', 500)
  const said = [what, detail].filter((one) => one !== undefined)
  return { timeMs, tone, words: said.join(words === undefined ? ' ' : ': ') }
}

/** A folder holds one marker, and a few that were given up. A journal may hold any number. */
const MAX_LIVE = 100

function markerStories(
  lines: readonly TimedLine[],
  markers: readonly MarkerView[],
  nowMs: number,
  ofNone: Set<TimedLine>,
): MarkerStory[] {
  const drafts: Draft[] = []
  let live: Draft[] = []
  for (const timed of lines) {
    const begun = read(live, timed, ofNone)
    drafts.push(...begun)
    // Later events may be theirs.
    live = [...live, ...begun].filter((one) => one.status === undefined || isGivenUp(one)).slice(-MAX_LIVE)
  }
  const left = new Set(live)
  const withMarker = new Map<Draft, MarkerView>()
  for (const marker of markers) {
    const draft = [...left].reverse().find((one) => isOf(one, marker)) ?? newDraft(madeMs(marker) ?? nowMs)
    if (!drafts.includes(draft)) drafts.push(draft)
    left.delete(draft)
    withMarker.set(draft, marker)
  }
  return drafts.sort((one, other) => one.startMs - other.startMs).map((one) => storyOf(one, withMarker.get(one), nowMs))
}

function isOf(draft: Draft, marker: MarkerView): boolean {
  if ((marker.state === 'abandoned') !== isGivenUp(draft)) return false
  return marker.id === null || draft.id === undefined || marker.id === draft.id
}

export function isGivenUp({ status }: Pick<Draft, 'status'>): boolean {
  return status === 'abandoned' || status === 'unchecked'
}

function newDraft(startMs: number): Draft {
  return { startMs, blocks: 0, waits: [], events: [] }
}

/**
 * Adds an event to the draft of its marker. Returns a draft that begins with it. A check of `postflight done` may have
 * no marker: it goes to `ofNone`.
 */
function read(live: readonly Draft[], timed: TimedLine, ofNone: Set<TimedLine>): readonly Draft[] {
  const { line, timeMs } = timed
  const id = textOf(line, 'marker_id')
  const isRenewed = line.event === 'create' && live.some((one) => one.id === id && one.status === undefined)
  // No marker was pending: it ended a run, or removed what was given up.
  const endsNone = line.event === 'clear' && id === undefined && line.outcome === undefined
  const isOfEnded = line.event === 'clear' || line.event === 'check'
  const isOwn = (one: Draft): boolean =>
    (one.status === undefined || isOfEnded) && (id === undefined || one.id === undefined || one.id === id)
  const known = endsNone ? undefined : live.findLast(isOwn)
  const settles: readonly unknown[] = Array.isArray(line.settles) ? line.settles : []
  for (const one of live) {
    // A marker without an id is in no list: a `clear` of its folder removes it.
    const isSettled = one.id === undefined ? line.event === 'clear' : settles.includes(one.id)
    if (one === known || !isGivenUp(one) || !isSettled) continue
    one.events.push(storyEvent(timed))
    end(one, line.event === 'adopt' ? 'replaced' : 'cleared', timed)
  }
  // The end of a run's wait looks like that of a marker without an id.
  if (endsNone || (line.event === 'wait-end' && known?.waitingSinceMs === undefined)) return []
  if (known === undefined && line.event === 'check' && id === undefined) {
    ofNone.add(timed)
    return []
  }
  const isNew = known === undefined || (line.event === 'create' && !isRenewed)
  // A folder holds one marker, so a new one replaces the last.
  const replaced = isNew && line.event === 'create' ? live.filter((one) => one.status === undefined) : []
  for (const one of replaced) end(one, 'replaced', timed)
  const draft = isNew ? newDraft(timeMs) : known
  draft.id ??= id
  draft.agent = textOf(line, 'agent', 80) ?? draft.agent
  draft.events.push(storyEvent(timed))
  if (line.event === 'block') draft.blocks += 1
  if (line.event === 'wait') draft.waitingSinceMs ??= timeMs
  else if (line.event === 'wait-end') endWait(draft, timeMs)
  const status = EVENTS_OF_MARKERS.get(line.event)?.ends
  if (status !== undefined) end(draft, line.outcome === 'unchecked' ? 'unchecked' : status, timed)
  return isNew ? [draft] : []
}

function endWait(draft: Draft, timeMs: number): void {
  if (draft.waitingSinceMs !== undefined) draft.waits.push({ startMs: draft.waitingSinceMs, endMs: timeMs })
  draft.waitingSinceMs = undefined
}

function end(draft: Draft, status: MarkerStatus, { line, timeMs }: TimedLine): void {
  endWait(draft, timeMs)
  const isKept = draft.id !== undefined && draft.id === textOf(line, 'keeps')
  draft.status = isKept ? 'unchecked' : status
  draft.endMs = timeMs
}

function storyOf(draft: Draft, marker: MarkerView | undefined, nowMs: number) {
  const status = marker === undefined ? (draft.status ?? 'removed') : shownState(marker)
  const isOpen = status === 'pending' || status === 'waiting'
  const lastMs = draft.events.at(-1)?.timeMs ?? draft.startMs
  const endMs = draft.endMs ?? (isOpen ? Math.max(nowMs, draft.startMs) : lastMs)
  const { waitingSinceMs, ...known } = draft
  if (status === 'waiting') draft.waits.push({ startMs: waitingSinceMs ?? lastMs, endMs })
  return {
    ...known,
    ...namedWork(marker ?? {}),
    id: draft.id ?? marker?.id ?? undefined,
    status,
    startMs: Math.min(draft.startMs, (isOpen ? madeMs(marker) : undefined) ?? draft.startMs),
    endMs,
    steps: marker?.steps ?? [],
    checks: marker?.checks ?? [],
  }
}

export type MarkerStory = Readonly<ReturnType<typeof storyOf>>

function madeMs(marker: MarkerView | undefined): number | undefined {
  return fromIso(marker?.promised_at ?? '')
}

export function storyLines({ tasks, others, leftOut }: Report, paint: Pick<Painter, 'bold'>): string[] {
  if (tasks.length === 0 && others.length === 0) return [REPORT_TEXTS.nothingYet]
  return [
    ...tasks.flatMap(({ task, markers, runs }) => [
      paint.bold(inLine(taskTitle(task))),
      ...markers.flatMap(markerLines),
      ...runs.flatMap(runLines),
    ]),
    ...(others.length === 0 ? [] : [paint.bold(REPORT_TEXTS.otherEvents)]),
    ...others.map((event) => eventLine({ ...event, words: [event.task, event.words].filter(Boolean).join(': ') })),
    REPORT_TEXTS.timeZone,
    ...(leftOut > 0 ? [REPORT_TEXTS.leftOut(leftOut)] : []),
  ]
}

function markerLines({ id, status, startMs, endMs, blocks, events }: MarkerStory): string[] {
  const facts = [statusWords(status), duration(endMs - startMs)]
  if (blocks > 0) facts.push(`${counted(blocks, 'stop')} blocked`)
  return [`  Marker ${id ?? ''}`.trimEnd().concat(`: ${facts.join(' · ')}`), ...events.map(eventLine)]
}

function runLines(run: RunStory): string[] {
  const { name, status, prompts, events } = run
  const facts = [statusWords(status), ...runTimes(run), counted(prompts, 'prompt')]
  return [`  Run "${name}": ${facts.join(' · ')}`, ...events.map(eventLine)]
}

function eventLine({ timeMs, words }: StoryEvent): string {
  return `    ${clock(timeMs)}  ${words}`
}

import { oneLine } from '../../kernel/text.ts'
import { fromIso } from '../../kernel/time.ts'
import type { JournalLine } from '../../project/journal-entry.ts'
import { eventWords } from './report-messages.ts'
import type { MarkerStatus, MarkerStory, ReportMarker, Span, StoryEvent, Tone } from './story.ts'

/** Pure. */

export interface TimedLine {
  readonly timeMs: number
  readonly line: JournalLine
}

const OF_MARKERS: readonly string[] = [
  ...['create', 'block', 'clear', 'check', 'cap', 'bypass', 'bypass-request', 'expire', 'adopt', 'claim', 'step'],
  ...['wait', 'wait-end'],
]

const ENDS: Readonly<Record<string, MarkerStatus>> = {
  clear: 'cleared',
  cap: 'abandoned',
  bypass: 'bypassed',
}

const TONES: Readonly<Record<string, Tone>> = {
  block: 'warn',
  check: 'bad',
  cap: 'bad',
  bypass: 'warn',
  clear: 'good',
  wait: 'wait',
  expire: 'warn',
  error: 'bad',
}

interface Draft {
  id: string | undefined
  session: string | undefined
  agent: string | undefined
  startMs: number
  endMs: number | undefined
  status: MarkerStatus | undefined
  blocks: number
  waits: Span[]
  waitingSinceMs: number | undefined
  events: StoryEvent[]
}

export function isOfMarker(line: JournalLine): boolean {
  return OF_MARKERS.includes(line.event) && !textOf(line, 'marker_id')?.startsWith('wf_')
}

export function textOf(line: JournalLine, field: string, limit = 300): string | undefined {
  const value = line[field]
  return typeof value === 'string' && value !== '' ? oneLine(value, limit) : undefined
}

export function timeOf(line: JournalLine): number | undefined {
  return typeof line.time === 'string' ? fromIso(line.time) : undefined
}

export function storyEvent({ line, timeMs }: TimedLine): StoryEvent {
  const count = typeof line.count === 'number' ? line.count : undefined
  const words = eventWords(line.event, { count, detail: textOf(line, 'detail', 500), outcome: textOf(line, 'outcome') })
  return { timeMs, tone: TONES[line.event] ?? 'plain', words }
}

export function markerStories(
  lines: readonly TimedLine[],
  markers: readonly ReportMarker[],
  nowMs: number,
): MarkerStory[] {
  const drafts: Draft[] = []
  for (const timed of lines) read(drafts, timed)
  const left = new Set(drafts.filter((one) => one.status === undefined || isGivenUp(one)))
  const withMarker = new Map<Draft, ReportMarker>()
  for (const marker of markers) {
    const draft = [...left].reverse().find((one) => isOf(one, marker)) ?? newDraft(marker.madeMs ?? nowMs)
    if (!drafts.includes(draft)) drafts.push(draft)
    left.delete(draft)
    withMarker.set(draft, marker)
  }
  return drafts
    .sort((one, other) => one.startMs - other.startMs)
    .map((draft) => storyOf(draft, withMarker.get(draft), nowMs))
}

function isOf(draft: Draft, marker: ReportMarker): boolean {
  const isAbandoned = marker.state === 'abandoned' || marker.state === 'unchecked'
  if (isAbandoned !== isGivenUp(draft)) return false
  return marker.id === undefined || draft.id === undefined || marker.id === draft.id
}

function isGivenUp({ status }: Draft): boolean {
  return status === 'abandoned' || status === 'unchecked'
}

function newDraft(startMs: number): Draft {
  return {
    ...{ id: undefined, session: undefined, agent: undefined, startMs, endMs: undefined, status: undefined },
    ...{ blocks: 0, waits: [], waitingSinceMs: undefined, events: [] },
  }
}

function read(drafts: Draft[], timed: TimedLine): void {
  const { line, timeMs } = timed
  const id = textOf(line, 'marker_id')
  const isRenewed = line.event === 'create' && drafts.some((one) => one.id === id && one.endMs === undefined)
  let draft = drafts.findLast(
    (one) =>
      (one.endMs === undefined || (line.event === 'clear' && isGivenUp(one))) &&
      (id === undefined || one.id === undefined || one.id === id),
  )
  // The end of a run's wait looks like that of a marker without an id.
  if (draft === undefined && line.event === 'wait-end') return
  if (draft === undefined || (line.event === 'create' && !isRenewed)) {
    // A folder holds one marker, so a new one replaces the last.
    if (line.event === 'create') for (const one of drafts) if (one.endMs === undefined) end(one, 'replaced', timeMs)
    draft = newDraft(timeMs)
    drafts.push(draft)
  }
  draft.id ??= id
  draft.session ??= textOf(line, 'host_session', 80)
  draft.agent = textOf(line, 'agent', 80) ?? draft.agent
  draft.events.push(storyEvent(timed))
  if (line.event === 'block') draft.blocks += 1
  if (line.event === 'wait') draft.waitingSinceMs ??= timeMs
  else if (line.event === 'wait-end') endWait(draft, timeMs)
  const status = ENDS[line.event]
  if (status !== undefined) end(draft, line.outcome === 'unchecked' ? 'unchecked' : status, timeMs)
}

function endWait(draft: Draft, timeMs: number): void {
  if (draft.waitingSinceMs !== undefined) draft.waits.push({ startMs: draft.waitingSinceMs, endMs: timeMs })
  draft.waitingSinceMs = undefined
}

function end(draft: Draft, status: MarkerStatus, timeMs: number): void {
  endWait(draft, timeMs)
  draft.status = status
  draft.endMs = timeMs
}

function storyOf(draft: Draft, marker: ReportMarker | undefined, nowMs: number): MarkerStory {
  const status = statusOf(draft, marker)
  const isOpen = status === 'pending' || status === 'waiting'
  const lastMs = draft.events.at(-1)?.timeMs ?? draft.startMs
  const endMs = draft.endMs ?? (isOpen ? Math.max(nowMs, draft.startMs) : lastMs)
  if (status === 'waiting') draft.waits.push({ startMs: draft.waitingSinceMs ?? lastMs, endMs })
  return {
    id: draft.id ?? marker?.id,
    operation: marker?.operation,
    skill: marker?.skill,
    session: draft.session,
    agent: draft.agent,
    status,
    startMs: Math.min(draft.startMs, isOpen ? (marker?.madeMs ?? draft.startMs) : draft.startMs),
    endMs,
    blocks: draft.blocks,
    waits: draft.waits,
    events: draft.events,
    steps: marker?.steps ?? [],
    checks: marker?.checks ?? [],
  }
}

function statusOf({ status }: Draft, marker: ReportMarker | undefined): MarkerStatus {
  // An abandoned marker that is gone was cleared or removed by hand after all.
  if (marker === undefined) return status ?? 'removed'
  if (marker.state === 'pending') return marker.waitsFor === undefined ? 'pending' : 'waiting'
  return marker.state
}

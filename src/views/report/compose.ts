import { inLine } from '../../kernel/text.ts'
import { isOfMarker, markerStories, storyEvent, type TimedLine, textOf, timeOf } from './marker-stories.ts'
import { clock, duration, runTimes } from './page/track.ts'
import { STANDING_WORDS, REPORT_TEXT as TEXT, taskTitle } from './report-messages.ts'
import { runStory } from './run-story.ts'
import type { MarkerStory, Report, ReportSource, RunStory, Span, StoryEvent, TaskStory } from './story.ts'

/** More would make the page unreadable. */
export const MAX_TASKS = 200

const MAX_OTHERS = 50

export function composeReport({ root, nowMs, journal, markers, runs }: ReportSource): Report {
  const timed = journal
    .flatMap((line): TimedLine[] => {
      const timeMs = timeOf(line)
      return timeMs === undefined ? [] : [{ line, timeMs }]
    })
    .sort((one, other) => one.timeMs - other.timeMs)
  const ofMarkers = groupByTask(timed)
  const names = new Set([...ofMarkers.keys(), ...markers.map(({ task }) => task), ...runs.map(({ task }) => task)])
  const tasks = [...names]
    .map((task): TaskStory => {
      const stories = markerStories(
        ofMarkers.get(task) ?? [],
        markers.filter((marker) => marker.task === task),
        nowMs,
      )
      const own = runs.filter((run) => run.task === task).map((run) => runStory(run, nowMs))
      return { task, markers: stories, runs: own, ...around([...stories, ...own]) }
    })
    .sort((one, other) => other.endMs - one.endMs || (one.task < other.task ? -1 : 1))
  const others = timed
    .filter(({ line }) => line.event === 'error')
    .map((one) => ({ ...storyEvent(one), task: textOf(one.line, 'task', 120) }))
  return {
    root,
    nowMs,
    tasks: tasks.slice(0, MAX_TASKS),
    others: others.slice(-MAX_OTHERS),
    leftOut: Math.max(0, tasks.length - MAX_TASKS),
  }
}

function groupByTask(timed: readonly TimedLine[]): Map<string, TimedLine[]> {
  const groups = new Map<string, TimedLine[]>()
  for (const one of timed) {
    const task = textOf(one.line, 'task', 120)
    if (task === undefined || !isOfMarker(one.line)) continue
    const group = groups.get(task)
    if (group === undefined) groups.set(task, [one])
    else group.push(one)
  }
  return groups
}

export function around(spans: readonly Span[]): Span {
  return {
    startMs: spans.reduce((least, { startMs }) => Math.min(least, startMs), Number.POSITIVE_INFINITY),
    endMs: spans.reduce((most, { endMs }) => Math.max(most, endMs), Number.NEGATIVE_INFINITY),
  }
}

/** Pure. */

interface Highlighter {
  readonly bold: (text: string) => string
}

export function storyLines({ tasks, others, leftOut }: Report, paint: Highlighter): string[] {
  if (tasks.length === 0 && others.length === 0) return [TEXT.nothing]
  return [
    ...tasks.flatMap(({ task, markers, runs }) => [
      paint.bold(inLine(taskTitle(task))),
      ...markers.flatMap(markerLines),
      ...runs.flatMap(runLines),
    ]),
    ...(others.length === 0 ? [] : [paint.bold(TEXT.otherEvents)]),
    ...others.map((event) => eventLine({ ...event, words: [event.task, event.words].filter(Boolean).join(': ') })),
    ...(leftOut > 0 ? [TEXT.leftOut(leftOut)] : []),
  ]
}

function markerLines({ id, status, startMs, endMs, blocks, events }: MarkerStory): string[] {
  const facts = [STANDING_WORDS[status], duration(endMs - startMs), ...(blocks === 0 ? [] : [TEXT.blocks(blocks)])]
  return [`  ${TEXT.marker} ${id ?? ''}`.trimEnd().concat(`: ${facts.join(' · ')}`), ...events.map(eventLine)]
}

function runLines(run: RunStory): string[] {
  const { name, status, prompts, events } = run
  const facts = [STANDING_WORDS[status], ...runTimes(run), TEXT.prompts(prompts)]
  return [`  ${TEXT.run} ${name}: ${facts.join(' · ')}`, ...events.map(eventLine)]
}

function eventLine({ timeMs, words }: StoryEvent): string {
  return `    ${clock(timeMs, true)}  ${words}`
}

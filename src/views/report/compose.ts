import { isOfMarker, markerStories, storyEvent, type TimedLine, textOf, timeOf } from './marker-stories.ts'
import { runStory } from './run-story.ts'
import type { Report, ReportSource, Span, TaskStory } from './story.ts'

/** Pure. */

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

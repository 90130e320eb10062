import { isOfPromise, promiseStories, storyEvent, type TimedLine, textOf, timeOf } from './promise-stories.ts'
import { runStory } from './run-story.ts'
import type { Report, ReportSource, Span, TaskStory } from './story.ts'

/** Puts the report together from its sources. Pure. */

/** The maximum number of tasks, so that the page stays readable. The oldest ones are left out. */
export const MAX_TASKS = 200

/** The maximum number of events that belong to no promise. */
const MAX_OTHERS = 50

/** The report. A line of the journal without a time is left out. */
export function composeReport({ root, nowMs, journal, markers, runs }: ReportSource): Report {
  const timed = journal
    .flatMap((line): TimedLine[] => {
      const timeMs = timeOf(line)
      return timeMs === undefined ? [] : [{ line, timeMs }]
    })
    .sort((one, other) => one.timeMs - other.timeMs)
  const ofPromises = groupByTask(timed)
  const names = new Set([...ofPromises.keys(), ...markers.map(({ task }) => task), ...runs.map(({ task }) => task)])
  const tasks = [...names]
    .map((task): TaskStory => {
      const promises = promiseStories(
        ofPromises.get(task) ?? [],
        markers.filter((marker) => marker.task === task),
        nowMs,
      )
      const own = runs.filter((run) => run.task === task).map((run) => runStory(run, nowMs))
      return { task, promises, runs: own, ...around([...promises, ...own]) }
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

/** The entries about promises, by their tasks. */
function groupByTask(timed: readonly TimedLine[]): Map<string, TimedLine[]> {
  const groups = new Map<string, TimedLine[]>()
  for (const one of timed) {
    const task = textOf(one.line, 'task', 120)
    if (task === undefined || !isOfPromise(one.line)) continue
    const group = groups.get(task)
    if (group === undefined) groups.set(task, [one])
    else group.push(one)
  }
  return groups
}

/** The time from the first of some spans to the last. */
export function around(spans: readonly Span[]): Span {
  return {
    startMs: spans.reduce((least, { startMs }) => Math.min(least, startMs), Number.POSITIVE_INFINITY),
    endMs: spans.reduce((most, { endMs }) => Math.max(most, endMs), Number.NEGATIVE_INFINITY),
  }
}

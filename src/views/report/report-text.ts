import { inLine } from '../../kernel/text.ts'
import { clock, duration, runTimes } from './page/track.ts'
import { STANDING_WORDS, REPORT_TEXT as TEXT, taskTitle } from './report-messages.ts'
import type { MarkerStory, Report, RunStory, StoryEvent } from './story.ts'

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

import { REASON_LIMIT } from './answer.ts'
import { type CommandForm, commandLine, fallbackLine } from './commands.ts'
import { DEFAULT_REASON, type Marker, remainingSteps } from './marker.ts'
import { markerProblem, REASON_TEXT } from './messages.ts'
import { SPECS_ITSELF } from './task-folder.ts'
import { cut, oneLine, stripControl } from './text.ts'

/** The reason of a block (DESIGN section 5): what the agent reads, and all that it needs to go on and end well. */

const MAX_LISTED_STEPS = 8
const STEP_NAME_LIMIT = 80
const NAME_LIMIT = 120
/** A marker's own reason keeps at least this much (characters) when several markers share one answer. */
const LEAST_OWN_REASON = 80

/** A marker that blocks, and its continuation's number. */
export interface BlockedMarker {
  readonly marker: Marker
  /** The task folder's name, or `.` for `specs/` itself. */
  readonly task: string
  /** For people: relative to the root. */
  readonly path: string
  readonly count: number
  /** Set where the agent's folder does not lead to the marker's root. */
  readonly root?: string | undefined
}

/** The reason for one or more markers, in the order given; at most 4,000 characters, the commands never cut. */
export function composeReason(blocked: readonly BlockedMarker[], form: CommandForm, subagent: boolean): string {
  const ending = subagent ? `\n\n${REASON_TEXT.report}` : ''
  const sections: string[] = []
  let room = REASON_LIMIT - ending.length
  for (const [index, item] of blocked.entries()) {
    const left = blocked.length - index
    const more = left > 1 ? `\n\n${REASON_TEXT.more(left, commandLine(['inspect'], item.root))}` : ''
    const details = describe(item, form)
    const separator = sections.length === 0 ? 0 : 2
    const least = separator + LEAST_OWN_REASON + 1 + details.length
    // The last one needs no room for "and N more"; every other must leave it.
    if (least + more.length > room) {
      if (sections.length > 0) sections.push(more.trim())
      else sections.push(cut(`${ownReason(item, LEAST_OWN_REASON)}\n${details}`, room))
      break
    }
    const fair = Math.floor((room - more.length) / left) - separator - 1 - details.length
    const own = ownReason(item, Math.max(LEAST_OWN_REASON, fair))
    sections.push(`${own}\n${details}`)
    room -= separator + own.length + 1 + details.length
  }
  return cut(sections.join('\n\n') + ending, REASON_LIMIT)
}

/** The marker's own words, word for word but for control characters; what it is when it has none. */
function ownReason({ marker, path }: BlockedMarker, limit: number): string {
  const problem = marker.problems[0]
  if (marker.fields === undefined && problem !== undefined) {
    return cut(
      `${DEFAULT_REASON} ${REASON_TEXT.unparsed(oneLine(path, NAME_LIMIT), markerProblem(problem))}`,
      limit + NAME_LIMIT,
    )
  }
  // Cut before stripping as well: a reason may be as long as the marker.
  const own = stripControl((marker.reason ?? '').slice(0, REASON_LIMIT * 2)).trim()
  return cut(own === '' ? DEFAULT_REASON : own, limit)
}

function describe({ marker, task, path, count, root }: BlockedMarker, form: CommandForm): string {
  const name = task === SPECS_ITSELF ? REASON_TEXT.specsItself : oneLine(task, NAME_LIMIT)
  const named = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : oneLine(text, STEP_NAME_LIMIT) || undefined
  const clear = ['clear', task]
  const fallback = fallbackLine(form, clear, root)
  return [
    REASON_TEXT.where(name, oneLine(path, NAME_LIMIT * 2), named(marker.operation), named(marker.skill)),
    ...checklist(marker, task, root),
    REASON_TEXT.clear(commandLine(clear, root)),
    ...(fallback === undefined ? [] : [REASON_TEXT.fallback(fallback)]),
    REASON_TEXT.count(count),
  ].join('\n')
}

function checklist(marker: Marker, task: string, root: string | undefined): string[] {
  const remaining = remainingSteps(marker)
  if (remaining.length === 0) return []
  const listed = remaining
    .slice(0, MAX_LISTED_STEPS)
    .map((step) => `  ${marker.steps.indexOf(step) + 1}. ${oneLine(step.name, STEP_NAME_LIMIT)}`)
  const rest = remaining.length - listed.length
  return [
    REASON_TEXT.steps,
    ...listed,
    ...(rest > 0 ? [REASON_TEXT.moreSteps(rest)] : []),
    REASON_TEXT.tick(`${commandLine(['step', task], root)} <number>`),
  ]
}

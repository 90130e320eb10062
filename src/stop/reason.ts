import type { Occasion, Payload } from '../hosts/payload.ts'
import { type CommandForm, commandLine, fallbackLine, rootOptionFor } from '../kernel/command-line.ts'
import { cut, oneLine, stripControl } from '../kernel/text.ts'
import { toIsoSeconds } from '../kernel/time.ts'
import { failureWords, markerProblem } from '../marker/check-messages.ts'
import { checksSessionOf, DEFAULT_REASON, type Marker, namedWork, remainingSteps } from '../marker/marker.ts'
import { waitsLeft } from '../marker/marker-wait.ts'
import { isUnowned, markerDisplayPath } from '../marker/stored-marker.ts'
import { taskLabel, taskWord } from '../project/task-folder.ts'
import { DONE_WORD, isSessionFolder } from '../project/task-folders.ts'
import { REASON_LIMIT } from './answer.ts'
import type { JudgedMarker } from './plan.ts'
import { REASON_TEXT } from './stop-messages.ts'

const MAX_LISTED_STEPS = 8
const MAX_NAMED_SHELLS = 3
const MAX_LISTED_CHECKS = 5
/** In characters. */
const OUTPUT_LIMIT = 500
const STEP_NAME_LIMIT = 80
const NAME_LIMIT = 120
/** In characters, if several markers share an answer. */
const LEAST_OWN_REASON = 80

export type BlockedMarker = Readonly<ReturnType<typeof blockedMarkerOf>>

export function blockedMarkerOf(blocked: JudgedMarker, payload: Payload, reader: Occasion['reader']) {
  const { folder, marker, checkingSinceMs, spent } = blocked
  const isDone = isSessionFolder(folder)
  // Only the main conversation can wait.
  const mayWait = payload.event === 'Stop' && !isUnowned(marker) && waitsLeft(undefined, marker.waits ?? 0) !== 'no'
  return {
    marker,
    task: isDone ? DONE_WORD : taskWord(folder),
    isDone,
    path: markerDisplayPath(folder),
    count: spent + 1,
    root: rootOptionFor(reader, folder.root),
    shells: mayWait ? payload.shells : [],
    checkingSinceMs,
    mayWait,
    endingTool: payload.endingTool,
  }
}

/** At most 4,000 characters; the first command is never cut. */
export function composeReason(blocked: readonly BlockedMarker[], form: CommandForm, subagent: boolean): string {
  const endingTool = blocked[0]?.endingTool
  const last = endingTool === undefined ? (subagent ? REASON_TEXT.report : '') : REASON_TEXT.callAgain(endingTool)
  const ending = last === '' ? '' : `\n\n${last}`
  const sections: string[] = []
  let room = REASON_LIMIT - ending.length
  for (const [index, item] of blocked.entries()) {
    const left = blocked.length - index
    const separator = index === 0 ? 0 : 2
    const next = blocked[index + 1]
    const reserve = next === undefined ? 0 : 2 + countRest(left - 1, next).length
    const leastWith = (details: string) => separator + ownReason(item, LEAST_OWN_REASON).length + 1 + details.length
    let details = describe(item, form, true)
    // Very long paths leave room only for the command.
    if (index === 0 && leastWith(details) + reserve > room) details = describe(item, form, false)
    if (leastWith(details) + reserve > room) {
      sections.push(index === 0 ? cut(`${ownReason(item, LEAST_OWN_REASON)}\n${details}`, room) : countRest(left, item))
      break
    }
    const fair = Math.floor((room - reserve) / left) - separator - 1 - details.length
    const own = ownReason(item, Math.max(LEAST_OWN_REASON, fair))
    sections.push(`${own}\n${details}`)
    room -= separator + own.length + 1 + details.length
  }
  return sections.join('\n\n') + ending
}

function countRest(count: number, first: BlockedMarker): string {
  return REASON_TEXT.more(count, commandLine(['inspect'], first.root))
}

function ownReason({ marker, path }: BlockedMarker, limit: number): string {
  const problem = marker.problems[0]
  if (marker.fields === undefined && problem !== undefined) {
    return cut(
      `${DEFAULT_REASON} ${REASON_TEXT.unparsed(oneLine(path, NAME_LIMIT), markerProblem(problem))}`,
      Math.max(limit, LEAST_OWN_REASON + NAME_LIMIT),
    )
  }
  const own = stripControl(marker.reason ?? '').trim()
  // Otherwise the next line would look like a part of the last list item.
  return own.includes('\n') ? `${cut(own, limit - 1)}\n` : cut(own === '' ? DEFAULT_REASON : own, limit)
}

function describe(item: BlockedMarker, form: CommandForm, isWhole: boolean): string {
  const { marker, task, path, count, root } = item
  const named = (text = ''): string | undefined => oneLine(text, STEP_NAME_LIMIT) || undefined
  const clear = item.isDone ? [task] : ['clear', task]
  const fallback = isWhole ? fallbackLine(form, clear, root) : undefined
  const details = [
    ...checklist(marker, task, root),
    ...running(item),
    ...checks(item),
    ...(marker.hostSession === undefined ? [REASON_TEXT.unowned] : []),
  ]
  const work = namedWork(marker)
  const [operation, skill] = [named(work.operation), named(work.skill)]
  return [
    ...(item.isDone
      ? []
      : [REASON_TEXT.where(oneLine(taskLabel(task), NAME_LIMIT), oneLine(path, NAME_LIMIT * 2), operation, skill)]),
    ...(isWhole ? details : []),
    (item.isDone ? REASON_TEXT.runChecks : REASON_TEXT.clear)(commandLine(clear, root)),
    ...(fallback === undefined ? [] : [REASON_TEXT.fallback(fallback)]),
    REASON_TEXT.count(count),
  ].join('\n')
}

function running({ task, root, mayWait, endingTool, shells }: BlockedMarker): string[] {
  const wait = `${commandLine(['wait', task], root)} --for`
  // At a tool call, hosts do not say what runs in the background.
  if (shells.length === 0) return mayWait && endingTool !== undefined ? [REASON_TEXT.mayWait(wait)] : []
  const named = shells.slice(0, MAX_NAMED_SHELLS).map((shell) => oneLine(shell, STEP_NAME_LIMIT).replaceAll('"', "'"))
  return [REASON_TEXT.shells(named, shells.length - named.length, wait)]
}

/** Leaves out other sessions' checks: an agent might run them by hand, and they may come from a repository. */
function checks({ marker, task, root, checkingSinceMs, mayWait }: BlockedMarker): string[] {
  if (marker.hostSession === undefined || checksSessionOf(marker) !== marker.hostSession) return []
  if (marker.checks.length === 0) return []
  const shown = marker.checks.slice(0, MAX_LISTED_CHECKS)
  const more = marker.checks.length - shown.length
  const last = marker.checks.find(({ failed }) => failed !== undefined)
  const wait = mayWait ? `${commandLine(['wait', task], root)} --for "the checks"` : undefined
  return [
    REASON_TEXT.checks,
    ...shown.map(({ run, step, failed }) =>
      REASON_TEXT.check(
        oneLine(run, NAME_LIMIT),
        step === undefined ? undefined : oneLine(step, STEP_NAME_LIMIT),
        failed === undefined ? undefined : failureWords(failed.failure),
      ),
    ),
    ...(more > 0 ? [REASON_TEXT.moreSteps(more)] : []),
    ...(last?.failed === undefined ? [] : lastOutput(last.failed.output)),
    ...(checkingSinceMs === undefined ? [] : [REASON_TEXT.checking(toIsoSeconds(checkingSinceMs), wait)]),
  ]
}

function lastOutput(output: string): string[] {
  const lines = stripControl(output).trimEnd().split('\n')
  let room = OUTPUT_LIMIT
  const shown: string[] = []
  for (const line of lines.reverse()) {
    const text = oneLine(line, STEP_NAME_LIMIT * 2)
    room -= text.length + 3
    if (room < 0) break
    if (text !== '') shown.unshift(`  | ${text}`)
  }
  return shown.length === 0 ? [] : [REASON_TEXT.lastOutput, ...shown]
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

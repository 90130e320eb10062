import { unfinishedFix } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import {
  counted,
  inLine,
  oneLine,
  QUOTE_LIMIT,
  quote,
  quotedNames,
  repairOrClear,
  unparsedMarker,
} from '../../kernel/text.ts'
import { describeAge, formatAge } from '../../kernel/time.ts'
import { failedLastTime, shortCommand } from '../../marker/check-messages.ts'
import { namedWork, shownState } from '../../marker/marker.ts'
import { type MarkerKind, type MarkerView, unparsedFaults } from '../../marker/marker-view.ts'
import { SPECS_ITSELF, taskNumberOf } from '../../project/task-folder.ts'
import { isSessionFolderName } from '../../project/task-folders.ts'
import * as field from '../documents.ts'
import type { LostMarker } from './lost-markers.ts'

const STATUS_KINDS = [
  ...['pending', 'waiting', 'bypassed', 'expired', 'unreadable', 'abandoned', 'unchecked', 'removed', 'expected'],
  ...['running', 'stopped', 'stalled', 'failed', 'aborted', 'moved', 'skipped', 'unusable', 'unsearched'],
] as const

export type StatusKind = (typeof STATUS_KINDS)[number]

const KIND_WORDS: Partial<Record<StatusKind, string>> = {
  removed: 'removed by hand',
  moved: 'goes on elsewhere',
  skipped: 'completed with skips',
  unsearched: 'not searched',
}

export const statusItemDocument = () =>
  field.object({
    kind: field.oneOf(STATUS_KINDS),
    task: field.optional(field.task),
    path: field.text('The file or folder, relative to the root.'),
    host_session: field.optionalText("The host's id for the conversation that it belongs to."),
    message: field.text('The unfinished item, in one line.'),
    sentence: field.text('The same as a sentence, as --github prints it.'),
    fix: field.optionalText('What to do about it.'),
  })

export type StatusItem = field.DocumentOf<typeof statusItemDocument>

const FIRST_STOP_MS = 600_000

export function isSessionUnseen(view: MarkerView, seen: ReadonlySet<unknown> | undefined, caller: string | undefined) {
  const { age_ms: age, continuations, owner } = view
  const session = owner.host_session
  const isIdle = shownState(view) === 'pending' && continuations.spent === 0 && age !== null && age > FIRST_STOP_MS
  return isIdle && session !== null && session !== caller && seen?.has(session) === false
}

export type MarkerLocation = Readonly<{ root: string; rootOption: string | undefined }>

export function markerItem(view: MarkerView, location: MarkerLocation, isUnseen: boolean): StatusItem {
  const { spent, limit } = view.continuations
  const kind = shownState(view)
  const left = view.steps.filter(({ done }) => !done).map(({ name }) => name)
  const [failed] = view.checks.flatMap(({ run, failed }) => (failed === null ? [] : { run, failure: failed }))
  const faults = unparsedFaults(view)
  const problem = faults === undefined ? view.problems[0] : unparsedMarker(faults)
  const { operation } = namedWork(view)
  const facts = [
    view.state === 'unreadable' && problem,
    operation !== undefined && oneLine(operation, 60),
    kind === 'unchecked' && UNCHECKED,
    kind === 'abandoned' && `gave up after ${limit} blocked stops`,
    view.wait !== null && `waits for ${quote(view.wait.for)}`,
    view.age_ms !== null && describeAge(view.age_ms),
    (kind === 'pending' || kind === 'unreadable') &&
      spent !== null &&
      spent > 0 &&
      `blocked ${spent} of ${limit} stops`,
    left.length > 0 && `${counted(left.length, 'step')} to go`,
    failed !== undefined && failedLastTime(failed.run, failed.failure),
    view.state !== 'unreadable' && sessionFact(view.owner.host_session),
    isUnseen && 'no stop of that session was seen: does its host start the hook? (`postflight doctor`)',
  ]
  const sentences = [`${taskName(view.task)}: ${markerSentence(view, kind, problem)}`]
  if (failed !== undefined) {
    const failure = failed.failure.replace(/^exit code /, 'exit ')
    sentences.push(`Check "${shortCommand(failed.run)}" failed (${failure}).`)
  }
  if (left.length > 0) sentences.push(`Not ticked: ${quotedNames(left)}.`)
  const place = { task: view.task, path: view.relative_path, session: view.owner.host_session }
  return statusItem(kind, place, facts, sentences.join(' '), markerFixFor(view, kind, location))
}

const UNCHECKED = 'ended without its checks'

function markerSentence(view: MarkerView, kind: MarkerKind, problem = ''): string {
  const { spent } = view.continuations
  const after = spent === null || spent === 0 ? '' : ` after ${counted(spent, 'blocked stop')}`
  const checks = view.checks.length === 0 ? '' : ` (${quotedCommands(view.checks.map(({ run }) => run))})`
  switch (kind) {
    case 'pending':
      return `its postflight is still pending${after}.`
    case 'waiting':
      return `its postflight is still pending: the agent waits for ${quote(view.wait?.for ?? '')}.`
    case 'bypassed':
      return 'its marker was bypassed, and no agent has stopped since.'
    case 'expired':
      return 'its marker names no host session and is older than 24 h, so it blocks no stop.'
    case 'unreadable':
      return `its marker ${quote(problem)}.`
    case 'abandoned':
      return `the agent gave up${after}.`
    case 'unchecked':
      return `its marker ended without its checks${checks}.`
  }
}

export function markerFixFor(view: MarkerView, kind: MarkerKind, { root, rootOption }: MarkerLocation): string {
  const clear = commandLine(['clear', view.task], rootOption)
  if (kind === 'unreadable') {
    return unparsedFaults(view) === undefined ? 'look at it and remove it by hand' : repairOrClear(clear)
  }
  if (kind === 'bypassed') return 'the next stop removes it'
  const isOver = kind === 'abandoned' || kind === 'unchecked'
  if (isOver || isSessionFolderName(view.task)) return unfinishedFix(root, rootOption, view.task, isOver)
  const adopt = commandLine(['adopt', view.task], rootOption)
  return `when its postflight is done: ${clear} (in another session: ${adopt} first)`
}

export function lostMarkerItem(lost: LostMarker, nowMs: number, rootOption: string | undefined): StatusItem {
  const { kind, task, relative, record, unproven } = lost
  const session = [...(record?.sessions ?? [])].at(-1) ?? null
  const facts = [
    kind === 'unchecked' && UNCHECKED,
    kind !== 'removed' && 'its abandoned marker was removed by hand',
    record !== undefined && `in the journal ${formatAge(Math.max(0, nowMs - record.lastMs))} ago`,
    unproven.length > 0 && `not passed since: ${unproven.map(shortCommand).join(', ')}`,
    record !== undefined && sessionFact(session),
  ]
  const fix = `if its postflight is done or no longer wanted: ${commandLine(['clear', inLine(task)], rootOption)}`
  return statusItem(
    kind,
    { task, path: inLine(relative), session },
    facts,
    `${taskName(task)}: ${lostSentence(lost)}.`,
    fix,
  )
}

function lostSentence({ kind, unproven }: LostMarker): string {
  const checks = quotedCommands(unproven)
  if (kind === 'removed') {
    const open = unproven.length === 0 ? '' : `, and its checks have not passed since (${checks})`
    return `its marker was removed by hand, not cleared${open}`
  }
  const end = kind === 'abandoned' ? 'the agent gave up' : 'its marker ended without its checks'
  const open = unproven.length === 0 ? '' : `. Its checks have not passed since (${checks})`
  return `${end}, and the abandoned marker was removed by hand${open}`
}

type Place = Readonly<{ task: string; path: string; session: string | null }>
type Fact = string | false | undefined

export function statusItem(kind: StatusKind, place: Place, facts: readonly Fact[], sentence: string, fix: string) {
  const { task, path, session } = place
  const shown = facts.filter((fact) => typeof fact === 'string')
  const message = [`${KIND_WORDS[kind] ?? kind}: ${path}`, ...shown].join(' · ')
  return { kind, task, path, host_session: session, message, sentence, fix }
}

export function sessionFact(session: string | null): string {
  return session === null ? 'without a session' : `session ${oneLine(session, 80)}`
}

export function taskName(task: string): string {
  if (isSessionFolderName(task)) return 'The definition of done'
  if (task === SPECS_ITSELF) return 'specs/'
  const number = taskNumberOf(task)
  return number === undefined ? `Task "${oneLine(task, 120)}"` : `Task ${number}`
}

export function quotedCommands(checks: readonly string[]): string {
  return checks.map((run) => `"${shortCommand(run)}"`).join(', ')
}

export function problemSentence(message: string): string {
  const text = oneLine(message, QUOTE_LIMIT * 5)
  return text.endsWith('.') ? text : `${text}.`
}

export function annotation({ kind, path, sentence }: Record<'kind' | 'path' | 'sentence', string>, level = 'error') {
  return `::${level} title=${property(`postflight ${kind}`)},file=${property(path)}::${escaped(sentence)}`
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

import { anyHost } from '../hosts/all-hosts.ts'
import type { Occasion, Payload } from '../hosts/payload.ts'
import { type CommandReader, commandLine, rootOptionFor } from '../kernel/command-line.ts'
import { ABANDONED_FILE } from '../kernel/files.ts'
import type { Environment } from '../kernel/values.ts'
import { failedLastTime, failureWords } from '../marker/check-messages.ts'
import { markerDisplayPath } from '../marker/stored-marker.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { type SearchProblem, taskWord } from '../project/task-folder.ts'
import { DONE_WORD, isSessionFolder } from '../project/task-folders.ts'
import { ALLOW, formatAnswer, type HookAnswer, NOTIFY_VARIABLE, terminalSequence } from './answer.ts'
import { blocks, type StopOutcome } from './plan.ts'
import { blockedMarkerOf, composeReason } from './reason.ts'
import { composeRecovery, type UnfinishedPostflight, type UnfinishedWorkflow } from './recovery.ts'
import { ALERT_TEXT, cappedNotice, doneGivenUp, unreadableNotice, unsettledNotice } from './stop-messages.ts'

export interface Answered {
  readonly answer: HookAnswer
  readonly notices: readonly string[]
  /** A few words each, for a notification. */
  readonly alerts: readonly string[]
  readonly recorded: readonly Recorded[]
  /** For stderr only. */
  readonly complaints: readonly string[]
}

export const NOTHING_DONE: Answered = { answer: ALLOW, notices: [], alerts: [], recorded: [], complaints: [] }

/** `payload`: undefined if it could not be read. */
export function printedAnswer(
  { answer, alerts }: Pick<Answered, 'answer' | 'alerts'>,
  payload: Payload | undefined,
  environment: Environment,
): string {
  if (payload === undefined) return formatAnswer(answer, false)
  const location = {
    refusesCall: payload.endingTool !== undefined,
    besideBlock: anyHost('takesContextOfBlock', payload, environment),
    atTop: anyHost('takesContextAtTop', payload, environment),
  }
  const isWritten = alerts.length > 0 && anyHost('writesSequences', payload, environment)
  const sequence = isWritten ? terminalSequence(environment[NOTIFY_VARIABLE], alerts) : undefined
  return formatAnswer(answer, anyHost('showsNotice', payload, environment), location, sequence)
}

export interface StopReport {
  readonly outcomes: readonly StopOutcome[]
  readonly problems: readonly SearchProblem[]
  readonly unchecked: number
  readonly runs: RunReport
}

export interface RunReport {
  /** Counts as sent. */
  readonly prompt: string | undefined
  readonly promptLine?: string | undefined
  readonly notices: readonly string[]
  readonly alerts?: readonly string[]
}

type Asker = Pick<Occasion, 'payload' | 'reader'>

/** Blocked markers precede a workflow's prompt. */
export function answerToStop({ payload, reader }: Asker, report: StopReport) {
  const notices = noticesOf(report, reader)
  const alerts = alertsOf(report)
  const { prompt, promptLine: line, notices: ended } = report.runs
  const blocked = report.outcomes.filter(blocks).map((one) => blockedMarkerOf(one, payload, reader))
  if (blocked.length === 0 && prompt === undefined) {
    const answer: HookAnswer = notices.length === 0 ? ALLOW : { kind: 'allow', notice: notices.join('\n') }
    return { answer, notices, alerts }
  }
  const block =
    blocked.length > 0 || prompt === undefined
      ? { reason: composeReason(blocked, reader.findForm(), payload.event === 'SubagentStop') }
      : { reason: prompt, ...(line !== undefined && { line }) }
  // The prompt of one run must not hide the end of another.
  const answer: HookAnswer = { kind: 'block', ...block, ...(ended.length > 0 && { notice: ended.join('\n') }) }
  return { answer, notices, alerts }
}

export function answerToStart(
  { payload, reader }: Asker,
  unfinished: readonly UnfinishedPostflight[],
  unfinishedRuns: readonly UnfinishedWorkflow[],
  notified: readonly string[] = [],
): HookAnswer {
  const context = composeRecovery(reader, unfinished, payload.session, unfinishedRuns)
  const notice = notified.join('\n') || undefined
  if (context === undefined && notice === undefined) return ALLOW
  return { kind: 'context', event: payload.event, context, notice }
}

function alertsOf({ outcomes, runs }: StopReport): string[] {
  const ofMarkers = outcomes.flatMap((outcome) => {
    if (outcome.kind !== 'marker') return []
    const { rule, folder, marker } = outcome
    const task = isSessionFolder(folder) ? undefined : taskWord(folder)
    if (rule === 'capped') return ALERT_TEXT.abandoned(task)
    return rule === 'waiting' && marker.wait !== undefined ? ALERT_TEXT.waits(task, marker.wait.for) : []
  })
  // A task's marker and run may wait for the same thing.
  return [...new Set([...ofMarkers, ...(runs.alerts ?? [])])]
}

function noticesOf({ outcomes, problems, unchecked, runs }: StopReport, reader: CommandReader): string[] {
  return [
    ...problems.map(({ path, detail }) => unreadableNotice(path, detail)),
    ...outcomes.flatMap((outcome) => noticeOf(outcome, reader) ?? []),
    ...(unchecked > 0 ? [unsettledNotice(unchecked)] : []),
    ...runs.notices,
  ]
}

function noticeOf(outcome: StopOutcome, reader: CommandReader): string | undefined {
  const { folder } = outcome
  if (outcome.kind === 'unreadable') return unreadableNotice(markerDisplayPath(folder), outcome.detail)
  if (outcome.kind === 'let-go' || outcome.rule !== 'capped') return undefined
  if (isSessionFolder(folder)) {
    const red = outcome.marker.checks.find(({ failed }) => failed !== undefined)
    const failed = red?.failed && failedLastTime(red.run, failureWords(red.failed.failure))
    return doneGivenUp(commandLine([DONE_WORD], rootOptionFor(reader, folder.root)), failed)
  }
  const task = taskWord(folder)
  const command = (word: string): string => commandLine([word, task], rootOptionFor(reader, folder.root))
  return cappedNotice(task, markerDisplayPath(folder, ABANDONED_FILE), command('adopt'), command('clear'))
}

import type { Payload } from '../hosts/host.ts'
import { type CommandReader, commandLine, rootOptionFor } from '../kernel/command-line.ts'
import { ABANDONED_FILE } from '../kernel/files.ts'
import type { Marker } from '../marker/marker.ts'
import { isUnowned, markerDisplayPath } from '../marker/stored-marker.ts'
import { waitsLeft } from '../marker/wait.ts'
import { type SearchProblem, type TaskFolder, taskWord } from '../project/task-folder.ts'
import { ALLOW, type HookAnswer } from './answer.ts'
import { type BlockedMarker, composeReason } from './reason.ts'
import { composeRecovery, type UnfinishedStanding } from './recovery.ts'
import { ALERT_TEXT, cappedNotice, heldReport, unreadableNotice, unsettledNotice } from './stop-messages.ts'
import type { StopOutcome } from './stop-outcome.ts'

/** Composes the answer to an event from its outcomes. */

/** The events that an answer is about: committed ones, or predicted ones. */
export interface Report {
  readonly outcomes: readonly StopOutcome[]
  /** The folders that could not be searched. */
  readonly problems: readonly SearchProblem[]
  /** The number of markers that there was no time to judge. */
  readonly unchecked: number
  /** The reports of the drivers of running workflows. */
  readonly runs: RunReport
  /** The unfinished postflights, for a session that starts. */
  readonly unfinished: readonly Unfinished[]
  /** The unfinished runs of workflows, for a session that starts. */
  readonly unfinishedRuns: readonly UnfinishedRun[]
  /** The report of a sub-agent that has just returned, from before it was blocked. */
  readonly heldReport: HeldReport | undefined
}

/** The report of a sub-agent that its caller has not got. */
export interface HeldReport {
  readonly agent: string
  readonly agentType: string | undefined
  readonly text: string
}

/** An unfinished postflight. */
export interface Unfinished {
  readonly state: 'pending' | 'abandoned'
  readonly folder: TaskFolder
  readonly marker: Marker
  readonly ageMs: number
}

/** A run of a workflow that is active, or has stalled. */
export interface UnfinishedRun {
  readonly folder: TaskFolder
  readonly name: string
  readonly hostSession: string | undefined
  readonly ageMs: number
  readonly standing: UnfinishedStanding
  /** True if its state depends on when its session starts again. */
  readonly awaitsStart: boolean
}

/** The reports of the drivers of running workflows at a stop. */
export interface RunReport {
  /** The next prompt, which counts as given out. */
  readonly prompt: string | undefined
  /** The prompt's place in one line. */
  readonly promptLine?: string | undefined
  readonly notices: readonly string[]
  /** Alerts for a person who is looking elsewhere. */
  readonly alerts?: readonly string[]
}

/** The report of an event without any outcome. */
export const NOTHING_TO_REPORT: Report = {
  outcomes: [],
  problems: [],
  unchecked: 0,
  runs: { prompt: undefined, notices: [] },
  unfinished: [],
  unfinishedRuns: [],
  heldReport: undefined,
}

/** An answer to the host, and notices for the user. */
export interface Spoken {
  readonly answer: HookAnswer
  readonly notices: readonly string[]
  /** Alerts for a person who is looking elsewhere: a few words each. */
  readonly alerts: readonly string[]
}

/** The answer to an event. Blocked markers precede a workflow's prompt; an allow contains the notices. */
export function answerFor(payload: Payload, report: Report, reader: CommandReader): Spoken {
  return { ...answerAndNotices(payload, report, reader), alerts: alertsOf(report) }
}

function alertsOf({ outcomes, runs }: Report): string[] {
  const ofMarkers = outcomes.flatMap((outcome) => {
    const task = taskWord(outcome.folder)
    if (outcome.kind === 'capped') return [ALERT_TEXT.abandoned(task)]
    return outcome.kind === 'let-go' && outcome.waitsFor !== undefined ? [ALERT_TEXT.waits(task, outcome.waitsFor)] : []
  })
  // A task's promise and its run may wait for the same thing.
  return [...new Set([...ofMarkers, ...(runs.alerts ?? [])])]
}

function answerAndNotices(payload: Payload, report: Report, reader: CommandReader): Omit<Spoken, 'alerts'> {
  const notices = noticesOf(report, reader)
  const context = recoveryOf(report, payload.session, reader)
  if (context !== undefined) return { answer: { kind: 'context', event: payload.event, context }, notices }
  if (report.heldReport !== undefined) {
    const { agent, agentType, text } = report.heldReport
    const context = heldReport(agent, agentType, text)
    return { answer: { kind: 'context', event: payload.event, context, limit: context.length }, notices }
  }
  const blocked = report.outcomes.flatMap((outcome) => blockedMarkerOf(outcome, payload, reader) ?? [])
  // The end of one run must not be hidden by the prompt of another.
  const ended = report.runs.notices.length > 0 ? { notice: report.runs.notices.join('\n') } : {}
  if (blocked.length > 0) {
    const reason = composeReason(blocked, reader.findForm(), payload.event === 'SubagentStop')
    return { answer: { kind: 'block', reason, ...ended }, notices }
  }
  const { prompt, promptLine: line } = report.runs
  if (prompt !== undefined) {
    return { answer: { kind: 'block', reason: prompt, ...(line !== undefined && { line }), ...ended }, notices }
  }
  return { answer: notices.length === 0 ? ALLOW : { kind: 'allow', notice: notices.join('\n') }, notices }
}

function blockedMarkerOf(outcome: StopOutcome, payload: Payload, reader: CommandReader): BlockedMarker | undefined {
  if (outcome.kind !== 'blocked') return undefined
  const { folder, marker, count, checkingSinceMs } = outcome
  const root = rootOptionFor(reader, folder.root)
  // Only the main conversation can wait.
  const mayWait = payload.event === 'Stop' && !isUnowned(marker) && waitsLeft(undefined, marker.waits ?? 0) !== 'no'
  const shells = mayWait ? payload.shells : []
  return {
    marker,
    task: taskWord(folder),
    path: markerDisplayPath(folder),
    count,
    root,
    shells,
    checkingSinceMs,
    mayWait,
    endingTool: payload.endingTool,
  }
}

function recoveryOf(
  { unfinished, unfinishedRuns }: Report,
  session: string | undefined,
  reader: CommandReader,
): string | undefined {
  const placed = <Item extends { readonly folder: TaskFolder }>({ folder, ...item }: Item) => {
    const { root } = folder
    return { ...item, task: taskWord(folder), root, rootOption: rootOptionFor(reader, root) }
  }
  return composeRecovery(unfinished.map(placed), session, unfinishedRuns.map(placed))
}

function noticesOf({ outcomes, problems, unchecked, runs }: Report, reader: CommandReader): string[] {
  return [
    ...problems.map(({ path, detail }) => unreadableNotice(path, detail)),
    ...outcomes.flatMap((outcome) => noticeOf(outcome, reader) ?? []),
    ...(unchecked > 0 ? [unsettledNotice(unchecked)] : []),
    ...runs.notices,
  ]
}

function noticeOf(outcome: StopOutcome, reader: CommandReader): string | undefined {
  const { folder } = outcome
  if (outcome.kind === 'failed') return unreadableNotice(markerDisplayPath(folder), outcome.detail)
  if (outcome.kind !== 'capped') return undefined
  const task = taskWord(folder)
  const command = (word: string): string => commandLine([word, task], rootOptionFor(reader, folder.root))
  return cappedNotice(task, markerDisplayPath(folder, ABANDONED_FILE), command('adopt'), command('clear'))
}

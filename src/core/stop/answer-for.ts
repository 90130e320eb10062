import { ALLOW, type HookAnswer } from '../answer.ts'
import { type CommandReader, commandLine, rootOptionFor } from '../command-line.ts'
import { ABANDONED_FILE } from '../files.ts'
import type { Marker } from '../marker.ts'
import { cappedNotice, unreadableNotice, unsettledNotice } from '../messages/stops.ts'
import type { Payload } from '../payload.ts'
import { markerDisplayPath } from '../stored-marker.ts'
import { type SearchProblem, type TaskFolder, taskWord } from '../task-folder.ts'
import type { StopOutcome } from './outcome.ts'
import { type BlockedMarker, composeReason } from './reason.ts'
import { composeRecovery } from './recovery.ts'

/** From what became of everything at an event to the one answer. */

/** What the answer speaks of: what was committed, or what is predicted. */
export interface Report {
  readonly outcomes: readonly StopOutcome[]
  /** What could not be searched. */
  readonly problems: readonly SearchProblem[]
  /** How many markers were not judged, because there was no time left. */
  readonly unchecked: number
  /** What the drivers of running workflows say. */
  readonly runs: RunReport
  /** Unfinished postflights, for a session that starts. */
  readonly unfinished: readonly Unfinished[]
}

/** A postflight that is not finished. */
export interface Unfinished {
  readonly state: 'pending' | 'abandoned'
  readonly folder: TaskFolder
  readonly marker: Marker
  readonly ageMs: number
}

/** What the drivers of running workflows say at a stop. */
export interface RunReport {
  /** The next prompt, given out already. */
  readonly prompt: string | undefined
  readonly notices: readonly string[]
}

/** The report of an event at which nothing happens. */
export const NOTHING_TO_REPORT: Report = {
  outcomes: [],
  problems: [],
  unchecked: 0,
  runs: { prompt: undefined, notices: [] },
  unfinished: [],
}

/** What is said: to the host, and in `notices` to the user. */
export interface Spoken {
  readonly answer: HookAnswer
  readonly notices: readonly string[]
}

/** The answer to an event. Blocked markers come before a workflow's prompt; an allow carries the notices. */
export function answerFor(payload: Payload, report: Report, reader: CommandReader): Spoken {
  const notices = noticesOf(report, reader)
  const context = recoveryOf(report, payload.session, reader)
  if (context !== undefined) return { answer: { kind: 'context', event: payload.event, context }, notices }
  const blocked = report.outcomes.flatMap((outcome) => blockedMarkerOf(outcome, reader) ?? [])
  const reason =
    blocked.length > 0
      ? composeReason(blocked, reader.findForm(), payload.event === 'SubagentStop')
      : report.runs.prompt
  if (reason !== undefined) return { answer: { kind: 'block', reason }, notices }
  return { answer: notices.length === 0 ? ALLOW : { kind: 'allow', notice: notices.join('\n') }, notices }
}

function blockedMarkerOf(outcome: StopOutcome, reader: CommandReader): BlockedMarker | undefined {
  if (outcome.kind !== 'blocked') return undefined
  const { folder, marker, count } = outcome
  const root = rootOptionFor(reader, folder.root)
  return { marker, task: taskWord(folder), path: markerDisplayPath(folder), count, root }
}

function recoveryOf({ unfinished }: Report, session: string | undefined, reader: CommandReader): string | undefined {
  const items = unfinished.map(({ folder, ...item }) => {
    const { root } = folder
    return { ...item, task: taskWord(folder), root, rootOption: rootOptionFor(reader, root) }
  })
  return composeRecovery(items, session)
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
  const look = commandLine(['inspect', task], rootOptionFor(reader, folder.root))
  return cappedNotice(task, markerDisplayPath(folder, ABANDONED_FILE), look)
}

import type { Payload } from '../hosts/host.ts'
import { MAIN_AGENT } from '../hosts/host.ts'
import type { Moment } from '../hosts/occasion.ts'
import { isMarkerId } from '../project/task-folder.ts'
import { type Marker, NO_SESSION, OWNER_FROM_ENVIRONMENT } from './marker.ts'
import { type FileTimes, isFromBefore, isUnowned } from './stored-marker.ts'

/**
 * Which promises belong to the agent whose shell command has just ended (docs/design.md, "Ownership"). Hosts do not always
 * tell a command which agent runs it, but they tell the hook.
 */

/** How far (ms) a file's time may lie before the command that wrote it: clocks round, and the hook starts later. */
const PRINTED_TOLERANCE_MS = 3_000
/** The same if only the time connects the command and the file. */
const CAUGHT_TOLERANCE_MS = 1_000
/** How long (ms) a shell call may take: the longest that Claude Code 2.1.329 allows. */
export const ONE_CALL_MS = 600_000

/** A line as `create` and `adopt` print it, or the bare id of `--quiet`. */
const CLAIM_LINE = /^(?:(?:created|renewed|replaced|adopted) .+ {2})?(pf_[A-Za-z0-9]{12})$/

/** The line of `wait`. */
const WAIT_LINE = /^waiting .+ {2}((?:pf|wf)_[A-Za-z0-9]{12})$/

/** A part of a command line that makes a promise, unless it only reads. */
const MAKING_PART = /(?:^|\s)(?:create|adopt)(?=[\s"')]|$)/
const READING_PART = /^\s*(?:awk|cat|echo|find|gh|git|grep|head|less|ls|more|printf|rg|sed|tail)\s/
/** A command line that runs a shell script. */
const RUNS_SCRIPT = /(?:^|[;&|(]\s*|\b(?:ba|da|z)?sh\s+(?:-\w+\s+)*)["']?[^\s;&|("']*\.sh\b/
const WAITING_COMMAND = /\bwait\b/

/** The ids of the promises that the command made or took over, as its output says. */
export function claimedIds(output: string | undefined): ReadonlySet<string> {
  return idsIn(output, CLAIM_LINE)
}

/** The ids of the promises and runs that wait, as the command's output says. */
export function waitingIds(output: string | undefined): ReadonlySet<string> {
  return idsIn(output, WAIT_LINE)
}

function idsIn(output: string | undefined, pattern: RegExp): ReadonlySet<string> {
  const lines = output !== undefined && /[pw]f_/.test(output) ? output.split(/\r?\n/) : []
  return new Set(lines.flatMap((line) => pattern.exec(line)?.[1] ?? []))
}

/** True if the command printed that it made this promise, so that its agent owns it. An owner that is known stays. */
export function isClaimedByOutput(
  marker: Marker,
  times: FileTimes,
  use: Moment,
  claimed: ReadonlySet<string>,
): boolean {
  const { payload } = use
  if (!isMarkerId(marker.id) || !claimed.has(marker.id) || !isClaimable(marker, times, use)) return false
  // The line of an earlier command may be printed again, from a log.
  if (wroteBefore(times.changedMs, use, PRINTED_TOLERANCE_MS)) return false
  if (isUnowned(marker)) return true
  const isFromEnvironment = marker.ownerFrom === OWNER_FROM_ENVIRONMENT
  // The variables of an outer host are inherited: `create` may have written that host's session.
  if (marker.hostSession !== payload.session) return isFromEnvironment && isMadeAt(marker, times, use)
  // An owner that the environment named is confirmed, so that an outer host that prints the same line cannot take it.
  return marker.agent === undefined || (isFromEnvironment && marker.agent === payload.agent)
}

/** True if a command may make promises: it says so, or runs a shell script. */
function mayMake({ command = '' }: Payload): boolean {
  const parts = command.split(/[;&|(\n`]/)
  return RUNS_SCRIPT.test(command) || parts.some((part) => MAKING_PART.test(part) && !READING_PART.test(part))
}

/**
 * True if the promise was made while the command ran, or shortly before now by such a command, if the host does not say
 * how long it ran.
 */
function isMadeAt(marker: Marker, times: FileTimes, use: Moment): boolean {
  if (use.payload.durationMs !== undefined) return !wroteBefore(madeAtMs(marker, times), use, PRINTED_TOLERANCE_MS)
  return mayMake(use.payload) && madeAtMs(marker, times) >= use.startMs - ONE_CALL_MS
}

/**
 * True if the promise was made while the command ran, and the command may have made it: its output was caught or thrown
 * away. Two such promises may be those of two agents, so the caller must not claim more than one.
 */
export function isMadeByCommand(marker: Marker, times: FileTimes, use: Moment): boolean {
  const { payload } = use
  if (payload.durationMs === undefined || !mayMake(payload)) return false
  if (marker.agent !== undefined || marker.hostSession !== payload.session || !isClaimable(marker, times, use))
    return false
  return !wroteBefore(madeAtMs(marker, times), use, CAUGHT_TOLERANCE_MS)
}

/** True if a command's words may announce a wait. */
export function mayAnnounceWait({ command = '' }: Payload): boolean {
  return WAITING_COMMAND.test(command)
}

/**
 * True if the command announced the wait of the promise or run with that id, whose file last changed at `changedMs`: its
 * output says so, or its words and the time of the file do.
 */
export function announcesWait(
  { id, changedMs }: { readonly id: string | undefined; readonly changedMs: number },
  use: Moment,
  waiting: ReadonlySet<string>,
): boolean {
  if (id !== undefined && waiting.has(id)) return !wroteBefore(changedMs, use, PRINTED_TOLERANCE_MS)
  if (use.payload.durationMs === undefined || !mayAnnounceWait(use.payload)) return false
  return !wroteBefore(changedMs, use, CAUGHT_TOLERANCE_MS)
}

/** When the promise was made. A later rewrite changes the file's time, and `created` has no fractions of a second. */
function madeAtMs({ createdMs }: Marker, { changedMs }: FileTimes): number {
  return createdMs === undefined ? changedMs : Math.min(createdMs + 999, changedMs)
}

/**
 * The fields that make the command's agent the owner. If the marker's session changes, its checks still belong to the
 * session that wrote them, so that claiming a marker from a clone does not make its commands run.
 */
export function claimedOwner(
  { hostSession, checks, checksSession }: Marker,
  { agent = MAIN_AGENT, session }: Payload,
): Record<string, unknown> {
  const keepsChecks = hostSession === session || checks.length === 0
  return {
    ...{ agent_id: agent, cc_session_id: session, owner_from: undefined },
    ...(!keepsChecks && { checks_session: checksSession ?? hostSession ?? NO_SESSION }),
  }
}

/** False for a promise that no command of this agent can have made. */
function isClaimable(marker: Marker, times: FileTimes, use: Moment): boolean {
  const { payload } = use
  if (payload.session === undefined) return false
  // A command may also print the id of a marker that came with a clone.
  if (isFromBefore(marker, times, use)) return false
  // A promise for agents of one type does not belong to the agent of another type that made it.
  return marker.agentType === undefined || marker.agentType === payload.agentType
}

/** True if a time lies before the beginning of the command. False if the host does not tell how long it ran. */
function wroteBefore(timeMs: number, { payload, startMs }: Moment, toleranceMs: number): boolean {
  return payload.durationMs !== undefined && timeMs < startMs - payload.durationMs - toleranceMs
}

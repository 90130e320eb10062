import { MAIN_AGENT, type Moment, type Payload } from '../hosts/payload.ts'
import { isMarkerId } from '../project/task-folder.ts'
import { type Marker, NO_SESSION, OWNER_FROM_ENVIRONMENT } from './marker.ts'
import { type FileTimes, isLeftover, isUnowned } from './stored-marker.ts'

/** Which markers the agent of an ended command owns (docs/design.md, "Ownership"): hosts may not name that agent. */

/** In ms: clocks round, and the hook starts later. */
const PRINTED_TOLERANCE_MS = 3_000
/** The same, if only their times connect the command and the file. */
const CAUGHT_TOLERANCE_MS = 1_000
/** The longest shell call (ms) that Claude Code 2.1.329 allows. */
export const ONE_CALL_MS = 600_000

export const OWNER_LINE = /^(?:(?:created|renewed|replaced|adopted) .+ {2})?(pf_[A-Za-z0-9]{12})$/
export const WAIT_LINE = /^waiting .+ {2}((?:pf|wf)_[A-Za-z0-9]{12})$/
const MAKING_PART = /(?:^|\s)(?:create|adopt)(?=[\s"')]|$)/
const READING_PART = /^\s*(?:awk|cat|echo|find|gh|git|grep|head|less|ls|more|printf|rg|sed|tail)\s/
/** An option of a shell is not another shell: its options would be read again from each one. */
const RUNS_SCRIPT = /(?:^|[;&|(]\s*|(?<!-)\b(?:ba|da|z)?sh\s+(?:-\w+\s+)*)["']?[^\s;&|("']*\.sh\b/
const WAITING_COMMAND = /\bwait\b/
const ADOPTING_COMMAND = /\badopt\b/

export function idsIn(output: string | undefined, pattern: RegExp): ReadonlySet<string> {
  const lines = output !== undefined && /[pw]f_/.test(output) ? output.split(/\r?\n/) : []
  return new Set(lines.flatMap((line) => pattern.exec(line)?.[1] ?? []))
}

export function isNamedInOutput(marker: Marker, times: FileTimes, use: Moment, printed: ReadonlySet<string>): boolean {
  const { payload } = use
  if (!isMarkerId(marker.id) || !printed.has(marker.id) || !mayOwn(marker, times, use)) return false
  // The output may be a log with an earlier command's line.
  if (wroteBefore(times.changedMs, use, PRINTED_TOLERANCE_MS)) return false
  if (isUnowned(marker)) return true
  const isFromEnvironment = marker.ownerFrom === OWNER_FROM_ENVIRONMENT
  // An outer host's variables are inherited, so this may be its session.
  if (marker.hostSession !== payload.session) return isFromEnvironment && isMadeAt(marker, times, use)
  // Prevents an outer host that prints the same line from taking it.
  return marker.agent === undefined || (isFromEnvironment && marker.agent === payload.agent)
}

function mayMake({ command = '' }: Payload): boolean {
  const parts = command.split(/[;&|(\n`]/)
  return RUNS_SCRIPT.test(command) || parts.some((part) => MAKING_PART.test(part) && !READING_PART.test(part))
}

/** If the host gives no duration, a recent marker counts. */
function isMadeAt(marker: Marker, times: FileTimes, use: Moment): boolean {
  // An adoption keeps `created`.
  const atMs = ADOPTING_COMMAND.test(use.payload.command ?? '') ? times.changedMs : madeAtLatestMs(marker, times)
  if (use.payload.durationMs !== undefined) return !wroteBefore(atMs, use, PRINTED_TOLERANCE_MS)
  return mayMake(use.payload) && atMs >= use.startMs - ONE_CALL_MS
}

/** Two such markers may be two agents', so callers take only one. */
export function isMadeByCommand(marker: Marker, times: FileTimes, use: Moment): boolean {
  const { payload } = use
  if (payload.durationMs === undefined || marker.agent !== undefined) return false
  if (marker.hostSession !== payload.session || !mayOwn(marker, times, use)) return false
  return !wroteBefore(madeAtLatestMs(marker, times), use, CAUGHT_TOLERANCE_MS) && mayMake(payload)
}

export function mayAnnounceWait({ command = '' }: Payload): boolean {
  return WAITING_COMMAND.test(command)
}

export function announcesWait(
  { id, changedMs }: { readonly id: string | undefined; readonly changedMs: number },
  use: Moment,
  waiting: ReadonlySet<string>,
): boolean {
  if (id !== undefined && waiting.has(id)) return !wroteBefore(changedMs, use, PRINTED_TOLERANCE_MS)
  if (use.payload.durationMs === undefined || !mayAnnounceWait(use.payload)) return false
  return !wroteBefore(changedMs, use, CAUGHT_TOLERANCE_MS)
}

/** A rewrite changes the file's time, and `created` has no fractions of a second. */
function madeAtLatestMs({ createdMs }: Marker, { changedMs }: FileTimes): number {
  return createdMs === undefined ? changedMs : Math.min(createdMs + 999, changedMs)
}

/** Checks still belong to their writer: owning a cloned marker must not run its commands. */
export function ownerFields({ hostSession, checks, checksSession }: Marker, { agent = MAIN_AGENT, session }: Payload) {
  const keepsChecks = hostSession === session || checks.length === 0
  return {
    agent_id: agent,
    cc_session_id: session,
    owner_from: undefined,
    ...(!keepsChecks && { checks_session: checksSession ?? hostSession ?? NO_SESSION }),
  }
}

function mayOwn(marker: Marker, times: FileTimes, use: Moment): boolean {
  const { payload } = use
  if (payload.session === undefined) return false
  // A command may print a cloned marker's id.
  if (isLeftover(marker, times, use)) return false
  // Only agents of that type own it.
  return marker.agentType === undefined || marker.agentType === payload.agentType
}

/** False if the host gives no duration. */
function wroteBefore(timeMs: number, { payload, startMs }: Moment, toleranceMs: number): boolean {
  return payload.durationMs !== undefined && timeMs < startMs - payload.durationMs - toleranceMs
}

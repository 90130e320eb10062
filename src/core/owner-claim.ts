import { isMarkerId, MAIN_AGENT, type Marker, OWNER_FROM_ENVIRONMENT } from './marker.ts'
import type { Payload } from './payload.ts'
import { type FileTimes, isFromBefore, isUnowned } from './stop/rules.ts'

/**
 * Which promises belong to the agent whose shell command has just ended (docs/design.md, "Ownership"). Hosts do not always
 * tell a command which agent runs it, but they tell the hook.
 */

/** The end of a shell command. */
export interface ToolUse {
  readonly payload: Payload
  /** When the command ended, in ms since the epoch. */
  readonly endMs: number
  readonly sessionBornMs: number | undefined
}

/** By how much (ms) a file's time may lie before the command that wrote it: clocks and file systems round. */
const PRINTED_TOLERANCE_MS = 10_000
/** The same where nothing but the time connects command and file. */
const CAUGHT_TOLERANCE_MS = 1_000

/** A line as `create` and `adopt` print it, or the bare id of `--quiet`. */
const CLAIM_LINE = /^(?:(?:created|renewed|replaced|adopted) .+ {2})?(pf_[A-Za-z0-9]{12})$/

/** The line of `wait`. */
const WAIT_LINE = /^waiting .+ {2}(pf_[A-Za-z0-9]{12})$/

/** Commands that print, change or end a promise and make none. */
const OTHER_COMMANDS = /\b(?:inspect|explain|logs|doctor|status|step|clear|bypass|wait)\b/
const CLAIMING_COMMANDS = /\b(?:create|adopt)\b/

/** The ids of the promises that the command made or took over, as its output says. */
export function claimedIds(output: string | undefined): ReadonlySet<string> {
  return idsIn(output, CLAIM_LINE)
}

/** The ids of the promises that wait, as the command's output says. */
export function waitingIds(output: string | undefined): ReadonlySet<string> {
  return idsIn(output, WAIT_LINE)
}

function idsIn(output: string | undefined, pattern: RegExp): ReadonlySet<string> {
  const lines = output?.includes('pf_') ? output.split(/\r?\n/) : []
  return new Set(lines.flatMap((line) => pattern.exec(line)?.[1] ?? []))
}

/** True if the command printed that it made this promise, so that its agent owns it. An owner that is known stays. */
export function isClaimedByOutput(
  marker: Marker,
  times: FileTimes,
  use: ToolUse,
  claimed: ReadonlySet<string>,
): boolean {
  const { payload } = use
  if (!isMarkerId(marker.id) || !claimed.has(marker.id) || !isClaimable(marker, times, use)) return false
  // The line of an earlier command may be printed again, from a log.
  if (wroteBefore(times.changedMs, use, PRINTED_TOLERANCE_MS)) return false
  if (isUnowned(marker)) return true
  // The variables of an outer host are inherited: `create` may have written that host's session.
  if (marker.hostSession !== payload.session) {
    return marker.ownerFrom === OWNER_FROM_ENVIRONMENT && CLAIMING_COMMANDS.test(payload.command ?? '')
  }
  return marker.agent === undefined
}

/**
 * True if the promise was made while the command ran, and the command may have made it: its output was caught or thrown
 * away. Two such promises may be those of two agents, so the caller must not claim more than one.
 */
export function isMadeByCommand(marker: Marker, times: FileTimes, use: ToolUse): boolean {
  const { payload } = use
  const command = payload.command ?? ''
  if (payload.durationMs === undefined || (OTHER_COMMANDS.test(command) && !CLAIMING_COMMANDS.test(command)))
    return false
  if (marker.agent !== undefined || marker.hostSession !== payload.session || !isClaimable(marker, times, use))
    return false
  // `created` has no fractions of a second.
  const createdMs = marker.createdMs === undefined ? times.changedMs : marker.createdMs + 999
  return !wroteBefore(Math.min(createdMs, times.changedMs), use, CAUGHT_TOLERANCE_MS)
}

/** The fields that make the command's agent the owner. */
export function claimedOwner({ agent = MAIN_AGENT, session }: Payload): Record<string, unknown> {
  return { agent_id: agent, cc_session_id: session, owner_from: undefined }
}

/** False for a promise that no command of this agent can have made. */
function isClaimable(marker: Marker, times: FileTimes, { payload, sessionBornMs }: ToolUse): boolean {
  if (payload.session === undefined || marker.workflow) return false
  // A command may also print the id of a marker that came with a clone.
  if (isFromBefore(sessionBornMs, marker, times)) return false
  // A promise for agents of one type does not belong to the agent of another type that made it.
  return marker.agentType === undefined || marker.agentType === payload.agentType
}

/** True if a time lies before the beginning of the command. False if the host does not tell how long it ran. */
function wroteBefore(timeMs: number, { payload, endMs }: ToolUse, toleranceMs: number): boolean {
  return payload.durationMs !== undefined && timeMs < endMs - payload.durationMs - toleranceMs
}

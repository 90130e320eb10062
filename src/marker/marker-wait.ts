import { MAIN_AGENT } from '../hosts/host.ts'
import type { Moment } from '../hosts/occasion.ts'
import { isJsonObject, known } from '../kernel/json-object.ts'
import { WAIT_LIMIT } from '../kernel/limits.ts'

/**
 * Waits: stops that an agent announced, because it asked the person something or work runs in the background
 * (docs/design.md, "Waiting"). A wait is stamped with the host's id of the prompt, and allows the stops of that prompt.
 */

/** Two hooks of one stop start within this time (ms). A longer one means that the clock was set back since. */
const SAME_STOP_MS = 60_000

/** The `wait` of a marker. */
export interface Wait {
  /** What the agent waits for. */
  readonly for: string
  /** How many prompts it has waited at, including this one. */
  readonly count: number
  /** The prompt whose stops are allowed; undefined until the wait is stamped. */
  readonly promptId?: string
  /** The prompt of the wait that this one replaced. At the same prompt both count as one. */
  readonly lastPromptId?: string
  /** On a host without ids of prompts: when the wait's one stop was allowed, in ms since the epoch. */
  readonly stoppedMs?: number
}

/** An event of the wait's session, as far as it decides about the wait. */
export type SessionEvent = { readonly kind: 'session-start' } | WaitMoment

interface WaitMoment {
  /** `command`: the end of a shell command; `announcement`: of the one that announced the wait. */
  readonly kind: 'stop' | 'command' | 'announcement'
  readonly isMain: boolean
  /** The host's id of the prompt; undefined on a host without one. */
  readonly prompt: string | undefined
  /** The start of the hook in ms since the epoch: two hooks of one stop start before either has answered. */
  readonly startMs: number
}

/** What becomes of a wait at an event: it stays as it is, is stamped, or ends with the number of waits so far. */
export type WaitVerdict =
  | { readonly kind: 'stays' }
  | { readonly kind: 'begins'; readonly wait: Wait }
  | { readonly kind: 'ends'; readonly waits: number }

const STAYS = { kind: 'stays' } as const

/** The event of an occasion. */
export function sessionEvent({ payload, startMs }: Moment, kind: SessionEvent['kind']): SessionEvent {
  const isMain = payload.agent === MAIN_AGENT || payload.event === 'Stop'
  return { kind, isMain, prompt: payload.prompt, startMs }
}

/** Reads the `wait` of a marker; undefined for anything else. */
export function parseWait(value: unknown): Wait | undefined {
  if (!isJsonObject(value)) return undefined
  const { for: purpose, count, prompt_id: promptId, last_prompt_id: lastPromptId, stopped_ms: stoppedMs } = value
  const isText = (one: unknown): one is string => typeof one === 'string' && one !== ''
  if (!isText(purpose) || !isCount(count) || count === 0) return undefined
  return {
    for: purpose,
    count,
    ...(isText(promptId) && { promptId }),
    ...(isText(lastPromptId) && { lastPromptId }),
    ...(typeof stoppedMs === 'number' && { stoppedMs }),
  }
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** The only rule of waits, for markers and runs. At a stop of the main conversation, a wait that does not end allows it. */
export function judgeWait(wait: Wait, event: SessionEvent, nowMs: number): WaitVerdict {
  if (event.kind === 'session-start') return endOf(wait)
  const { kind, isMain, prompt } = event
  const state = stateAt(wait, event)
  // Only the main conversation waits, and a sub-agent may have prompts of its own: in Codex 0.169.0, turns.
  if (state === 'over') return isMain ? endOf(wait) : STAYS
  if (state === 'stamped' || kind === 'command') return STAYS
  if (!isMain) return kind === 'announcement' ? endOf(wait) : STAYS
  // A command names no prompt on a host without ids: there, the next stop is the one that is allowed.
  if (kind === 'announcement' && prompt === undefined) return STAYS
  const stamp = prompt === undefined ? { stoppedMs: nowMs } : { promptId: prompt }
  return { kind: 'begins', wait: { for: wait.for, ...stamp, count: countAt(wait, prompt) } }
}

function stateAt(wait: Wait, event: WaitMoment): 'unstamped' | 'stamped' | 'over' {
  const { prompt } = event
  // An event that names no prompt says nothing about it.
  if (wait.promptId !== undefined) return prompt === undefined || prompt === wait.promptId ? 'stamped' : 'over'
  if (wait.stoppedMs !== undefined) {
    const beforeMs = prompt === undefined ? wait.stoppedMs - event.startMs : -1
    return beforeMs >= 0 && beforeMs < SAME_STOP_MS ? 'stamped' : 'over'
  }
  return isTooMany(countAt(wait, prompt)) ? 'over' : 'unstamped'
}

/** The number of waits stays, but for one that was never stamped: it was not used. */
function endOf({ count, promptId, stoppedMs, lastPromptId }: Wait): WaitVerdict {
  const wasUsed = promptId !== undefined || stoppedMs !== undefined || lastPromptId !== undefined
  return { kind: 'ends', waits: wasUsed ? count : count - 1 }
}

/** The fields of a marker that carry out the verdict; undefined if nothing changes. */
export function waitFields(verdict: WaitVerdict): Readonly<Record<string, unknown>> | undefined {
  if (verdict.kind === 'stays') return undefined
  return verdict.kind === 'begins'
    ? { wait: formatWait(verdict.wait) }
    : { wait: undefined, waits: verdict.waits || undefined }
}

/** A wait as a marker and a run's state hold it. */
export function formatWait(wait: Wait): Readonly<Record<string, unknown>> {
  return known({
    for: wait.for,
    count: wait.count,
    prompt_id: wait.promptId,
    last_prompt_id: wait.lastPromptId,
    stopped_ms: wait.stoppedMs,
  })
}

function countAt({ count, lastPromptId }: Wait, prompt: string | undefined): number {
  return lastPromptId === undefined || lastPromptId === prompt ? count : count + 1
}

/** The announcement of a wait: the marker fields, as the file holds them. `used` is the number of earlier waits. */
export function announcedWait(
  purpose: string,
  present: Wait | undefined,
  used: number,
): { readonly wait: AnnouncedWait } {
  return {
    wait: known({
      for: purpose,
      count: nextCount(present, used),
      last_prompt_id: isSpentStop(present) ? undefined : (present?.promptId ?? present?.lastPromptId),
    }),
  }
}

/** The `wait` of a marker, as `announcedWait` writes it. */
interface AnnouncedWait {
  readonly for: string
  readonly count: number
  readonly last_prompt_id?: string
}

/** `here-only`: at the prompt of the tenth wait, but at no other one. */
export type WaitsLeft = 'yes' | 'here-only' | 'no'

export function waitsLeft(present: Wait | undefined, used: number): WaitsLeft {
  const count = nextCount(present, used)
  if (isTooMany(count)) return 'no'
  return count === WAIT_LIMIT && present?.promptId !== undefined ? 'here-only' : 'yes'
}

/** The number of the next wait. One that is announced again before its prompt has ended is the same. */
function nextCount(present: Wait | undefined, used: number): number {
  if (present === undefined) return used + 1
  return isSpentStop(present) ? present.count + 1 : present.count
}

/** True for a wait whose only stop, on a host without ids of prompts, was allowed. */
function isSpentStop(wait: Wait | undefined): boolean {
  return wait?.stoppedMs !== undefined
}

function isTooMany(count: number): boolean {
  return count > WAIT_LIMIT
}

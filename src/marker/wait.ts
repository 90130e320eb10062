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
  /** The number of this prompt among those that the promise has waited at, from 1. */
  readonly count: number
  /** The prompt whose stops are allowed; undefined until the wait is stamped. */
  readonly promptId?: string
  /** The prompt of the wait that this one replaced. At the same prompt both count as one. */
  readonly lastPromptId?: string
  /** On a host without ids of prompts: when the wait's one stop was allowed, in ms since the epoch. */
  readonly stoppedMs?: number
}

/** The part of an event that decides about a wait. */
export interface WaitEvent {
  /** The host's id of the prompt; undefined on a host without one. */
  readonly prompt: string | undefined
  /** The start of the hook in ms since the epoch: two hooks of one stop start before either has answered. */
  readonly startMs: number | undefined
}

/** `begins`: the wait is not stamped yet. `over`: its prompt has ended, so it must be removed. */
export type WaitState = 'none' | 'begins' | 'stands' | 'over'

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

/** True for a valid number of waits. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** The state of a wait at an event. */
export function waitStateAt(wait: Wait | undefined, { prompt, startMs }: WaitEvent): WaitState {
  if (wait === undefined) return 'none'
  // An event that names no prompt says nothing about it.
  if (wait.promptId !== undefined) return prompt === undefined || prompt === wait.promptId ? 'stands' : 'over'
  if (wait.stoppedMs !== undefined) {
    const beforeMs = prompt === undefined && startMs !== undefined ? wait.stoppedMs - startMs : -1
    return beforeMs >= 0 && beforeMs < SAME_STOP_MS ? 'stands' : 'over'
  }
  return isTooMany(countAt(wait, prompt)) ? 'over' : 'begins'
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

/** Whether the promise may wait once more. */
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

/** The marker fields that stamp a wait. */
export function stampedWait(wait: Wait, prompt: string | undefined, nowMs: number): Record<string, unknown> {
  const stamp = prompt === undefined ? { stopped_ms: nowMs } : { prompt_id: prompt }
  return { wait: { for: wait.for, ...stamp, count: countAt(wait, prompt) } }
}

/** The marker fields that end a wait. The number of waits stays. */
export function endedWait({ count, promptId, stoppedMs, lastPromptId }: Wait): Record<string, unknown> {
  // A wait that was never stamped was not used.
  const wasUsed = promptId !== undefined || stoppedMs !== undefined || lastPromptId !== undefined
  return { wait: undefined, waits: wasUsed ? count : count - 1 || undefined }
}

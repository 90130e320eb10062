import { MAIN_AGENT, type Moment } from '../hosts/payload.ts'
import { isJsonObject, known, WAIT_LIMIT } from '../kernel/values.ts'

/** Announced stops (docs/design.md, "Waiting"). */

/** In ms, between two hooks of one stop. If longer, the clock was set back. */
const SAME_STOP_MS = 60_000

export type Wait = Readonly<NonNullable<ReturnType<typeof parseWait>>>
export type SessionEvent = { readonly kind: 'session-start' } | WaitMoment

interface WaitMoment {
  /** `call`: of a tool that ends the turn; another stop of the same turn may follow. */
  readonly kind: 'stop' | 'call' | 'command' | 'announcement'
  readonly isMain: boolean
  /** Undefined on a host without prompt ids. */
  readonly prompt: string | undefined
  /** In ms since the epoch: before any hook of this stop answers. */
  readonly startMs: number
}

export type WaitVerdict = Readonly<{ kind: 'stays' } | { kind: 'begins'; wait: Wait } | { kind: 'ends'; waits: number }>

const STAYS = { kind: 'stays' } as const

export function sessionEvent({ payload, startMs }: Moment, kind: SessionEvent['kind']): SessionEvent {
  const isMain = payload.agent === MAIN_AGENT || payload.event === 'Stop'
  const isCall = kind === 'stop' && payload.endingTool !== undefined
  return { kind: isCall ? 'call' : kind, isMain, prompt: payload.prompt, startMs }
}

export function parseWait(value: unknown) {
  if (!isJsonObject(value)) return undefined
  const { count, prompt_id: promptId, last_prompt_id: lastPromptId, stopped_ms: stoppedMs } = value
  const text = (one: unknown): string | undefined => (typeof one === 'string' && one !== '' ? one : undefined)
  const purpose = text(value.for)
  if (purpose === undefined || !isCount(count) || count === 0) return undefined
  return known({
    for: purpose,
    /** How many prompts it has waited at, including this one. */
    count,
    promptId: text(promptId),
    /** At the replaced wait's prompt, both count as one. */
    lastPromptId: text(lastPromptId),
    /** Without prompt ids: when its one stop was allowed (ms since the epoch). */
    stoppedMs: typeof stoppedMs === 'number' ? stoppedMs : undefined,
  })
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** The only rule of waits, for markers and runs. */
export function judgeWait(wait: Wait, event: SessionEvent, nowMs: number): WaitVerdict {
  if (event.kind === 'session-start') return endOf(wait)
  const { kind, isMain, prompt } = event
  const state = stateAt(wait, event)
  // Only the main conversation waits. A sub-agent may have its own prompts: turns in Codex 0.169.0.
  if (state === 'over') return isMain ? endOf(wait) : STAYS
  if (state === 'stamped' || kind === 'command') return STAYS
  if (!isMain) return kind === 'announcement' ? endOf(wait) : STAYS
  // Without prompt ids, the next stop is allowed.
  if (kind !== 'stop' && prompt === undefined) return STAYS
  const stamp = prompt === undefined ? { stoppedMs: nowMs } : { promptId: prompt }
  return { kind: 'begins', wait: { for: wait.for, ...stamp, count: countAt(wait, prompt) } }
}

function stateAt(wait: Wait, event: WaitMoment): 'unstamped' | 'stamped' | 'over' {
  const { prompt } = event
  if (wait.promptId !== undefined) return prompt === undefined || prompt === wait.promptId ? 'stamped' : 'over'
  if (wait.stoppedMs !== undefined) {
    const beforeMs = prompt === undefined ? wait.stoppedMs - event.startMs : -1
    return beforeMs >= 0 && beforeMs < SAME_STOP_MS ? 'stamped' : 'over'
  }
  return countAt(wait, prompt) > WAIT_LIMIT ? 'over' : 'unstamped'
}

/** A wait that was never stamped does not count. */
function endOf({ count, promptId, stoppedMs, lastPromptId }: Wait): WaitVerdict {
  const wasUsed = promptId !== undefined || stoppedMs !== undefined || lastPromptId !== undefined
  return { kind: 'ends', waits: wasUsed ? count : count - 1 }
}

export function waitFields(verdict: WaitVerdict): Readonly<Record<string, unknown>> | undefined {
  if (verdict.kind === 'stays') return undefined
  if (verdict.kind === 'begins') return { wait: formatWait(verdict.wait) }
  return { wait: undefined, waits: verdict.waits || undefined }
}

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

export function announcedWait(purpose: string, present: Wait | undefined, used: number): Wait {
  const lastPromptId = present?.stoppedMs === undefined ? (present?.promptId ?? present?.lastPromptId) : undefined
  return known({ for: purpose, count: nextCount(present, used), lastPromptId })
}

/** `here-only`: the tenth wait was used, and its prompt is still the current one. */
export function waitsLeft(present: Wait | undefined, used: number): 'yes' | 'here-only' | 'no' {
  const count = nextCount(present, used)
  if (count > WAIT_LIMIT) return 'no'
  return count === WAIT_LIMIT && present?.promptId !== undefined ? 'here-only' : 'yes'
}

function nextCount(present: Wait | undefined, used: number): number {
  if (present === undefined) return used + 1
  return present.stoppedMs === undefined ? present.count : present.count + 1
}

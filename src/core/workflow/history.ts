import { isJsonObject } from '../json-object.ts'
import { fromIso, toIso } from '../time.ts'
import type { RunOutcome } from './outcome.ts'

/** The history of a run: its transitions, and their form in a file. */

/** The kinds of transition. */
export type TransitionEvent =
  | 'start'
  | 'enter'
  | 'prompt'
  | 'retry'
  | 'step-done'
  | 'step-failed'
  | 'step-skipped'
  | 'pass'
  | 'fail'
  | 'warn'
  | 'approval'
  | 'approved'
  | 'rejected'
  | 'step-again'
  | 'stop-request'
  | 'resume'
  | 'end'

/** A transition of a run. `step` and `attempt` count from 1. */
export interface Transition {
  readonly event: TransitionEvent
  readonly phase: string
  readonly visit?: number
  readonly step?: number
  readonly attempt?: number
  readonly outcome?: RunOutcome
  /** The verdict that decided the way out of a phase with cases. */
  readonly verdict?: string
  readonly detail?: string
}

/** A transition with its number (from 1) and its time. */
export interface HistoryEntry extends Transition {
  readonly n: number
  readonly timeMs: number
}

/** An entry as a file holds it. Except for the time, the names are the same there. */
export function historyFields({ n, timeMs, ...transition }: HistoryEntry): Record<string, unknown> {
  return { n, time: toIso(timeMs), ...transition }
}

/** Reads an entry; undefined for anything else. */
export function readHistoryEntry(value: unknown): HistoryEntry | undefined {
  if (!isJsonObject(value)) return undefined
  const { n, time, ...rest } = value
  if (typeof n !== 'number' || typeof rest.event !== 'string' || typeof rest.phase !== 'string') return undefined
  return { ...(rest as unknown as Transition), n, timeMs: (typeof time === 'string' ? fromIso(time) : undefined) ?? 0 }
}

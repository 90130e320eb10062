import { fromIso, toIso } from '../../kernel/time.ts'
import { MAX_PHASE_STEPS } from '../definition/definition-limits.ts'
import { count, objectOf, oneOf, optional, type Reader, text, type Values, WRONG } from '../definition/fields.ts'

/** How a run ended, and its history: its transitions, and their form in a file. */

export const RUN_OUTCOMES = ['completed', 'stopped', 'stalled', 'failed', 'aborted'] as const

/** The outcome of a run. */
export type RunOutcome = (typeof RUN_OUTCOMES)[number]

/** The outcomes after which a run can be resumed. */
const RESUMABLE: readonly (string | undefined)[] = ['stopped', 'stalled', 'failed'] satisfies RunOutcome[]

/** True for an outcome after which a run can be resumed. */
export function isResumableOutcome(outcome: string | undefined): boolean {
  return RESUMABLE.includes(outcome)
}

/** The kinds of transition. */
const TRANSITION_EVENTS = [
  ...([
    'start',
    'enter',
    'prompt',
    'retry',
    'step-done',
    'step-failed',
    'step-skipped',
    'pass',
    'fail',
    'warn',
  ] as const),
  ...(['approval', 'approved', 'rejected', 'step-again', 'phase-skipped', 'stop-request', 'resume', 'end'] as const),
] as const

export type TransitionEvent = (typeof TRANSITION_EVENTS)[number]

const step: Reader<number> = (held) => (typeof held === 'number' && held > MAX_PHASE_STEPS ? WRONG : count(held))

/** The fields of a transition, under the same names in a file. `step` and `attempt` count from 1. */
const TRANSITION_FIELDS = {
  event: { key: 'event', read: oneOf(...TRANSITION_EVENTS) },
  phase: { key: 'phase', read: text },
  visit: { key: 'visit', read: optional(count) },
  step: { key: 'step', read: optional(step) },
  attempt: { key: 'attempt', read: optional(count) },
  outcome: { key: 'outcome', read: optional(oneOf(...RUN_OUTCOMES)) },
  /** The verdict that decided the way out of a phase with cases. */
  verdict: { key: 'verdict', read: optional(text) },
  detail: { key: 'detail', read: optional(text) },
}

type TransitionFields = Values<typeof TRANSITION_FIELDS>

/** A transition of a run. */
export interface Transition
  extends Pick<TransitionFields, 'event' | 'phase'>,
    Partial<Omit<TransitionFields, 'event' | 'phase'>> {}

/** A transition with its number (from 1) and its time. */
export interface HistoryEntry extends Transition {
  readonly n: number
  readonly timeMs: number
}

/** An entry as a file holds it. Except for the time, the names are the same there. */
export function historyFields({ n, timeMs, ...transition }: HistoryEntry): Record<string, unknown> {
  return { n, time: toIso(timeMs), ...transition }
}

const readEntry = objectOf({
  ...TRANSITION_FIELDS,
  n: { key: 'n', read: count },
  // An entry without a readable time is kept.
  timeMs: { key: 'time', read: (held) => (typeof held === 'string' ? fromIso(held) : undefined) ?? 0 },
})

/** Reads an entry; undefined for anything else. */
export function readHistoryEntry(value: unknown): HistoryEntry | undefined {
  const entry = readEntry(value)
  return entry === WRONG ? undefined : entry
}

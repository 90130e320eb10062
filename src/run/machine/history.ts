import { fromIso, toIso } from '../../kernel/time.ts'
import { MAX_PHASE_STEPS } from '../definition/definition-limits.ts'
import { count, objectOf, oneOf, optional, type Reader, text, type Values, WRONG } from '../definition/fields.ts'

/** `moved`: it continues elsewhere, or is free to be continued (docs/shared-runs.md). */
export const RUN_OUTCOMES = ['completed', 'stopped', 'stalled', 'failed', 'aborted', 'moved'] as const

export type RunOutcome = (typeof RUN_OUTCOMES)[number]

const RESUMABLE: readonly (string | undefined)[] = ['stopped', 'stalled', 'failed'] satisfies RunOutcome[]

export function isResumableOutcome(outcome: string | undefined): boolean {
  return RESUMABLE.includes(outcome)
}

export const TRANSITION_EVENTS = [
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
  ...(['stop-request', 'resume', 'end', 'approval', 'approved', 'rejected', 'step-again', 'phase-skipped'] as const),
] as const

export type TransitionEvent = (typeof TRANSITION_EVENTS)[number]

const step: Reader<number> = (value) => (typeof value === 'number' && value > MAX_PHASE_STEPS ? WRONG : count(value))

/** `step` and `attempt` count from 1. */
const TRANSITION_FIELDS = {
  event: { key: 'event', read: oneOf(...TRANSITION_EVENTS) },
  phase: { key: 'phase', read: text },
  visit: { key: 'visit', read: optional(count) },
  step: { key: 'step', read: optional(step) },
  attempt: { key: 'attempt', read: optional(count) },
  outcome: { key: 'outcome', read: optional(oneOf(...RUN_OUTCOMES)) },
  verdict: { key: 'verdict', read: optional(text) },
  detail: { key: 'detail', read: optional(text) },
}

type TransitionFields = Values<typeof TRANSITION_FIELDS>

export interface Transition
  extends Pick<TransitionFields, 'event' | 'phase'>,
    Partial<Omit<TransitionFields, 'event' | 'phase'>> {}

/** `n` counts from 1. */
export interface HistoryEntry extends Transition {
  readonly n: number
  readonly timeMs: number
}

export function historyFields({ n, timeMs, ...transition }: HistoryEntry): Record<string, unknown> {
  return { n, time: toIso(timeMs), ...transition }
}

const readEntry = objectOf({
  ...TRANSITION_FIELDS,
  n: { key: 'n', read: count },
  // Keeps an entry without a readable time.
  timeMs: { key: 'time', read: (value) => (typeof value === 'string' ? fromIso(value) : undefined) ?? 0 },
})

export function readHistoryEntry(value: unknown): HistoryEntry | undefined {
  const entry = readEntry(value)
  return entry === WRONG ? undefined : entry
}

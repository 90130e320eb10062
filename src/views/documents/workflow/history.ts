import * as z from 'zod/mini'
import { RUN_OUTCOMES } from '../../../run/machine/run-outcome.ts'
import type { DocumentOf } from '../document.ts'
import { count, task, text } from '../parts.ts'

const entry = z.strictObject({
  n: count('Its number, from 1.'),
  time: text('ISO 8601.'),
  event: z.enum([
    ...(['start', 'enter', 'prompt', 'retry', 'step-done', 'step-failed', 'step-skipped'] as const),
    ...([
      'pass',
      'fail',
      'warn',
      'stop-request',
      'resume',
      'end',
      'approval',
      'approved',
      'rejected',
      'step-again',
      'phase-skipped',
    ] as const),
  ]),
  phase: text('The phase that it happened in.'),
  visit: z.optional(count('The visit of that phase, from 1.')),
  step: z.optional(count('From 1.')),
  attempt: z.optional(count('From 1.')),
  outcome: z.optional(z.enum(RUN_OUTCOMES)),
  verdict: z.optional(text('The case that decided the way.')),
  detail: z.optional(text('Details in words.')),
})

/** `postflight workflow history --json`. */
export const HISTORY_DOCUMENT = z.strictObject({
  task,
  history: z.array(entry),
  durations: z
    .record(z.string(), z.int())
    .register(z.globalRegistry, { description: 'The time (ms) for which the run worked on each phase.' }),
})

export type HistoryDocument = DocumentOf<typeof HISTORY_DOCUMENT>

import * as z from 'zod/mini'
import { RUN_OUTCOMES } from '../../../run/machine/run-outcome.ts'
import type { DocumentOf } from '../document.ts'
import { count, flag, optionalCount, optionalText, task, text } from '../parts.ts'

const phase = z.strictObject({
  id: text("The phase's id."),
  state: z.enum(['done', 'running', 'failed', 'skipped', 'waiting']),
  visits: count('The number of times it was entered.'),
  max_visits: count('The number of times it may be entered.'),
  artifact: optionalText('The file that it must produce, as a path in the task folder.'),
  gate: z.enum(['strict', 'advisory']),
  duration_ms: count('The time for which the run worked on it.'),
})

/** `postflight workflow start`, `stop` and `abort --json`: the run as it stands after the command. */
export const RUN_DOCUMENT = z.strictObject({
  task,
  name: text('Name of the workflow.'),
  active: flag('True while it runs.'),
  outcome: z.nullable(z.enum(RUN_OUTCOMES)),
  why: optionalText('Why it ended as it did, in words.'),
  phase: text('The current phase.'),
  step: optionalCount('The current step, from 1; null between steps.'),
  in_work: z.array(count('From 1.')).register(z.globalRegistry, {
    description: 'The steps that were handed out and have not ended: one, or several at once.',
  }),
  total_steps: count('The number of steps of this phase.'),
  attempt: count('The current attempt, from 1.'),
  last_failure: optionalText('Why the last attempt failed.'),
  stop_requested: flag('True if no further prompt goes out: it stops when its agent ends its turn.'),
  wait: z
    .nullable(z.strictObject({ for: text('What the agent waits for.'), count: count('The number of waits so far.') }))
    .register(z.globalRegistry, { description: 'The wait that the agent announced.' }),
  approval: z
    .nullable(
      z.strictObject({
        standing: z.enum(['asked', 'approved', 'rejected']),
        note: optionalText('The note of an approval, or the reason for a rejection.'),
      }),
    )
    .register(z.globalRegistry, { description: 'The approval by a person that this phase needs.' }),
  host_session: optionalText('The session that drives it.'),
  parent_session_id: optionalText('The session that its prompts belong to.'),
  prompts: count('The number of prompts sent so far.'),
  prompt_bound: optionalCount('The maximum number of its prompts, those sent included; null once it has ended.'),
  started_at: text('ISO 8601.'),
  updated_at: text('ISO 8601.'),
  age_ms: z.int().register(z.globalRegistry, { description: 'Time since the last change.' }),
  run_file: flag("True if the run's file exists in specs/.postflight/running/, by which the hook finds it."),
  phases: z.array(phase),
})

export type RunDocument = DocumentOf<typeof RUN_DOCUMENT>

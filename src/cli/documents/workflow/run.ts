import * as z from 'zod/mini'
import { RUN_OUTCOMES } from '../../../core/workflow/outcome.ts'
import type { DocumentOf } from '../document.ts'
import { count, flag, optionalCount, optionalText, task, text } from '../parts.ts'

const phase = z.strictObject({
  id: text("The phase's id."),
  state: z.enum(['done', 'running', 'failed', 'waiting']),
  visits: count('How often it was entered.'),
  max_visits: count('How often it may be.'),
  artifact: optionalText('What it must leave, as a path in the task folder.'),
  gate: z.enum(['strict', 'advisory']),
})

/** `postflight workflow start`, `stop` and `abort --json`: the run as it stands then. */
export const RUN_DOCUMENT = z.strictObject({
  task,
  name: text('Name of the workflow.'),
  active: flag('True while it runs.'),
  outcome: z.nullable(z.enum(RUN_OUTCOMES)),
  why: optionalText('Why it ended as it did, in words.'),
  phase: text('The phase that it is in.'),
  step: optionalCount('The step that it is in, from 1; null between steps.'),
  total_steps: count('Steps of this phase.'),
  attempt: count('The attempt that runs, from 1.'),
  last_failure: optionalText('What was wrong with the last attempt.'),
  stop_requested: flag('It stops when this phase is through.'),
  host_session: optionalText('The session that drives it.'),
  parent_session_id: optionalText('The session that its prompts belong to.'),
  prompts: count('Prompts given out so far.'),
  prompt_bound: count('Prompts at most.'),
  started_at: text('ISO 8601.'),
  updated_at: text('ISO 8601.'),
  age_ms: z.int().register(z.globalRegistry, { description: 'Time since the last change.' }),
  marker: flag("The run's marker is there, by which the hook finds it."),
  phases: z.array(phase),
})

export type RunDocument = DocumentOf<typeof RUN_DOCUMENT>

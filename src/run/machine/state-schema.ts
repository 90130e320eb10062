import * as z from 'zod/mini'
import { described } from '../../kernel/described.ts'
import { RUN_OUTCOMES, STAGES } from './state-fields.ts'

/** Source of `schema/state.schema.json`. Not in the hook's bundle; a test compares it with `state-fields.ts`. */

const text = (description: string) => described(z.string(), description)
const flag = (description: string) => described(z.boolean(), description)
const count = (description: string) => described(z.int().check(z.minimum(0)), description)
const orNull = <Schema extends z.core.$ZodType>(schema: Schema, description: string) =>
  described(z.nullable(schema), description)
const time = () => z.iso.datetime({ offset: true })

const ledBy = z.strictObject({
  phase: z.string(),
  verdict: z.optional(described(z.string(), '"pass" or "fail", or the case.')),
  reason: z.optional(z.string()),
})

const wait = z.strictObject({
  for: z.string(),
  count: z.int().check(z.minimum(1)),
  prompt_id: z.optional(z.string()),
  last_prompt_id: z.optional(z.string()),
  stopped_ms: z.optional(z.number()),
})

const inWork = z.strictObject({
  step: count('From 0.'),
  attempts: count('The failed attempts.'),
  max_attempts: count('Their limit. It grows with a resume after they were spent.'),
  out: flag('True while its prompt is out.'),
  failure: z.optional(described(z.string(), 'The fault of its last result.')),
})

const endedStep = z.strictObject({
  step: count('From 0.'),
  attempts: count('The number of attempts.'),
  outcome: z.enum(['done', 'skipped']),
})

const approval = z.strictObject({
  standing: z.enum(['asked', 'approved', 'rejected']),
  note: z.optional(described(z.string(), 'The note of an approval, or the reason for a rejection.')),
})

const transition = z.looseObject({
  n: described(z.int().check(z.minimum(1)), 'The number of the transition.'),
  time: time(),
  event: z.string(),
  phase: z.string(),
  visit: z.optional(z.int()),
  step: z.optional(described(z.int(), 'From 1.')),
  attempt: z.optional(described(z.int(), 'From 1.')),
  outcome: z.optional(z.enum(RUN_OUTCOMES)),
  verdict: z.optional(described(z.string(), 'The case that decided the way.')),
  detail: z.optional(z.string()),
})

/** Steps and attempts count from 0. */
export const STATE_SCHEMA = z.strictObject({
  version: z.literal(1),
  id: text('The id of the run, which its run file and workflow/id repeat.'),
  name: text('Name of the workflow.'),
  active: flag('True while the run is active.'),
  outcome: orNull(z.enum(RUN_OUTCOMES), 'How the run ended; null while it is active.'),
  why: orNull(z.string(), 'The reason for the outcome.'),
  settled: flag('True once a person has settled the ended run, so that it no longer counts as unfinished.'),
  phase: text('The phase in progress.'),
  stage: described(
    z.enum(STAGES),
    'How far the visit of the phase has come: its old artifact is archived; nothing was prompted yet; a prompt is out; the main conversation has stopped since; no prompt is out; a rejected artifact is archived.',
  ),
  phase_attempts: count("The failed attempts at the phase's own prompt in this visit."),
  max_phase_attempts: count('Their limit. It grows with each resume.'),
  current_step: count('The first step that has not ended.'),
  total_steps: count('The number of steps of the phase.'),
  step_attempts: count('The failed attempts at this step.'),
  max_step_attempts: count('Their limit. It grows with each resume.'),
  in_work: described(z.array(inWork), 'The steps that have begun and not ended: one, or up to `parallel`.'),
  archiving: described(z.array(z.string()), 'The names in the archive of the results that are being moved there.'),
  ended_steps: described(z.array(endedStep), 'The steps of this visit that have ended.'),
  prompted_at: orNull(time(), 'When the last prompt went out.'),
  repeats: count('How often the prompt was repeated for requests from before it went out.'),
  prompt_id: orNull(z.string(), "The host's id of the prompt in whose chain of stops the prompt went out."),
  shells: described(z.array(z.string()), 'The ids of the shells that ran in the background then.'),
  heard_prompt_id: orNull(
    z.string(),
    'The prompt with which the person interrupted the run; its stops are allowed. After a restart of the session, the value of prompt_id.',
  ),
  interruptions: count('How often a prompt went out again because it was interrupted.'),
  asked_to_wait: flag('True once the agent was asked whether it waits for shells in the background.'),
  wait: orNull(wait, 'The wait that the agent announced.'),
  waits: count('The number of waits that are over.'),
  last_failure: orNull(z.string(), 'The fault of the last result.'),
  led_by: orNull(ledBy, 'The phase that led here, with its verdict and the reason for it.'),
  previous_artifact: orNull(z.string(), "Where the artifact of the phase's last visit is now."),
  approval: orNull(approval, 'How the approval by a person stands, in a phase that needs one.'),
  stop_requested: orNull(time(), 'When a stop was requested.'),
  parent_session_id: orNull(z.string(), 'The session that its prompts belong to.'),
  host_session: orNull(z.string(), "The host's id for the conversation that is driven."),
  started_at: time(),
  updated_at: time(),
  inputs: described(z.record(z.string(), z.string()), "The values of the definition's inputs."),
  durations: described(z.record(z.string(), z.int()), 'The time (ms) for which the run worked on each phase.'),
  clock_since: orNull(
    time(),
    'The time from which work on the current phase is not yet counted in durations; null while the clock is stopped.',
  ),
  skips: count('The number of steps and artifacts that were skipped.'),
  phase_skips: count('The number of steps that were given up in this visit.'),
  prompts: count('The number of prompts that were sent.'),
  sequence: count('The number of the last transition.'),
  visits: described(z.record(z.string(), z.int()), 'The number of visits of each phase.'),
  visits_granted: count('The number of visits that resumes have granted beyond max_visits.'),
  unfinished: described(
    z.record(z.string(), z.enum(['open', 'skipped'])),
    'The phases that `resume --from` left before they were over.',
  ),
  steps_known: flag("True once the phase's steps are known in this visit."),
  taken_steps: orNull(
    z.array(z.union([z.string(), z.record(z.string(), z.unknown())])),
    'A copy of the steps that were taken from an artifact.',
  ),
  history: described(z.array(transition), 'The last transitions. workflow/history.jsonl has all of them.'),
  definition_file: orNull(z.string(), "The definition's file: its path in the project, or `example:` and a name."),
  definition: described(
    z.looseObject({ name: z.string(), phases: z.array(z.looseObject({ id: z.string() })).check(z.minLength(1)) }),
    'A copy of the definition, with every default filled in.',
  ),
})

import * as z from 'zod/mini'
import { described, optionally } from '../../kernel/described.ts'
import { readBy } from '../../kernel/schema-faults.ts'
import { MAX_INPUT_LENGTH } from '../../kernel/values.ts'
import { SCHEMA_KEYWORDS } from './artifact-schema.ts'
import { END, MAX_BUDGET, MAX_FAULTS, MAX_PARALLEL, MAX_PHASE_STEPS, MAX_PHASES } from './definition-limits.ts'
import { MAX_STEP_LENGTH, POINTER } from './steps.ts'

export const MAX_PROMPT_LENGTH = 50_000

const whole = (least: number, most: number) => z.int().check(z.minimum(least), z.maximum(most))
const limit = (about: string) => described(whole(1, 1000), about)
const filled = (most: number) => z.string().check(z.minLength(1), z.maxLength(most))
const text = (about: string, most = 200) => described(filled(most), about)

const NO_POINTER = 'must be a JSON pointer, such as "/steps" or "/result/passed"'
const pointer = (about: string) => described(z.string().check(z.regex(POINTER, NO_POINTER), z.maxLength(500)), about)

const step = z.union([filled(MAX_STEP_LENGTH), z.record(z.string(), z.unknown())])

const jsonSchema = (about: string) =>
  described(
    z.union([z.record(z.string(), z.unknown()), z.boolean()]),
    `${about} Its keywords: ${SCHEMA_KEYWORDS.join(', ')}; any other keyword is a fault.`,
  )

const check = described(
  z.strictObject({
    run: z.optional(text('A shell command that must succeed: `postflight workflow check` runs it at the root.', 2000)),
    files: optionally(
      z.array(text('A pattern of files, relative to the root.')).check(z.maxLength(100)),
      'The files that a passed check is bound to: a change makes it void. At most 2,000 files.',
    ),
    min_bytes: z.optional(whole(0, 1_000_000_000)),
    json: z.optional(z.boolean()),
    json_schema: z.optional(jsonSchema('A JSON Schema; implies json.')),
  }),
  'The conditions for a valid artifact, besides being a file.',
)

const stepCheck = described(
  z.strictObject({ json_schema: jsonSchema('A JSON Schema for the result of a step that succeeded.') }),
  'The conditions for a valid step result, besides its "success".',
)

const target = (after: string, more = '') => text(`The next phase after ${after}: its id, or "${END}".${more}`, 60)

const ways = z.strictObject({
  pass: target('a pass'),
  fail: target('a fail'),
  verdict: pointer('JSON pointer to the verdict in the artifact: a boolean, or "pass" or "fail".'),
  reason: z.optional(
    pointer(
      "JSON pointer to the reason for the verdict in the artifact. It becomes part of the next phase's prompt if this phase led back to it.",
    ),
  ),
})

const caseWays = z.strictObject({
  verdict: pointer('JSON pointer to the verdict in the artifact: a string, a number or a boolean.'),
  cases: described(z.record(z.string(), target('this verdict')), 'The next phase by verdict.'),
  default: z.optional(target('any other verdict', ' Without it, such an artifact is invalid.')),
  reason: z.optional(
    pointer("JSON pointer to the reason for the verdict in the artifact. It becomes part of the next phase's prompt."),
  ),
})

const stepSource = z.strictObject({
  from: text('The artifact of an earlier phase.'),
  pointer: pointer('JSON pointer to the list of steps in it.'),
})

const checklistSource = z.strictObject({
  from: text('A Markdown file in the task folder.'),
  checklist: described(
    z.literal(true),
    'The steps are the items of its task lists that are not ticked. An item is ticked when it is done.',
  ),
})

const input = z.strictObject({
  description: z.optional(text('The purpose of the value.', 500)),
  default: optionally(
    z.union([z.string().check(z.maxLength(MAX_INPUT_LENGTH)), z.number(), z.boolean()]),
    'The value if `start --set` gives none.',
  ),
  required: optionally(z.boolean(), 'True if `start` must be given a value.', { default: false }),
})

const budget = (about: string) => described(whole(1, MAX_BUDGET), about)

const phase = z.strictObject({
  id: text('Unique id of the phase: a letter, then letters, digits, "_" and "-".', 60),
  prompt: z.optional(text('The prompt for the agent: a template with {{placeholders}}.', MAX_PROMPT_LENGTH)),
  prompt_file: z.optional(text('A file with the prompt, beside the definition or below it.')),
  artifact: z.optional(text('The file that this phase must produce: a path in the task folder.')),
  check: z.optional(check),
  approve: optionally(
    z.boolean(),
    'True if a person must approve the artifact (`workflow approve`) before the next phase.',
    { default: false },
  ),
  gate: optionally(
    z.enum(['strict', 'advisory']),
    'strict (the default): the run cannot continue without a valid artifact. advisory: it warns and continues.',
    { default: 'strict' },
  ),
  max_attempts: z.optional(limit('Maximum number of prompts for this phase in one visit (strict: 3, advisory: 1).')),
  next: optionally(
    z.union([text(`A phase's id, or "${END}".`, 60), ways, caseWays]),
    'The next phase (default: the following one; after the last phase, the end).',
  ),
  max_visits: z.optional(limit('Maximum number of visits of this phase (default: 1; on a loop 3).')),
  agent: z.optional(text('The type of the agent for this phase.')),
  model: z.optional(text('The model for this phase.')),
  steps: optionally(
    z.union([z.array(step).check(z.maxLength(MAX_PHASE_STEPS)), stepSource, checklistSource]),
    'The steps of this phase; each gets its own prompt. In an object, `agent` and `model` say who should do the step.',
  ),
  step_prompt: z.optional(text('The template of the prompt for each step.', MAX_PROMPT_LENGTH)),
  step_prompt_file: z.optional(text('A file with the prompt for each step, beside the definition or below it.')),
  step_check: z.optional(stepCheck),
  parallel: optionally(whole(1, MAX_PARALLEL), 'How many steps may be in progress at once.', { default: 1 }),
  max_step_attempts: z.optional(limit('Maximum number of prompts for one step (default: 3).')),
  max_skips: optionally(
    whole(0, MAX_PHASE_STEPS),
    'Maximum number of steps that may be skipped in one visit; one more, and the run has failed. If all steps fail, it has failed too.',
  ),
  on_exhausted: optionally(
    z.enum(['skip', 'stop']),
    'After the last attempt at a step failed: skip the step (the default), or stop the workflow.',
    { default: 'skip' },
  ),
})

export const DEFINITION_SCHEMA = z.strictObject({
  $schema: z.optional(z.string()),
  name: text('Name of the workflow.', 100),
  inputs: optionally(
    z.record(z.string(), input),
    'Values that `start --set NAME=VALUE` takes, and that prompts show as {{input.NAME}}.',
  ),
  max_prompts: z.optional(
    budget('Maximum number of prompts of a run, with all its resumes. After that it has stalled.'),
  ),
  max_minutes: z.optional(
    budget('Maximum number of minutes that a run may work, with all its resumes; time for approval is not counted.'),
  ),
  phases: z.array(phase).check(z.minLength(1), z.maxLength(MAX_PHASES)),
})

export type DefinitionFile = z.infer<typeof DEFINITION_SCHEMA>
export type PhaseFile = DefinitionFile['phases'][number]

export function checkShape(value: unknown) {
  return readBy(DEFINITION_SCHEMA, value, 'file', MAX_FAULTS)
}

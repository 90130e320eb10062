import * as z from 'zod/mini'
import { counted } from '../messages/phrases.ts'
import { SCHEMA_KEYWORDS } from './artifact-schema.ts'
import { END, MAX_PHASE_STEPS, MAX_PHASES } from './definition-limits.ts'

/**
 * The definition as people write it: what `workflow validate` checks and `schema/workflow.schema.json` is made from.
 * Never part of the hook's bundle.
 */

/** Longest prompt, in characters. */
export const MAX_PROMPT_LENGTH = 50_000

const limit = (description: string) =>
  z.int().check(z.minimum(1), z.maximum(1000)).register(z.globalRegistry, { description })
const text = (description: string, most = 200) =>
  z.string().check(z.minLength(1), z.maxLength(most)).register(z.globalRegistry, { description })

const pointer = (description: string) =>
  z
    .string()
    .check(z.regex(/^(?:\/(?:[^~/]|~[01])*)*$/), z.maxLength(500))
    .register(z.globalRegistry, { description })

const step = z.union([z.string().check(z.minLength(1), z.maxLength(5000)), z.record(z.string(), z.unknown())])

const check = z
  .strictObject({
    min_bytes: z.optional(z.int().check(z.minimum(0), z.maximum(1_000_000_000))),
    json: z.optional(z.boolean()),
    json_schema: z.optional(
      z.union([z.record(z.string(), z.unknown()), z.boolean()]).register(z.globalRegistry, {
        description: `A JSON Schema; implies json. Its keywords: ${SCHEMA_KEYWORDS.join(', ')}; any other is a fault.`,
      }),
    ),
  })
  .register(z.globalRegistry, { description: 'What makes the artifact valid, besides being a file.' })

const phase = z.strictObject({
  id: text('Unique name of the phase: a letter, then letters, digits, "_" and "-".', 60),
  prompt: z.optional(text('What the agent is told; a template with {{placeholders}}.', MAX_PROMPT_LENGTH)),
  prompt_file: z.optional(text('A file beside the definition that holds the prompt.')),
  artifact: z.optional(text('Path in the task folder that this phase must leave.')),
  check: z.optional(check),
  gate: z.optional(
    z.enum(['strict', 'advisory']).register(z.globalRegistry, {
      description: 'strict (the default): no way past without a valid artifact; advisory: warn and go on.',
      default: 'strict',
    }),
  ),
  max_attempts: z.optional(limit('Prompts for this phase before it is exhausted (strict: 3, advisory: 1).')),
  next: z.optional(
    z
      .union([
        text(`A phase's id, or "${END}".`, 60),
        z.strictObject({
          pass: text(`Where to go on a pass: a phase's id, or "${END}".`, 60),
          fail: text(`Where to go on a fail: a phase's id, or "${END}".`, 60),
          verdict: pointer('JSON pointer into the artifact, to a boolean or "pass" / "fail".'),
        }),
      ])
      .register(z.globalRegistry, {
        description: 'Where this phase leads (the following one; after the last, the end).',
      }),
  ),
  max_visits: z.optional(limit('How often this phase may be entered (1; in a loop 3).')),
  agent: z.optional(text('The type of agent that should do it.')),
  model: z.optional(text('The model that should do it.')),
  steps: z.optional(
    z
      .union([
        z.array(step).check(z.maxLength(MAX_PHASE_STEPS)),
        z.strictObject({
          from: text('An artifact of an earlier phase.'),
          pointer: pointer('JSON pointer to the list of steps in it.'),
        }),
      ])
      .register(z.globalRegistry, { description: 'The steps of this phase, one prompt each.' }),
  ),
  step_prompt: z.optional(text('What the agent is told for each step; a template.', MAX_PROMPT_LENGTH)),
  step_prompt_file: z.optional(text('A file beside the definition that holds it.')),
  max_step_attempts: z.optional(limit('Prompts for one step before it is exhausted (3).')),
  on_exhausted: z.optional(
    z.enum(['skip', 'stop']).register(z.globalRegistry, {
      description: 'What becomes of a step whose attempts are spent: skip it (the default), or stop the workflow.',
      default: 'skip',
    }),
  ),
})

const definition = z.strictObject({
  $schema: z.optional(z.string()),
  name: text('Name of the workflow.', 100),
  phases: z.array(phase).check(z.minLength(1), z.maxLength(MAX_PHASES)),
})

/** A definition as it was written, of the right shape; `definition-rules.ts` says whether it makes sense. */
export type DefinitionFile = z.infer<typeof definition>
export type PhaseFile = DefinitionFile['phases'][number]

/** A place in a definition. */
export type FaultPath = readonly (string | number)[]

/** What does not have the right shape; `keys` are names that nobody knows. */
export interface ShapeFault {
  readonly path: FaultPath
  readonly detail: string
}

/** Checks the shape; every fault at once. */
export function checkShape(value: unknown): { file: DefinitionFile } | { faults: ShapeFault[] } {
  const parsed = definition.safeParse(value)
  if (parsed.success) return { file: parsed.data }
  return { faults: parsed.error.issues.flatMap((issue) => shapeFaults(issue, [])) }
}

function shapeFaults(issue: z.core.$ZodIssue, base: FaultPath): ShapeFault[] {
  const path = [...base, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, key], detail: `nobody knows "${key}"` }))
    case 'invalid_type':
      return [{ path, detail: `must be ${withArticle(issue.expected)}` }]
    case 'invalid_value':
      return [{ path, detail: `must be one of ${issue.values.map((one) => `"${String(one)}"`).join(', ')}` }]
    case 'invalid_union':
      return unionFaults(issue, path)
    case 'too_small':
      return [{ path, detail: `must be at least ${sizeOf(issue.minimum, issue.origin)}` }]
    case 'too_big':
      return [{ path, detail: `must be at most ${sizeOf(issue.maximum, issue.origin)}` }]
    case 'invalid_format':
      return [{ path, detail: 'must be a JSON pointer, such as "/steps" or "/result/passed"' }]
    default:
      return [{ path, detail: issue.message }]
  }
}

/** The faults of the form that was nearest: the one whose own type was right. */
function unionFaults(issue: z.core.$ZodIssueInvalidUnion, path: FaultPath): ShapeFault[] {
  const nearest = issue.errors.find(
    (one) => !one.some((inner) => inner.code === 'invalid_type' && inner.path.length === 0),
  )
  if (nearest !== undefined) return nearest.flatMap((inner) => shapeFaults(inner, path))
  const kinds = issue.errors.flatMap((one) =>
    one.filter((inner) => 'expected' in inner).map((inner) => withArticle(inner.expected)),
  )
  return [{ path, detail: `must be ${[...new Set(kinds)].join(' or ')}` }]
}

function withArticle(kind: string): string {
  const name = kind === 'record' ? 'object' : kind === 'int' ? 'integer' : kind
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name === 'integer' ? 'whole number' : name}`.replace(
    'an whole',
    'a whole',
  )
}

function sizeOf(size: number | bigint, origin: string): string {
  if (origin === 'string') return `${counted(size, 'character')} long`
  return origin === 'array' ? counted(size, 'entry', 'entries') : String(size)
}

/** The JSON Schema of a definition, for editors. */
export function definitionJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(definition)
  return { $schema, title: 'postflight-guard workflow', ...rest }
}

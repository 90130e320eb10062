import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { count, optionalCount, optionalText, owner, searchProblem, task, text } from './parts.ts'

const marker = z.strictObject({
  state: z.enum(['pending', 'bypassed', 'expired', 'abandoned', 'unreadable']),
  outcome: z.nullable(z.enum(['capped', 'expired', 'unchecked'])),
  task,
  path: text("The marker's absolute path."),
  relative_path: text('The same, relative to the root.'),
  id: optionalText("The marker's id."),
  skill: optionalText('The skill that made the marker.'),
  operation: optionalText('The operation, such as "research".'),
  reason: optionalText('The message to the agent.'),
  owner: z.extend(owner, { agent_type: optionalText('Only sub-agents of this type.') }),
  promised_at: optionalText('When the marker was made (ISO 8601).'),
  age_ms: z.nullable(z.int()),
  continuations: z.strictObject({
    spent: optionalCount('The number of stops that were blocked; null if that cannot be read.'),
    limit: count('The number of stops that may be blocked.'),
  }),
  steps: z.array(z.strictObject({ name: text('A line of the checklist.'), done: z.boolean() })),
  checks: z.array(
    z.strictObject({
      run: text('A shell command that must succeed before `clear`.'),
      step: optionalText('The step that it belongs to.'),
      failed: optionalText('How it failed the last time.'),
    }),
  ),
  wait: z
    .nullable(z.strictObject({ for: text('What the agent waits for.'), count: count('The number of waits so far.') }))
    .register(z.globalRegistry, { description: 'The wait that the agent announced.' }),
  problems: z.array(text('What is wrong with the marker.')),
})

/** `postflight inspect --json`. */
export const INSPECT_DOCUMENT = z.strictObject({
  root: optionalText('The folder that holds specs/; null if there is none.'),
  pending: count('The number of markers that are pending or cannot be read.'),
  abandoned: count('The number of markers that are abandoned.'),
  markers: z.array(marker),
  problems: z.array(searchProblem),
})

export type InspectDocument = DocumentOf<typeof INSPECT_DOCUMENT>

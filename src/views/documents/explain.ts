import * as z from 'zod/mini'
import { RULES, type Rule } from '../../stop/rules.ts'
import type { DocumentOf } from './document.ts'
import { optionalCount, optionalText, searchProblem, text } from './parts.ts'

const marker = z.strictObject({
  path: text("The marker's path, relative to its root."),
  rule: z.nullable(z.enum(Object.keys(RULES) as Rule[])).register(z.globalRegistry, {
    description: 'The rule that decides; null if the marker cannot be read.',
  }),
  row: z
    .nullable(z.union([z.number(), z.enum(['4a', '6a'])]))
    .register(z.globalRegistry, { description: "The rule's row in the table." }),
  answer: z.enum(['allow', 'block']),
  why: text('The rule in words.'),
  continuations_spent: optionalCount('The number of stops that it has blocked; null if the marker cannot be read.'),
})

const run = z.strictObject({
  path: text('The task folder, relative to its root.'),
  answer: z.enum(['allow', 'driver']).register(z.globalRegistry, {
    description: '"driver": the answer comes from the driver of the workflow.',
  }),
  why: text('The reason in words.'),
})

const answer = z.union([
  z.strictObject({}),
  z.strictObject({ decision: z.literal('block'), reason: text('The message to the agent.') }),
  z.strictObject({
    hookSpecificOutput: z.strictObject({
      hookEventName: z.literal('PreToolUse'),
      permissionDecision: z.literal('deny'),
      permissionDecisionReason: text('The message to the agent.'),
    }),
  }),
  z.strictObject({ systemMessage: text('The message to the user.') }),
  z.strictObject({
    hookSpecificOutput: z.strictObject({
      hookEventName: text('The event.'),
      additionalContext: text('The message to the agent.'),
    }),
  }),
])

/** `postflight explain --json`. */
export const EXPLAIN_DOCUMENT = z.strictObject({
  payload: z.strictObject({
    event: text('The event that the payload names.'),
    host_session: optionalText("The host's id of the conversation."),
    agent: optionalText('The sub-agent that stops; null: the main conversation, or not known.'),
  }),
  roots: z.array(text('A folder that holds specs/.')),
  why: optionalText('Why no marker is judged; null if markers are judged.'),
  markers: z.array(marker),
  runs: z.array(run),
  problems: z.array(searchProblem),
  answer: answer.register(z.globalRegistry, { description: 'What the hook would print.' }),
})

export type ExplainDocument = DocumentOf<typeof EXPLAIN_DOCUMENT>

import * as z from 'zod/mini'
import { described, optionally } from '../kernel/described.ts'
import { MAX_CHECKS } from '../kernel/values.ts'

/** For other programs: `marker.ts` reads any content. */

const text = (description: string) => optionally(z.string(), description)
const flag = (description: string) => optionally(z.boolean(), description)
const count = (least: number, description: string) => described(z.int().check(z.minimum(least)), description)
const filled = (description: string) => described(z.string().check(z.minLength(1)), description)

const step = z.looseObject({ name: z.string(), done: flag('True once it is ticked.') })

const wait = z.looseObject({
  for: filled('What the agent waits for.'),
  count: count(1, 'The number of this prompt among those that the marker has waited at.'),
  prompt_id: z.optional(filled('The prompt whose stops are allowed.')),
  last_prompt_id: z.optional(filled('The prompt of the previous wait.')),
  stopped_ms: optionally(z.number(), 'Without ids of prompts: when the one stop was allowed, in ms since the epoch.'),
})

const check = z.looseObject({
  run: described(z.string().check(z.regex(/\S/)), 'The shell command.'),
  step: text('The step of the checklist that it belongs to.'),
  failed: optionally(
    z.looseObject({
      exit_code: z.optional(z.int()),
      signal: z.optional(z.string()),
      timed_out_ms: z.optional(z.number()),
      output: text('The end of its output.'),
    }),
    'How it failed when it was run last.',
  ),
})

export const MARKER_SCHEMA = z.looseObject({
  id: text('"pf_" and 12 letters or digits, given by `postflight create`.'),
  session_id: text("The skill's own session id."),
  skill: text('The skill that made the marker.'),
  task_number: optionally(z.number(), "The task's number."),
  operation: text('The operation, such as "research".'),
  reason: text('The message to the agent when it stops too early.'),
  created: optionally(z.iso.datetime({ offset: true }), 'When the marker was made.'),
  stop_hook_active: flag('True: the next stop is allowed, and the marker is removed.'),
  cc_session_id: text("The host's id for the conversation. Without it, the marker is unowned."),
  owner_from: text('"environment" if session and agent come from the environment of `postflight create` or `adopt`.'),
  agent_id: text('The owner: "main", or the id of a sub-agent. Without it, the owner is not known yet.'),
  agent_type: text('Only sub-agents of this type are blocked.'),
  steps: optionally(z.array(z.union([z.string(), step])), 'The checklist.'),
  checks: optionally(
    z.array(check).check(z.maxLength(MAX_CHECKS)),
    'The commands that must succeed before the marker may be cleared.',
  ),
  checks_session: text('The session that wrote the checks, if the marker belongs to another one now.'),
  outcome: text('"unchecked" in an abandoned marker that was ended without its checks.'),
  done: optionally(
    z.looseObject({
      prompt_id: text('The prompt of the last stop.'),
      paths: z.optional(z.record(z.string(), z.string())),
    }),
    'In a marker that the hook made for a definition of done.',
  ),
  wait: optionally(wait, 'The wait that the agent announced.'),
  waits: z.optional(count(0, 'The number of prompts at which the marker has waited, apart from `wait`.')),
})

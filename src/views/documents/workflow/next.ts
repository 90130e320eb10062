import * as z from 'zod/mini'
import { RUN_OUTCOMES } from '../../../run/machine/run-outcome.ts'
import type { DocumentOf } from '../document.ts'
import { optionalCount, optionalText } from '../parts.ts'

const work = z.strictObject({
  step: optionalCount('Its step, from 1.'),
  attempt: optionalCount('Its attempt, from 1.'),
  prompt: optionalText('The text for the agent.'),
  agent: optionalText('The type of the agent to run it.'),
  model: optionalText('The model to run it.'),
  artifact: optionalText('The file that the agent must write, as a path in the task folder.'),
})

/** The fields of a prompt that is due. */
export const DUE_FIELDS = {
  phase: optionalText('The phase of the prompt.'),
  ...work.shape,
  batch: z.nullable(z.array(work)).register(z.globalRegistry, {
    description:
      'The prompts of several steps at once: each for an agent of its own. Then `prompt` contains all of them.',
  }),
}

/** `postflight workflow next --json`. Every field is always present, and null if it does not apply. */
export const NEXT_DOCUMENT = z.strictObject({
  command: z.enum(['prompt', 'wait', 'finish']).register(z.globalRegistry, {
    description: 'What to do: give the prompt to an agent and ask again, ask again later, or end.',
  }),
  ...DUE_FIELDS,
  outcome: z.nullable(z.enum(RUN_OUTCOMES)).register(z.globalRegistry, { description: 'How the run ended.' }),
  why: optionalText('Why it ended, or why to wait, in words.'),
})

export type NextWork = DocumentOf<typeof work>
export type NextDocument = DocumentOf<typeof NEXT_DOCUMENT>

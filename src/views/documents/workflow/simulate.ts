import * as z from 'zod/mini'
import { RUN_OUTCOMES } from '../../../run/machine/run-outcome.ts'
import type { DocumentOf } from '../document.ts'
import { count, optionalText, text } from '../parts.ts'
import { DUE_FIELDS } from './next.ts'

const entered = z.strictObject({ phase: text("The phase's id."), visit: count('Its visit, from 1.') })

/** `postflight workflow simulate --json`. */
export const SIMULATE_DOCUMENT = z.strictObject({
  outcome: z.nullable(z.enum(RUN_OUTCOMES)).register(z.globalRegistry, {
    description: 'How the run would end; null if it would go on after 10,000 prompts.',
  }),
  why: optionalText('Why it would end in this way, in words.'),
  path: z
    .array(entered)
    .register(z.globalRegistry, { description: 'The phases in the order in which they are entered.' }),
  prompts: z.array(z.strictObject(DUE_FIELDS)),
  prompt_count: count('The number of prompts; each step of a batch counts.'),
  prompt_bound: count('The maximum number of prompts of a run of this definition.'),
})

export type SimulateDocument = DocumentOf<typeof SIMULATE_DOCUMENT>

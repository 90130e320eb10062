import * as z from 'zod/mini'
import { failedCheck } from '../check.ts'
import type { DocumentOf } from '../document.ts'
import { optionalText, task, text } from '../parts.ts'

/** `postflight workflow check --json`. */
export const PHASE_CHECK_DOCUMENT = z.strictObject({
  task,
  phase: text('The current phase.'),
  result: z.enum(['passed', 'failed', 'running', 'too-early']).register(z.globalRegistry, {
    description: '"running": another process runs it. "too-early": the artifact is not valid yet.',
  }),
  message: text('The result in words.'),
  receipt: optionalText('The receipt, as a path in the task folder; null if the check was not run.'),
  not_bound: z.array(text('A path from the root, or a pattern.')).register(z.globalRegistry, {
    description: 'What check.files names and the result is not bound to: links, and files in node_modules.',
  }),
  failed: z.nullable(failedCheck).register(z.globalRegistry, { description: 'The check, if it failed.' }),
})

export type PhaseCheckDocument = DocumentOf<typeof PHASE_CHECK_DOCUMENT>

import * as z from 'zod/mini'
import { failedCheck } from './check.ts'
import type { DocumentOf } from './document.ts'
import { count, flag, task, text } from './parts.ts'

/** `postflight step --json`. */
export const STEP_DOCUMENT = z.strictObject({
  task,
  step: z.strictObject({
    number: count('Its place in the checklist, from 1.'),
    name: text('The line of the checklist.'),
    done: flag('False after --undo, and if its check failed.'),
  }),
  remaining: count('The number of steps that remain.'),
  failed: z.nullable(failedCheck).register(z.globalRegistry, { description: 'Its check that failed.' }),
})

export type StepDocument = DocumentOf<typeof STEP_DOCUMENT>

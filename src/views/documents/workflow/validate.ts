import * as z from 'zod/mini'
import type { DocumentOf } from '../document.ts'
import { count, flag, optionalCount, text } from '../parts.ts'

const finding = z.strictObject({
  line: count('From 1.'),
  column: count('From 1.'),
  where: text('The place in the definition, such as "phases.0.next"; empty for the whole file.'),
  detail: text('The fault or the warning.'),
})

/** `postflight workflow validate --json`. */
export const VALIDATE_DOCUMENT = z.strictObject({
  file: text("The definition's absolute path."),
  valid: flag('True if it has no faults.'),
  faults: z.array(finding),
  warnings: z.array(finding),
  phases: optionalCount('The number of phases; null if it has faults.'),
  prompt_bound: optionalCount('The maximum number of prompts of a run; null if it has faults.'),
})

export type ValidateDocument = DocumentOf<typeof VALIDATE_DOCUMENT>

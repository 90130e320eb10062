import * as z from 'zod/mini'
import type { DocumentOf } from '../document.ts'
import { optionalText } from '../parts.ts'
import { RUN_DOCUMENT } from './run.ts'

/** `postflight workflow resume --json`. */
export const RESUME_DOCUMENT = z.extend(RUN_DOCUMENT, {
  taken_over_from: optionalText('The other session in which it was running until now.'),
})

export type ResumeDocument = DocumentOf<typeof RESUME_DOCUMENT>

import * as z from 'zod/mini'
import { type ErrorCode, EXIT_CODES } from '../../core/errors.ts'
import type { DocumentOf } from './document.ts'
import { text } from './parts.ts'

/** What went wrong: a code for programs, a sentence for people. */
export const errorDetail = z.strictObject({
  code: z.enum(Object.keys(EXIT_CODES) as ErrorCode[]),
  message: text('What is wrong and what to do about it, in one line.'),
})

/** What any command prints in place of its own document when it fails. */
export const ERROR_DOCUMENT = z.strictObject({ error: errorDetail })

export type ErrorDocument = DocumentOf<typeof ERROR_DOCUMENT>

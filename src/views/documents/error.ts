import * as z from 'zod/mini'
import { type ErrorCode, EXIT_CODES } from '../../kernel/errors.ts'
import type { DocumentOf } from './document.ts'
import { text } from './parts.ts'

/** An error: a code for programs, a sentence for people. */
export const errorDetail = z.strictObject({
  code: z.enum(Object.keys(EXIT_CODES) as ErrorCode[]),
  message: text('What is wrong and what to do about it, in one line.'),
})

/** The document of a command that failed. */
export const ERROR_DOCUMENT = z.strictObject({ error: errorDetail })

export type ErrorDocument = DocumentOf<typeof ERROR_DOCUMENT>

import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, text } from './parts.ts'

/** `postflight completion --json`. */
export const COMPLETION_DOCUMENT = z.strictObject({ script: text('The script that the shell reads.') })

export type CompletionDocument = DocumentOf<typeof COMPLETION_DOCUMENT>

/** `postflight complete --json`. */
export const COMPLETE_DOCUMENT = z.strictObject({
  words: z.array(z.strictObject({ value: text('A word that may follow.'), description: text('What it means.') })),
  files: flag('True if a file may follow too.'),
})

export type CompleteDocument = DocumentOf<typeof COMPLETE_DOCUMENT>

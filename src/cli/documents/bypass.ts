import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { optionalText, task, text } from './parts.ts'

/** `postflight bypass --json`. */
export const BYPASS_DOCUMENT = z.strictObject({
  bypassed: z.array(
    z.strictObject({
      task,
      path: text("The marker's path, relative to the root."),
      marker_id: optionalText("The marker's id."),
    }),
  ),
})

export type BypassDocument = DocumentOf<typeof BYPASS_DOCUMENT>

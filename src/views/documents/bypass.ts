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
  stopped: z.array(
    z.strictObject({
      task,
      path: text('The task folder of a workflow that was stopped, relative to the root.'),
      resume: text('The command that continues it.'),
    }),
  ),
})

export type BypassDocument = DocumentOf<typeof BYPASS_DOCUMENT>

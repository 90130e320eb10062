import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, optionalText, task, text } from './parts.ts'

/** `postflight clear --json`. */
export const CLEAR_DOCUMENT = z.strictObject({
  root: optionalText('The folder that holds specs/; null where there is none.'),
  dry_run: flag('True if nothing was removed: these files would be.'),
  cleared: z.array(
    z.strictObject({
      task,
      path: text("The task folder's absolute path."),
      marker_id: optionalText('The id of the marker that was removed.'),
      steps_left: z.array(text('Name of a step of its checklist that was not ticked.')),
      files: z.array(text('Name of a file in it that was removed.')),
    }),
  ),
})

export type ClearDocument = DocumentOf<typeof CLEAR_DOCUMENT>

import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { count, optionalText, task, text } from './parts.ts'

/** `postflight wait --json`. */
export const WAIT_DOCUMENT = z.strictObject({
  id: optionalText("The marker's id; the run's if only a run waits."),
  path: text("The absolute path of the marker, or of the run's state."),
  task,
  for: text('What the agent waits for.'),
  count: count('The number of prompts at which the marker has waited, this one included.'),
})

export type WaitDocument = DocumentOf<typeof WAIT_DOCUMENT>

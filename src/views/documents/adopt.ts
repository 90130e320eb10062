import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, optionalText, task, text } from './parts.ts'

/** `postflight adopt --json`. */
export const ADOPT_DOCUMENT = z.strictObject({
  id: text("The marker's id."),
  path: text("The marker's absolute path."),
  task,
  revived: flag('True if it was abandoned; it is a new marker now.'),
  owner: z.strictObject({
    host_session: text("The host's id of the conversation."),
    agent: optionalText('"main" or the id of a sub-agent; null: not known.'),
  }),
  dropped_checks: z.array(text('A check that the marker had, which was not written by this session.')),
})

export type AdoptDocument = DocumentOf<typeof ADOPT_DOCUMENT>

import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, owner, task, text } from './parts.ts'

/** `postflight create --json`. */
export const CREATE_DOCUMENT = z.strictObject({
  id: text("The promise's id."),
  path: text("The marker's absolute path."),
  task,
  renewed: flag('The same promise was pending already: its id and its count go on.'),
  replaced: z.nullable(z.union([z.string(), z.literal(true)])).register(z.globalRegistry, {
    description: 'The id of the marker that was replaced; true where that had none; null where none was.',
  }),
  owner,
})

export type CreateDocument = DocumentOf<typeof CREATE_DOCUMENT>

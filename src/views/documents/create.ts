import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, owner, task, text } from './parts.ts'

/** `postflight create --json`. */
export const CREATE_DOCUMENT = z.strictObject({
  id: text("The marker's id."),
  path: text("The marker's absolute path."),
  task,
  renewed: flag('True if the same marker was pending already; it keeps its id and its count.'),
  replaced: z.nullable(z.union([z.string(), z.literal(true)])).register(z.globalRegistry, {
    description: 'The id of the replaced marker; true if that had no id; null if no marker was replaced.',
  }),
  dropped_steps: z.array(text('Name of a ticked step of the previous marker that is not ticked in this one.')),
  kept_unchecked: flag('True if a marker with checks was replaced, which is kept as abandoned.'),
  owner,
})

export type CreateDocument = DocumentOf<typeof CREATE_DOCUMENT>

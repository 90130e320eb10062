import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { text } from './parts.ts'

/** A field of our own lines. A line that another program wrote may hold anything in it. */
const field = (description: string) => z.optional(z.unknown().register(z.globalRegistry, { description }))

/** A line of the journal, as it is in the file. With `--follow`, each line is a document of its own. */
export const JOURNAL_ENTRY_DOCUMENT = z.looseObject({
  time: field('When it was written (ISO 8601).'),
  event: text('What happened.'),
  outcome: field('How the marker ended.'),
  marker_id: field("The marker's id."),
  replaces: field('The id of the marker that it replaces.'),
  keeps: field('The id of the marker that is kept as abandoned, because its checks were not run.'),
  settles: field('The ids of the abandoned markers that were removed (clear, adopt).'),
  task: field('Name of the task folder.'),
  host_session: field("The host's id of the conversation."),
  agent: field('"main" or the id of a sub-agent.'),
  count: field('The number of blocked stops, this one included.'),
  checks: field('The commands of its checks: those that it has (create), or those that passed (clear).'),
  detail: field('Details in words.'),
})

/** `postflight logs --json`. */
export const LOGS_DOCUMENT = z.strictObject({ entries: z.array(JOURNAL_ENTRY_DOCUMENT) })

export type LogsDocument = DocumentOf<typeof LOGS_DOCUMENT>

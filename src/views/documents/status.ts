import * as z from 'zod/mini'
import { STATUS_KINDS, type StatusKind } from '../status-messages.ts'
import type { DocumentOf } from './document.ts'
import { count, flag, optionalText, task, text } from './parts.ts'

const item = z.strictObject({
  kind: z.enum(Object.keys(STATUS_KINDS) as StatusKind[]),
  task: z.nullable(task),
  path: text('The file or folder, relative to the root.'),
  host_session: optionalText("The host's id of the conversation that it belongs to."),
  message: text('The unfinished thing, in one line.'),
  sentence: text('The same as a sentence, as --github prints it.'),
  fix: optionalText('What to do about it.'),
})

/** `postflight status --json`. */
export const PROJECT_STATUS_DOCUMENT = z.strictObject({
  root: optionalText('The folder that holds specs/; null if there is none.'),
  clean: flag('True if nothing is pending, abandoned or unfinished. With --exit-code, the exit code is 1 if not.'),
  cleared: count(
    'The number of markers that were cleared, by the journal: those of --session, or those of the last 24 hours.',
  ),
  checks_passed: z.array(text('A check that passed for one of them.')),
  completed: count('The number of workflows that were completed without skips.'),
  items: z.array(item),
  ended: z.array(item).register(z.globalRegistry, {
    description: 'The runs that a person aborted, and has not settled. They do not count.',
  }),
})

export type ProjectStatusDocument = DocumentOf<typeof PROJECT_STATUS_DOCUMENT>

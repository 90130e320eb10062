import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, text } from './parts.ts'

/** `postflight init --json`. */
export const INIT_DOCUMENT = z.strictObject({
  scope: text('The scope of the settings: project, local or user.'),
  changed: flag('False if nothing had to change.'),
  dry_run: flag('True if nothing was written: this is what would be written.'),
  backups: z.array(text('The backup of a file.')),
  warnings: z.array(text('What keeps the guard from working, here or on another machine.')),
  parts: z.array(
    z.strictObject({
      name: z.enum(['hook', 'shell-hook', 'permissions', 'gitignore', 'skill']),
      file: text('The file that the part is in.'),
      state: z.enum(['written', 'planned', 'declined', 'done', 'kept', 'needless', 'outside']),
    }),
  ),
})

export type InitDocument = DocumentOf<typeof INIT_DOCUMENT>

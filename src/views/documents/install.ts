import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, optionalText, text } from './parts.ts'

const common = {
  file: text('The settings file.'),
  changed: flag('False if nothing had to change.'),
  dry_run: flag('True if nothing was written: this is what would be written.'),
}

const takenOutOf = z.array(text('Another file, from which our entries were removed.'))

const installed = z.strictObject({
  ...common,
  backup: optionalText('The backup of the file.'),
  portable: flag('False if the entry holds a path on this machine.'),
  taken_out_of: takenOutOf,
})

/** `postflight install --json`. */
export const INSTALL_DOCUMENT = z.union([
  z.extend(installed, { command: text('The command that the host starts.') }),
  z.extend(installed, { plugin: text('Where the host finds the plugin.') }),
  z.extend(installed, {
    rules: text('The file of the reactive rules.'),
    notes: z.array(text('A part of a rule that a hook of Claude Code cannot have.')),
  }),
])

export type InstallDocument = DocumentOf<typeof INSTALL_DOCUMENT>

/** `postflight uninstall --json`. */
export const UNINSTALL_DOCUMENT = z.strictObject({
  ...common,
  removed_file: flag('True if the file was removed because it held nothing else.'),
  taken_out_of: takenOutOf,
})

export type UninstallDocument = DocumentOf<typeof UNINSTALL_DOCUMENT>

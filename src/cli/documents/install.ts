import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, optionalText, text } from './parts.ts'

const common = {
  file: text('The settings file.'),
  changed: flag('False where everything was so already.'),
  dry_run: flag('Nothing was written: this is what would be.'),
}

const takenOutOf = z.array(text('Another file that held entries of ours.'))

const installed = z.strictObject({
  ...common,
  backup: optionalText('The copy of the former file.'),
  portable: flag('False where the entry holds a path of this machine.'),
  taken_out_of: takenOutOf,
})

/** `postflight install --json`. */
export const INSTALL_DOCUMENT = z.union([
  z.extend(installed, { command: text('The command that the host starts.') }),
  z.extend(installed, { plugin: text('Where the host finds the plugin.') }),
])

export type InstallDocument = DocumentOf<typeof INSTALL_DOCUMENT>

/** `postflight uninstall --json`. */
export const UNINSTALL_DOCUMENT = z.strictObject({
  ...common,
  removed_file: flag('The file held nothing else, so it was removed.'),
  taken_out_of: takenOutOf,
})

export type UninstallDocument = DocumentOf<typeof UNINSTALL_DOCUMENT>

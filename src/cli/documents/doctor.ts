import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, optionalText, text } from './parts.ts'

/** `postflight doctor --json`. */
export const DOCTOR_DOCUMENT = z.strictObject({
  root: optionalText('The folder that holds specs/; null where there is none.'),
  findings: z.array(
    z.strictObject({
      check: z.enum(['settings', 'hook', 'plugin', 'root', 'marker', 'workflow']),
      ok: flag('False where something is wrong.'),
      what: text('What was found.'),
      fix: optionalText('What mends it: a command, or what to do by hand.'),
    }),
  ),
})

export type DoctorDocument = DocumentOf<typeof DOCTOR_DOCUMENT>

import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { flag, optionalText, text } from './parts.ts'

/** `postflight doctor --json`. */
export const DOCTOR_DOCUMENT = z.strictObject({
  root: optionalText('The folder that holds specs/; null if there is none.'),
  findings: z.array(
    z.strictObject({
      check: z.enum(['settings', 'hook', 'plugin', 'cli', 'root', 'git', 'marker', 'workflow']),
      ok: flag('False for a problem.'),
      what: text('The finding.'),
      fix: optionalText('How to fix it: a command, or what to do by hand.'),
    }),
  ),
})

export type DoctorDocument = DocumentOf<typeof DOCTOR_DOCUMENT>

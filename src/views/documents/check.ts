import * as z from 'zod/mini'
import { count, optionalCount, optionalText, text } from './parts.ts'

/** A check that was run and failed. */
export const failedCheck = z.strictObject({
  run: text('The shell command.'),
  exit_code: optionalCount('Its exit code; null if it was killed.'),
  signal: optionalText('The signal that killed or interrupted it.'),
  timed_out: z.boolean(),
  duration_ms: count('How long it ran.'),
  output: text('The end of its output.'),
})

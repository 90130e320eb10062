import { stripControl } from '../../kernel/text.ts'
import { CHECK_TEXT } from '../../marker/check-messages.ts'
import type { failedOf } from '../../marker/run-checks.ts'
import type { ClearDocument } from '../../views/documents/clear.ts'

/** How `clear` and `step` show a check that failed. */

type FailedCheck = NonNullable<ClearDocument['kept'][number]['failed']>

/** A failed check for `--json`. */
export function failedCheckData(failed: NonNullable<ReturnType<typeof failedOf>>): FailedCheck {
  const { failure, run, durationMs, output } = failed
  return {
    run,
    exit_code: failure.kind === 'exited' ? failure.exitCode : null,
    signal: failure.kind === 'killed' ? failure.signal : failure.kind === 'interrupted' ? failure.by : null,
    timed_out: failure.kind === 'timed-out',
    duration_ms: durationMs,
    output: stripControl(output),
  }
}

/** The lines of a failed check below a first one. */
export function failedCheckLines(first: string, output: string): string[] {
  return [first, ...CHECK_TEXT.output(output)]
}

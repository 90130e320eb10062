import * as z from 'zod/mini'
import { stripControl } from '../../kernel/text.ts'
import { CHECK_TEXT } from '../../marker/check-messages.ts'
import type { failedOf } from '../../marker/run-checks.ts'
import type { DocumentOf } from '../../views/documents.ts'
import * as field from '../../views/documents.ts'

/** What `clear` prints with `--json`, and how it and `step` show a check that failed. */

/** `postflight clear --json`. */
export const clearDocument = () =>
  z.strictObject({
    root: field.optionalText('The folder that holds specs/; null if there is none.'),
    dry_run: field.flag('True if nothing was removed: these files would have been.'),
    cleared: z.array(
      z.strictObject({
        task: field.task,
        path: field.text("The task folder's absolute path."),
        marker_id: field.optionalText('The id of the marker that was removed.'),
        steps_left: z.array(field.text('Name of a step of its checklist that was not ticked.')),
        files: z.array(field.text('Name of a file in it that was removed.')),
        checks: z.array(
          z.strictObject({
            run: field.text('A check that passed before.'),
            duration_ms: field.count('How long it ran.'),
          }),
        ),
        unchecked: field.flag('True if its checks were not run, so that its marker is kept as abandoned.'),
      }),
    ),
    kept: z.array(
      z.strictObject({
        task: field.task,
        path: field.text("The task folder's absolute path."),
        marker_id: field.optionalText('The id of the marker that stays.'),
        why: z.enum(['failed', 'running', 'other-session', 'unowned', 'replaced', 'unreadable', 'removed']),
        message: field.text('The reason in words.'),
        checks: z.array(field.text('A check that must pass first.')),
        failed: z.nullable(field.failedCheck).register(z.globalRegistry, { description: 'The check that failed.' }),
      }),
    ),
    settled: z.array(
      z.strictObject({
        task: field.task,
        path: field.text('The task folder of an ended run that status no longer lists, relative to the root.'),
        outcome: field.text('Its outcome.'),
        resume: field.optionalText('The command that continues it; null if it cannot be resumed.'),
      }),
    ),
    running: z.array(
      z.strictObject({
        task: field.task,
        path: field.text('With --all: the task folder of a workflow that goes on, relative to the root.'),
        stop: field.text('The command that stops it.'),
      }),
    ),
  })

export type ClearDocument = DocumentOf<typeof clearDocument>

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

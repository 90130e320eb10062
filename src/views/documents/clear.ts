import * as z from 'zod/mini'
import { failedCheck } from './check.ts'
import type { DocumentOf } from './document.ts'
import { count, flag, optionalText, task, text } from './parts.ts'

/** `postflight clear --json`. */
export const CLEAR_DOCUMENT = z.strictObject({
  root: optionalText('The folder that holds specs/; null if there is none.'),
  dry_run: flag('True if nothing was removed: these files would have been.'),
  cleared: z.array(
    z.strictObject({
      task,
      path: text("The task folder's absolute path."),
      marker_id: optionalText('The id of the marker that was removed.'),
      steps_left: z.array(text('Name of a step of its checklist that was not ticked.')),
      files: z.array(text('Name of a file in it that was removed.')),
      checks: z.array(
        z.strictObject({ run: text('A check that passed before.'), duration_ms: count('How long it ran.') }),
      ),
      unchecked: flag('True if its checks were not run, so that its marker is kept as abandoned.'),
    }),
  ),
  kept: z.array(
    z.strictObject({
      task,
      path: text("The task folder's absolute path."),
      marker_id: optionalText('The id of the marker that stays.'),
      why: z.enum(['failed', 'running', 'other-session', 'unowned', 'replaced', 'unreadable', 'removed']),
      message: text('The reason in words.'),
      checks: z.array(text('A check that must pass first.')),
      failed: z.nullable(failedCheck).register(z.globalRegistry, { description: 'The check that failed.' }),
    }),
  ),
  settled: z.array(
    z.strictObject({
      task,
      path: text('The task folder of an ended run that status no longer lists, relative to the root.'),
      outcome: text('Its outcome.'),
      resume: optionalText('The command that continues it; null if it cannot be resumed.'),
    }),
  ),
  running: z.array(
    z.strictObject({
      task,
      path: text('With --all: the task folder of a workflow that goes on, relative to the root.'),
      stop: text('The command that stops it.'),
    }),
  ),
})

export type ClearDocument = DocumentOf<typeof CLEAR_DOCUMENT>

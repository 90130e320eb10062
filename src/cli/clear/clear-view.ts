import * as z from 'zod/mini'
import { inLine, oneLine, quote, quotedNames, stripControl } from '../../kernel/text.ts'
import { CHECK_TEXT } from '../../marker/check-messages.ts'
import type { failedOf } from '../../marker/run-checks.ts'
import * as field from '../../views/documents.ts'

/** Also how `step` shows a check that failed. */

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

export type ClearDocument = field.DocumentOf<typeof clearDocument>

type FailedCheck = NonNullable<ClearDocument['kept'][number]['failed']>

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

export function failedCheckLines(first: string, output: string): string[] {
  return [first, ...CHECK_TEXT.output(output)]
}

const LOST = {
  removed: 'was removed by hand',
  abandoned: 'was given up',
  unchecked: 'ended without its checks',
} as const

export const CLEAR_TEXT = {
  nothing: 'nothing to clear',
  noSpecs: 'nothing to clear: no specs/ folder here',
  noFolder: (task: string, root: string): string => inLine(`nothing to clear: no folder for task ${task} in ${root}`),
  cleared: (path: string, files: readonly string[], notes: readonly string[], isDryRun: boolean): string =>
    `${isDryRun ? 'would clear' : 'cleared'} ${path}: ${files.join(', ')}${notes.map((note) => ` (${note})`).join('')}`,
  leftSteps: (names: readonly string[]): string => `not ticked: ${quotedNames(names)}`,
  keptTexts: (names: readonly string[], isDryRun: boolean): string =>
    `its text does not parse and ${isDryRun ? 'would be' : 'is'} kept as ${names.join(', ')}`,
  ofOtherSession: (session: string): string => `it belonged to session ${oneLine(session, 80)}`,
  settled: (path: string, kind: keyof typeof LOST, isDryRun: boolean): string =>
    `${isDryRun ? 'would settle' : 'settled'} ${inLine(path)}: its marker ${LOST[kind]}, and its file is gone`,
  settledRun: (path: string, name: string, outcome: string, resume: string | null, isDryRun: boolean): string =>
    `${isDryRun ? 'would settle' : 'settled'} ${inLine(path)}: status no longer lists its workflow "${quote(name, 80)}" (${outcome})${resume === null ? '' : `; to continue it: ${resume}`}`,
  ownRun: (path: string, name: string, outcome: string, clear: string): string =>
    `${inLine(path)}: status still lists its workflow "${quote(name, 80)}" (${outcome}), because the session that ran it cannot settle it. In a terminal: ${clear}`,
  runGoesOn: (path: string, stop: string): string => `${path}: the workflow goes on; to stop it: ${stop}`,
  notCleared: (path: string, detail: string): string =>
    `postflight: ${path} cannot be read (${detail}), so it was not cleared`,
} as const

export const CLEAR_DETAILS = {
  noMarker: 'no marker was pending',
  abandonedCleared: 'the abandoned marker was cleared',
  fileGone: 'its file was gone',
  settledRun: (name: string, outcome: string): string => `settled the workflow "${quote(name, 80)}" (${outcome})`,
  leftSteps: (names: readonly string[]): string => `steps not ticked: ${quotedNames(names)}`,
} as const

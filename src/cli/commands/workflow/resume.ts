import { DRIVER_TEXT } from '../../../core/messages/runs.ts'
import { resumeRun } from '../../../io/workflow/run.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { ResumeDocument } from '../../documents/workflow/resume.ts'
import type { Painter } from '../../report.ts'
import { driverLines } from '../../workflow/driver-check.ts'
import { restoreLostRun } from '../../workflow/lost-run.ts'
import { runResult } from '../../workflow/run-result.ts'
import { type RunnerOptions, runnerOf } from '../../workflow/runner.ts'

/**
 * `postflight workflow resume`: resumes a run for the session of the caller. Where that is not known, the run keeps the
 * session that it had.
 */
export function resume(
  context: CommandContext,
  paint: Painter,
  task: string,
  options: RunnerOptions,
): CommandResult<ResumeDocument> {
  const runner = runnerOf(context, options)
  restoreLostRun(context, task)
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  const { state, takenFrom } = resumeRun(folder, runner, context.nowMs)
  const { exitCode, data, lines } = runResult(context, paint, folder, state)
  return {
    exitCode,
    data: { ...data, taken_over_from: takenFrom ?? null },
    lines: [
      ...lines,
      ...(takenFrom === undefined ? [] : [`  ${DRIVER_TEXT.takenFrom(takenFrom)}`]),
      ...(state.active ? driverLines(context, folder, state, runner.hostSession) : []),
    ],
  }
}

import { DRIVER_TEXT } from '../../../core/messages/runs.ts'
import { trustedLine } from '../../../core/messages/workflow-commands.ts'
import { resumeRun } from '../../../io/workflow/run.ts'
import { requireState } from '../../../io/workflow/state-store.ts'
import { commandsOfRun, requireTrust, trustRun } from '../../../io/workflow/trust.ts'
import type { CommandContext, CommandResult } from '../../context.ts'
import type { ResumeDocument } from '../../documents/workflow/resume.ts'
import type { Painter } from '../../painter.ts'
import { driverLines } from '../../workflow/driver-check.ts'
import { restoreRunFolder } from '../../workflow/run-folder.ts'
import { runResult } from '../../workflow/run-result.ts'
import { type RunnerOptions, runnerOf, trusterOf } from '../../workflow/runner.ts'

export interface ResumeOptions extends RunnerOptions {
  /** True to trust the commands of its checks. */
  readonly trust: boolean
  /** The phase to go on with. */
  readonly from?: string
}

/**
 * `postflight workflow resume`: resumes a run for the session of the caller. If that session is unknown, the run keeps
 * its own.
 */
export function resume(
  context: CommandContext,
  paint: Painter,
  task: string,
  options: ResumeOptions,
): CommandResult<ResumeDocument> {
  const runner = runnerOf(context, options)
  const folder = restoreRunFolder(context, task)
  const truster = trusterOf(context)
  if (!options.trust) requireTrust(folder, requireState(folder), truster)
  const { state, takenFrom } = resumeRun(folder, runner, context.nowMs, options.from)
  trustRun(state, truster)
  const { exitCode, data, lines } = runResult(context, paint, folder, state)
  return {
    exitCode,
    data: { ...data, taken_over_from: takenFrom ?? null },
    lines: [
      ...lines,
      ...(options.trust ? commandsOfRun(state).map(trustedLine) : []),
      ...(takenFrom === undefined ? [] : [`  ${DRIVER_TEXT.takenFrom(takenFrom)}`]),
      ...(state.active ? driverLines(context, folder, state, runner.hostSession) : []),
    ],
  }
}

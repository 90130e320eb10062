import type { CommandContext, CommandResult } from '../../../project/command-context.ts'
import { DRIVER_TEXT } from '../../../run/run-messages.ts'
import { resumeRun } from '../../../run/store/run.ts'
import { requireState } from '../../../run/store/state-store.ts'
import { commandsOfRun, requireTrust, trustRun } from '../../../run/store/trust.ts'
import type { ResumeDocument } from '../../../views/documents/workflow/resume.ts'
import type { Painter } from '../../../views/print.ts'
import { trustedLine } from '../../../views/run-view-messages.ts'
import { driverLines } from '../../workflow/driver-check.ts'
import { requireRunFolder } from '../../workflow/run-folder.ts'
import { recordEnd, runResult } from '../../workflow/run-result.ts'
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
  const folder = requireRunFolder(context, task)
  const truster = trusterOf(context)
  if (!options.trust) requireTrust(folder, requireState(folder), truster)
  const { state, takenFrom } = resumeRun(folder, runner, context.nowMs, options.from)
  trustRun(state, truster)
  // Resuming takes in the results that are there, which may be all of them.
  recordEnd(context, folder, true, state)
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

import { STATUS_TEXT } from '../../../core/messages/workflow-commands.ts'
import { stopRun } from '../../../io/workflow/run.ts'
import { stopRunNow } from '../../../io/workflow/stop-now.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { RunDocument } from '../../documents/workflow/run.ts'
import type { Painter } from '../../report.ts'
import { refuseLostRun } from '../../workflow/lost-run.ts'
import { runResult } from '../../workflow/run-result.ts'

export interface StopOptions {
  /** True to stop it at once. */
  readonly now: boolean
}

/** `postflight workflow stop`: stops a run after the step or phase in progress, or at once. */
export function stop(
  context: CommandContext,
  paint: Painter,
  task: string,
  { now }: StopOptions,
): CommandResult<RunDocument> {
  refuseLostRun(context, task)
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  const { state, wasOver } = now ? stopRunNow(folder, context.nowMs) : stopRun(folder, context.nowMs)
  const result = runResult(context, paint, folder, state)
  return wasOver ? { ...result, lines: [...result.lines, `  ${STATUS_TEXT.wasOver(state.outcome ?? '')}`] } : result
}

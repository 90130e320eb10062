import { STATUS_TEXT } from '../../../core/messages/workflow-commands.ts'
import { stopRun } from '../../../io/workflow/run.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { RunDocument } from '../../documents/workflow/run.ts'
import type { Painter } from '../../report.ts'
import { refuseLostRun } from '../../workflow/lost-run.ts'
import { runResult } from '../../workflow/run-result.ts'

/** `postflight workflow stop`: stops a run after the step or phase in work. */
export function stop(context: CommandContext, paint: Painter, task: string): CommandResult<RunDocument> {
  refuseLostRun(context, task)
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  const { state, wasOver } = stopRun(folder, context.nowMs)
  const result = runResult(context, paint, folder, state)
  return wasOver ? { ...result, lines: [...result.lines, `  ${STATUS_TEXT.wasOver(state.outcome ?? '')}`] } : result
}

import { stopRun } from '../../../io/workflow/run.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { RunDocument } from '../../documents/workflow/run.ts'
import type { Painter } from '../../report.ts'
import { runResult } from '../../workflow/run-result.ts'

/** `postflight workflow stop`: stops a run after its current phase. */
export function stop(context: CommandContext, paint: Painter, task: string): CommandResult<RunDocument> {
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  return runResult(context, paint, folder, stopRun(folder, context.nowMs))
}

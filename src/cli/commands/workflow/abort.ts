import { abortRun } from '../../../io/workflow/run.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { RunDocument } from '../../documents/workflow/run.ts'
import type { Painter } from '../../painter.ts'
import { restoreLostRun } from '../../workflow/lost-run.ts'
import { runResult } from '../../workflow/run-result.ts'

/** `postflight workflow abort`: ends a run at once. */
export function abort(context: CommandContext, paint: Painter, task: string): CommandResult<RunDocument> {
  restoreLostRun(context, task)
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  return runResult(context, paint, folder, abortRun(folder, context.nowMs))
}

import { abortRun } from '../../../io/workflow/run.ts'
import type { CommandContext, CommandResult } from '../../context.ts'
import type { RunDocument } from '../../documents/workflow/run.ts'
import type { Painter } from '../../painter.ts'
import { restoreRunFolder } from '../../workflow/run-folder.ts'
import { runResult } from '../../workflow/run-result.ts'

/** `postflight workflow abort`: ends a run at once. */
export function abort(context: CommandContext, paint: Painter, task: string): CommandResult<RunDocument> {
  const folder = restoreRunFolder(context, task)
  return runResult(context, paint, folder, abortRun(folder, context.nowMs))
}

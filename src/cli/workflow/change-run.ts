import type { TaskFolder } from '../../core/task-folder.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../context.ts'
import type { RunDocument } from '../documents/workflow/run.ts'
import type { Painter } from '../painter.ts'
import { refuseLostRun } from './lost-run.ts'
import { runResult } from './run-result.ts'

/** Changes the run of a task, and returns how it stands then. @throws {PostflightError} where the task has no run. */
export function changeRun(
  context: CommandContext,
  paint: Painter,
  task: string,
  change: (folder: TaskFolder) => WorkflowState,
): CommandResult<RunDocument> {
  refuseLostRun(context, task)
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  return runResult(context, paint, folder, change(folder))
}

import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { requireState } from '../../run/store/state-store.ts'
import type { RunDocument } from '../../views/documents/workflow/run.ts'
import type { Painter } from '../../views/print.ts'
import { requireRunFolder } from './run-folder.ts'
import { recordEnd, runResult } from './run-result.ts'

/**
 * Changes the run of a task, and returns how it stands then. `furtherLines` makes lines below those of the run.
 *
 * @throws {PostflightError} where the task has no run.
 */
export function changeRun(
  context: CommandContext,
  paint: Painter,
  task: string,
  change: (folder: TaskFolder) => WorkflowState,
  furtherLines: (folder: TaskFolder, state: WorkflowState) => readonly string[] = () => [],
): CommandResult<RunDocument> {
  const folder = requireRunFolder(context, task)
  const { active } = requireState(folder)
  const state = change(folder)
  recordEnd(context, folder, active, state)
  const result = runResult(context, paint, folder, state)
  return { ...result, lines: [...result.lines, ...furtherLines(folder, state)] }
}

import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import type { RunDocument } from '../../views/documents/workflow/run.ts'
import type { Painter } from '../../views/painter.ts'
import { runData, runLines } from '../../views/run-view.ts'

/** The result of a command that changed a run: how the run stands now. */
export function runResult(
  context: CommandContext,
  paint: Painter,
  folder: TaskFolder,
  state: WorkflowState,
): CommandResult<RunDocument> {
  return {
    exitCode: 0,
    data: runData(folder, state, context.nowMs),
    lines: runLines(folder, state, context.nowMs, paint),
  }
}

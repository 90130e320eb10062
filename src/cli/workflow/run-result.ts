import type { TaskFolder } from '../../core/task-folder.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import type { CommandContext, CommandResult } from '../context.ts'
import type { RunDocument } from '../documents/workflow/run.ts'
import type { Painter } from '../painter.ts'
import { runData, runLines } from './view.ts'

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

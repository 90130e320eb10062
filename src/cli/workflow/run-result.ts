import { type CommandContext, type CommandResult, recordInJournal } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { endEntry } from '../../run/drive.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import type { RunDocument } from '../../views/documents/workflow/run.ts'
import type { Painter } from '../../views/print.ts'
import { runData, runLines } from '../../views/run-view.ts'

/** Writes the end of a run to the journal, if the command ended it. `wasActive`: the run before the command. */
export function recordEnd(
  context: CommandContext,
  { root, task }: TaskFolder,
  wasActive: boolean,
  state: WorkflowState,
): void {
  if (wasActive && !state.active) recordInJournal(context, root, [endEntry(task, state)])
}

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

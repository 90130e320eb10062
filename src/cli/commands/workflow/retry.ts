import type { TaskFolder } from '../../../core/task-folder.ts'
import type { WorkflowState } from '../../../core/workflow/state.ts'
import { retryRunStep, skipRunStep } from '../../../io/workflow/steer.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { RunDocument } from '../../documents/workflow/run.ts'
import type { Painter } from '../../report.ts'
import { refuseLostRun } from '../../workflow/lost-run.ts'
import { runResult } from '../../workflow/run-result.ts'

export interface RunStepOptions {
  /** From 1. */
  readonly step: number
}

/** `postflight workflow retry`: gives a step of the current phase, that was given up, its attempts once more. */
export function retry(
  context: CommandContext,
  paint: Painter,
  task: string,
  { step }: RunStepOptions,
): CommandResult<RunDocument> {
  return steer(context, paint, task, (folder) => retryRunStep(folder, step, context.nowMs))
}

/** `postflight workflow skip`: gives a step of the current phase up. */
export function skip(
  context: CommandContext,
  paint: Painter,
  task: string,
  { step }: RunStepOptions,
): CommandResult<RunDocument> {
  return steer(context, paint, task, (folder) => skipRunStep(folder, step, context.nowMs))
}

function steer(
  context: CommandContext,
  paint: Painter,
  task: string,
  change: (folder: TaskFolder) => WorkflowState,
): CommandResult<RunDocument> {
  refuseLostRun(context, task)
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  return runResult(context, paint, folder, change(folder))
}

import type { CommandContext, CommandResult } from '../../../project/command-context.ts'
import { retryRunStep, skipRunStep } from '../../../run/store/run.ts'
import type { RunDocument } from '../../../views/documents/workflow/run.ts'
import type { Painter } from '../../../views/print.ts'
import { changeRun } from '../../workflow/change-run.ts'

export interface RunStepOptions {
  /** From 1. */
  readonly step: number
}

/** `postflight workflow retry`: tries a step of the current phase again that was given up, with all its attempts. */
export function retry(
  context: CommandContext,
  paint: Painter,
  task: string,
  { step }: RunStepOptions,
): CommandResult<RunDocument> {
  return changeRun(context, paint, task, (folder) => retryRunStep(folder, step, context.nowMs))
}

/** `postflight workflow skip`: gives up a step of the current phase. */
export function skip(
  context: CommandContext,
  paint: Painter,
  task: string,
  { step }: RunStepOptions,
): CommandResult<RunDocument> {
  return changeRun(context, paint, task, (folder) => skipRunStep(folder, step, context.nowMs))
}

import type { CommandContext, CommandResult } from '../../../project/command-context.ts'
import { STATUS_TEXT } from '../../../run/run-messages.ts'
import { stopRun, stopRunNow } from '../../../run/store/run.ts'
import type { RunDocument } from '../../../views/documents/workflow/run.ts'
import type { Painter } from '../../../views/print.ts'
import { requireRunFolder } from '../../workflow/run-folder.ts'
import { recordEnd, runResult } from '../../workflow/run-result.ts'

export interface StopOptions {
  /** True to stop it at once. */
  readonly now: boolean
}

/** `postflight workflow stop`: sends no further prompt of a run, or stops it at once. */
export function stop(
  context: CommandContext,
  paint: Painter,
  task: string,
  { now }: StopOptions,
): CommandResult<RunDocument> {
  const folder = requireRunFolder(context, task)
  const { state, wasOver } = now ? stopRunNow(folder, context.nowMs) : stopRun(folder, context.nowMs)
  recordEnd(context, folder, !wasOver, state)
  const result = runResult(context, paint, folder, state)
  return wasOver ? { ...result, lines: [...result.lines, `  ${STATUS_TEXT.wasOver(state.outcome ?? '')}`] } : result
}

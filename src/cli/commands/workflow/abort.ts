import type { CommandContext, CommandResult } from '../../../project/command-context.ts'
import { abortRun } from '../../../run/store/run.ts'
import { requireState } from '../../../run/store/state-store.ts'
import type { RunDocument } from '../../../views/documents/workflow/run.ts'
import type { Painter } from '../../../views/print.ts'
import { requireRunFolder } from '../../workflow/run-folder.ts'
import { recordEnd, runResult } from '../../workflow/run-result.ts'

/** `postflight workflow abort`: ends a run at once. */
export function abort(context: CommandContext, paint: Painter, task: string): CommandResult<RunDocument> {
  const folder = requireRunFolder(context, task)
  const { active } = requireState(folder)
  const state = abortRun(folder, context.nowMs)
  recordEnd(context, folder, active, state)
  return runResult(context, paint, folder, state)
}

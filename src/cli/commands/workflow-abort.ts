import { abortRun } from '../../run/store/run.ts'
import { requireState } from '../../run/store/state-store.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type BareCommand, type Declaration, example, type Run, TASK } from '../command.ts'
import { recordEnd, requireRunFolder, runResult } from '../runs.ts'
import { publishChange } from '../workflow/publish-change.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('end a run at once, for good')
      .argument(...TASK)
      .addHelpText('after', example('workflow abort 259')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = async (context, [task], _options, { paint }) => {
  const folder = requireRunFolder(context, task)
  const { active } = requireState(folder)
  const state = abortRun(folder, context.nowMs)
  recordEnd(context, folder, active, state)
  await publishChange(context, folder)
  return runResult(context, paint, folder, state)
}

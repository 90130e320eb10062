import { requireState } from '../../run/store/state-store.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type BareCommand, type Declaration, example, type Run, TASK } from '../command.ts'
import { recordEnd, requireRunFolder, runResult } from '../runs.ts'
import { machineOf, withRemote } from '../workflow/publish-change.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('publish a shared run a last time and end it here: anyone may go on with it')
      .argument(...TASK)
      .addHelpText('after', example('workflow release 259')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = async (context, [task], _options, { paint }) => {
  const folder = requireRunFolder(context, task)
  const { active } = requireState(folder)
  const { releaseRun } = await import('../../run/shared/publish-run.ts')
  const state = await withRemote(context, () => releaseRun(folder, machineOf(context)))
  recordEnd(context, folder, active, state)
  return runResult(context, paint, folder, state)
}

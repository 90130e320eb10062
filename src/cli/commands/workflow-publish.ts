import { requireState } from '../../run/store/state-store.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type BareCommand, type Declaration, example, type Run, TASK } from '../command.ts'
import { requireRunFolder, runResult } from '../runs.ts'
import { publishNow } from '../workflow/publish-change.ts'

/** For the end of a CI job. */

export const declaration = {
  free: true,
  declare: (command: BareCommand) =>
    command
      .description('publish what a shared run has by now (for the end of a CI job)')
      .argument(...TASK)
      .addHelpText('after', example('workflow publish 259')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = async (context, [task], _options, { paint }) => {
  const folder = requireRunFolder(context, task)
  await publishNow(context, folder)
  return runResult(context, paint, folder, requireState(folder))
}

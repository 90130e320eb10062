import { requireState } from '../../run/store/state-store.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type BareCommand, type Declaration, example, REMOTE, type Run, TASK } from '../command.ts'
import { requireRunFolder, runResult } from '../runs.ts'
import { publishNow } from '../workflow/publish-change.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('publish a run to a git remote, so that another machine can go on with it')
      .argument(...TASK)
      .argument('[remote]', REMOTE)
      .addHelpText('after', example('workflow share 259', 'workflow share 259 upstream')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = async (
  context,
  [task, remote = 'origin'],
  _options,
  { paint },
) => {
  const folder = requireRunFolder(context, task)
  const lines = await publishNow(context, folder, remote)
  const result = runResult(context, paint, folder, requireState(folder))
  return { ...result, lines: [...result.lines, ...lines] }
}

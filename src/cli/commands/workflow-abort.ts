import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import { abortRun } from '../../run/store/run.ts'
import { requireState } from '../../run/store/state-store.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type ArgumentsOf, type BareCommand, type Declaration, example, type Surroundings, TASK } from '../command.ts'
import { recordEnd, requireRunFolder, runResult } from '../runs.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('end a run at once, for good')
      .argument(...TASK)
      .addHelpText('after', example('workflow abort 259')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

/** `postflight workflow abort`: ends a run at once. */
export function run(
  context: CommandContext,
  [task]: ArgumentsOf<typeof declaration>,
  _options: unknown,
  { paint }: Surroundings,
): CommandResult<RunDocument> {
  const folder = requireRunFolder(context, task)
  const { active } = requireState(folder)
  const state = abortRun(folder, context.nowMs)
  recordEnd(context, folder, active, state)
  return runResult(context, paint, folder, state)
}

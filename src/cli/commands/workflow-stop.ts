import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import { STATUS_TEXT } from '../../run/run-messages.ts'
import { stopRun, stopRunNow } from '../../run/store/run.ts'
import type { RunDocument } from '../../views/run-view.ts'
import {
  type ArgumentsOf,
  type BareCommand,
  type Declaration,
  example,
  type OptionsOf,
  type Surroundings,
  TASK,
} from '../command.ts'
import { recordEnd, requireRunFolder, runResult } from '../runs.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('stop a run: no further prompt; it ends when its agent ends its turn. resume continues it')
      .argument(...TASK)
      .option('--now', 'stop it immediately; a result that the last prompt still produces counts after `resume`', false)
      .addHelpText('after', example('workflow stop 259', 'workflow stop 259 --now')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

type StopOptions = OptionsOf<typeof declaration>

/** `postflight workflow stop`: sends no further prompt of a run, or stops it at once. */
export function run(
  context: CommandContext,
  [task]: ArgumentsOf<typeof declaration>,
  { now }: StopOptions,
  { paint }: Surroundings,
): CommandResult<RunDocument> {
  const folder = requireRunFolder(context, task)
  const { state, wasOver } = now ? stopRunNow(folder, context.nowMs) : stopRun(folder, context.nowMs)
  recordEnd(context, folder, !wasOver, state)
  const result = runResult(context, paint, folder, state)
  return wasOver ? { ...result, lines: [...result.lines, `  ${STATUS_TEXT.wasOver(state.outcome ?? '')}`] } : result
}

import { STATUS_TEXT } from '../../run/run-messages.ts'
import { stopRun, stopRunNow } from '../../run/store/run.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type BareCommand, type Declaration, example, type Run, TASK } from '../command.ts'
import { recordEnd, requireRunFolder, runResult } from '../runs.ts'
import { publishChange } from '../workflow/publish-change.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('stop a run: no further prompt; it ends when its agent ends its turn. resume continues it')
      .argument(...TASK)
      .option('--now', 'stop it immediately; a result that the last prompt still produces counts after `resume`', false)
      .addHelpText('after', example('workflow stop 259', 'workflow stop 259 --now')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = async (context, [task], { now }, { paint }) => {
  const folder = requireRunFolder(context, task)
  const { state, wasOver } = now ? stopRunNow(folder, context.nowMs) : stopRun(folder, context.nowMs)
  recordEnd(context, folder, !wasOver, state)
  await publishChange(context, folder)
  const result = runResult(context, paint, folder, state)
  return wasOver ? { ...result, lines: [...result.lines, `  ${STATUS_TEXT.wasOver(state.outcome ?? '')}`] } : result
}

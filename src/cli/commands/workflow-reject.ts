import { rejectRun } from '../../run/store/run.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { APPROVAL_NOTE, type BareCommand, type Declaration, example, type Run, TASK } from '../command.ts'
import { checkOneLine } from '../option-values.ts'
import { decide } from './workflow-approve.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('reject the result of a phase: the agent is asked for another one')
      .argument(...TASK)
      .requiredOption('--reason <text>', 'why; it is part of the next prompt')
      .addHelpText('after', example('workflow reject 259 --reason "step 3 lacks a test"'))
      .addHelpText('after', APPROVAL_NOTE),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = (context, [task], { reason }, { paint }) => {
  checkOneLine([['--reason', reason]])
  return decide(context, paint, task, (folder) => rejectRun(folder, reason, context.nowMs))
}

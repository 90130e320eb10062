import { retryRunStep } from '../../run/store/run.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type BareCommand, type Declaration, example, type Run, STEP_NUMBER, TASK } from '../command.ts'
import { changeRun } from '../runs.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('try a step again that was given up, with all its attempts')
      .argument(...TASK)
      .requiredOption(...STEP_NUMBER)
      .addHelpText('after', example('workflow retry 259 --step 3')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = (context, [task], { step }, { paint }) =>
  changeRun(context, paint, task, (folder) => retryRunStep(folder, step, context.nowMs))

import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import { skipRunStep } from '../../run/store/run.ts'
import type { RunDocument } from '../../views/run-view.ts'
import {
  type ArgumentsOf,
  type BareCommand,
  type Declaration,
  example,
  type OptionsOf,
  STEP_NUMBER,
  type Surroundings,
  TASK,
} from '../command.ts'
import { changeRun } from '../runs.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('give up a step, and go on without it')
      .argument(...TASK)
      .requiredOption(...STEP_NUMBER)
      .addHelpText('after', example('workflow skip 259 --step 3')),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

type RunStepOptions = OptionsOf<typeof declaration>

/** `postflight workflow skip`: gives up a step of the current phase. */
export function run(
  context: CommandContext,
  [task]: ArgumentsOf<typeof declaration>,
  { step }: RunStepOptions,
  { paint }: Surroundings,
): CommandResult<RunDocument> {
  return changeRun(context, paint, task, (folder) => skipRunStep(folder, step, context.nowMs))
}

import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import { rejectRun } from '../../run/store/run.ts'
import type { RunDocument } from '../../views/run-view.ts'
import {
  APPROVAL_NOTE,
  type ArgumentsOf,
  type BareCommand,
  type Declaration,
  example,
  type OptionsOf,
  type Surroundings,
  TASK,
} from '../command.ts'
import { checkOneLine } from '../option-values.ts'
import { decide } from './workflow-approve.ts'

/** `postflight workflow reject`: a person rejects the artifact that a run waits for, and the agent is asked for another one. */

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

export function run(
  context: CommandContext,
  [task]: ArgumentsOf<typeof declaration>,
  { reason }: OptionsOf<typeof declaration>,
  { paint }: Surroundings,
): CommandResult<RunDocument> {
  checkOneLine([['--reason', reason]])
  return decide(context, paint, task, (folder) => rejectRun(folder, reason, context.nowMs))
}

import { isAgentShell } from '../../hosts/all-hosts.ts'
import { PostflightError } from '../../kernel/errors.ts'
import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { approveRun } from '../../run/store/run.ts'
import type { Painter } from '../../views/print.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { APPROVAL_NOTE, type BareCommand, type Declaration, example, type Run, TASK } from '../command.ts'
import { checkOneLine } from '../option-values.ts'
import { changeRun } from '../runs.ts'
import { driverLines } from '../workflow/driver-check.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('approve the result of a phase, so that the run goes on')
      .argument(...TASK)
      .option('--note <text>', 'what the next phase should know')
      .addHelpText('after', example('workflow approve 259', 'workflow approve 259 --note "use the existing table"'))
      .addHelpText('after', APPROVAL_NOTE),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = (context, [task], { note }, { paint }) => {
  checkOneLine([['--note', note]])
  return decide(context, paint, task, (folder) => approveRun(folder, note, context.nowMs))
}

export function decide(
  context: CommandContext,
  paint: Painter,
  task: string,
  change: (folder: TaskFolder) => WorkflowState,
): Promise<CommandResult<RunDocument>> {
  const changeAsPerson = (folder: TaskFolder): WorkflowState => {
    refuseAgent(context, folder)
    return change(folder)
  }
  return changeRun(context, paint, task, changeAsPerson, (folder, state) =>
    state.active ? driverLines(context, folder, state, undefined) : [],
  )
}

/** Protects against haste only: an agent can leave its shell. */
function refuseAgent(context: CommandContext, folder: TaskFolder): void {
  if (isAgentShell(context.environment)) throw new PostflightError('approval-agent', { task: taskWord(folder) })
}

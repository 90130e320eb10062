import { isAgentShell } from '../../hosts/all-hosts.ts'
import { PostflightError } from '../../kernel/errors.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { approveRun, type ChangedRun, rejectRun } from '../../run/store/run.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type Declaration, lineOf, type Run, TASK } from '../command.ts'
import { changeRun } from '../runs.ts'
import { driverLines } from '../workflow/driver-check.ts'

export { runDocument as document } from '../../views/run-view.ts'

const NOTE = `
A run waits for this at a phase with "approve: true". Only a person can do it:
the command refuses to run in an agent's shell.`

export const approveDeclaration = {
  description: 'approve the result of a phase, so that the run continues',
  examples: ['workflow approve 259', 'workflow approve 259 --note "use the existing table"'],
  notes: [NOTE],
  declare: (command) =>
    command.argument(...TASK).option('--note <text>', 'what the next phase should know', lineOf('--note')),
} satisfies Declaration

export const approve: Run<typeof approveDeclaration, RunDocument> = (context, [task], { note }) =>
  decide(context, task, (folder, nowMs) => approveRun(folder, note, nowMs))

export const rejectDeclaration = {
  description: 'reject the result of a phase, and ask the agent for another one',
  examples: ['workflow reject 259 --reason "step 3 lacks a test"'],
  notes: [NOTE],
  declare: (command) =>
    command
      .argument(...TASK)
      .requiredOption('--reason <text>', 'why; it is part of the next prompt', lineOf('--reason')),
} satisfies Declaration

export const reject: Run<typeof rejectDeclaration, RunDocument> = (context, [task], { reason }) =>
  decide(context, task, (folder, nowMs) => rejectRun(folder, reason, nowMs))

function decide(context: CommandContext, task: string, change: (folder: TaskFolder, nowMs: number) => ChangedRun) {
  const changeAsPerson: typeof change = (folder, nowMs) => {
    // Protects against haste only: an agent can leave its shell.
    if (isAgentShell(context.environment)) throw new PostflightError('approval-agent', { task: taskWord(folder) })
    return change(folder, nowMs)
  }
  return changeRun(context, task, changeAsPerson, (state, _before, folder) =>
    state.active ? driverLines(context, folder, state, undefined) : [],
  )
}

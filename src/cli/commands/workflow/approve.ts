import { isAgentShell } from '../../../hosts/index.ts'
import { PostflightError } from '../../../kernel/errors.ts'
import type { CommandContext, CommandResult } from '../../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../../project/task-folder.ts'
import type { WorkflowState } from '../../../run/machine/state.ts'
import { approveRun, rejectRun } from '../../../run/store/run.ts'
import type { RunDocument } from '../../../views/documents/workflow/run.ts'
import type { Painter } from '../../../views/print.ts'
import { checkOneLine } from '../../option-values.ts'
import { changeRun } from '../../workflow/change-run.ts'
import { driverLines } from '../../workflow/driver-check.ts'

export interface ApproveOptions {
  readonly note?: string
}

export interface RejectOptions {
  readonly reason: string
}

/** `postflight workflow approve`: a person approves the artifact that a run waits for. */
export function approve(
  context: CommandContext,
  paint: Painter,
  task: string,
  { note }: ApproveOptions,
): CommandResult<RunDocument> {
  checkOneLine([['--note', note]])
  return decide(context, paint, task, (folder) => approveRun(folder, note, context.nowMs))
}

/** `postflight workflow reject`: a person rejects it, and the agent is asked for another one. */
export function reject(
  context: CommandContext,
  paint: Painter,
  task: string,
  { reason }: RejectOptions,
): CommandResult<RunDocument> {
  checkOneLine([['--reason', reason]])
  return decide(context, paint, task, (folder) => rejectRun(folder, reason, context.nowMs))
}

/** Changes the run as the person says, and tells them how it goes on: no prompt comes by itself. */
function decide(
  context: CommandContext,
  paint: Painter,
  task: string,
  change: (folder: TaskFolder) => WorkflowState,
): CommandResult<RunDocument> {
  const changeAsPerson = (folder: TaskFolder): WorkflowState => {
    refuseAgent(context, folder)
    return change(folder)
  }
  return changeRun(context, paint, task, changeAsPerson, (folder, state) =>
    state.active ? driverLines(context, folder, state, undefined) : [],
  )
}

/**
 * @throws {PostflightError} `approval-agent` in an agent's shell: a safeguard against haste only, because an agent can
 * leave its shell.
 */
function refuseAgent(context: CommandContext, folder: TaskFolder): void {
  if (isAgentShell(context.environment)) throw new PostflightError('approval-agent', { task: taskWord(folder) })
}

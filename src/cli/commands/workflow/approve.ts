import { PostflightError } from '../../../core/errors.ts'
import { isAgentShell } from '../../../core/hosts/index.ts'
import { type TaskFolder, taskWord } from '../../../core/task-folder.ts'
import { approveRun, rejectRun } from '../../../io/workflow/steer.ts'
import type { CommandContext, CommandResult } from '../../context.ts'
import type { RunDocument } from '../../documents/workflow/run.ts'
import { checkOneLine } from '../../option-values.ts'
import type { Painter } from '../../painter.ts'
import { changeRun } from '../../workflow/change-run.ts'

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
  return changeRun(context, paint, task, (folder) => {
    refuseAgent(context, folder)
    return approveRun(folder, note, context.nowMs)
  })
}

/** `postflight workflow reject`: a person rejects it, and the agent is asked for another one. */
export function reject(
  context: CommandContext,
  paint: Painter,
  task: string,
  { reason }: RejectOptions,
): CommandResult<RunDocument> {
  checkOneLine([['--reason', reason]])
  return changeRun(context, paint, task, (folder) => {
    refuseAgent(context, folder)
    return rejectRun(folder, reason, context.nowMs)
  })
}

/**
 * @throws {PostflightError} `approval-agent` in an agent's shell: a safeguard against haste only, because an agent can
 * leave its shell.
 */
function refuseAgent(context: CommandContext, folder: TaskFolder): void {
  if (isAgentShell(context.environment)) throw new PostflightError('approval-agent', { task: taskWord(folder) })
}

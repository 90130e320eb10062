import { type CommandContext, requireRoot, requireTaskFolder } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { refuseLostRun, restoreLostRun } from '../../run/store/lost-run.ts'

/** The task folder of a run, for the commands about runs. */

/** The folder of the task. @throws {PostflightError} `workflow-lost`; as `requireRoot` and `requireTaskFolder`. */
export function requireRunFolder(context: CommandContext, task: string): TaskFolder {
  refuseLostRun(context, task)
  return requireTaskFolder(requireRoot(context), task, 'workflow')
}

/** The same, for a command that puts the state of a lost run back first. @throws as `restoreLostRun`. */
export function restoreRunFolder(context: CommandContext, task: string): TaskFolder {
  restoreLostRun(context, task)
  return requireTaskFolder(requireRoot(context), task, 'workflow')
}

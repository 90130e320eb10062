import { type CommandContext, requireRoot, requireTaskFolder } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'

/** The task folder of a run, for the commands about runs. @throws as `requireRoot` and `requireTaskFolder`. */
export function requireRunFolder(context: CommandContext, task: string): TaskFolder {
  return requireTaskFolder(requireRoot(context), task, 'workflow')
}

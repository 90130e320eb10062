import { PostflightError } from '../../core/errors.ts'
import { taskNumberOf, taskWord } from '../../core/task-folder.ts'
import { findLostRuns, type LostRun, restoreRun } from '../../io/workflow/state-copy.ts'
import { type CommandContext, findCommandRepository, startOf } from '../context.ts'

/** Runs whose state was removed, of which a copy is left. */

/** The lost runs of the repository that the command is started in; with `task`, those that it names. */
export function lostRuns(context: CommandContext, task?: string): LostRun[] {
  const repository = findCommandRepository(startOf(context).path)
  const lost = repository === undefined ? [] : findLostRuns(repository)
  return task === undefined ? lost : lost.filter(({ folder }) => isNamed(folder, task))
}

function isNamed(folder: LostRun['folder'], task: string): boolean {
  if (task === folder.task || task === taskWord(folder)) return true
  return /^\d+$/.test(task) && taskNumberOf(folder.task) === Number(task)
}

/** Puts the state of a lost run back, if `task` names one. @throws {PostflightError} `cannot-write`. */
export function restoreLostRun(context: CommandContext, task: string): void {
  for (const run of lostRuns(context, task)) restoreRun(run)
}

/** Refuses a task whose run is lost, with the command that restores it. @throws {PostflightError} `workflow-lost`. */
export function refuseLostRun(context: CommandContext, task: string): void {
  const [lost] = lostRuns(context, task)
  if (lost !== undefined) throw lostError(lost)
}

/** The error that reports a lost run. */
export function lostError({ folder, state }: LostRun): PostflightError {
  return new PostflightError('workflow-lost', { task: taskWord(folder), name: state.name })
}

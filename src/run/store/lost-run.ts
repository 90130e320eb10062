import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../../kernel/errors.ts'
import { type CommandContext, findCommandRepository, findCommandRoot, startOf } from '../../project/command-context.ts'
import { taskNumberOf, taskWord } from '../../project/task-folder.ts'
import { findLostRuns, type LostRun, restoreRun } from './state-copy.ts'

/** Runs whose state was removed, of which a copy is left. */

/** A lost run, as a command sees it. */
interface ListedLostRun extends LostRun {
  /** True if the command would find this run at its root, once it is restored. */
  readonly isHere: boolean
  /** The `--root` that a command about it needs, if any. */
  readonly rootOption: string | undefined
}

/** The lost runs of the repository that the command is started in: one in another root, too. */
export function lostRuns(context: CommandContext): ListedLostRun[] {
  const start = startOf(context).path
  const repository = findCommandRepository(start)
  const lost = repository === undefined ? [] : findLostRuns(repository)
  if (lost.length === 0) return []
  const place = fs.realpathSync.native(start)
  const root = findCommandRoot(context)
  return lost.map((run) => {
    const isHere = isWithin(place, run.folder.root) && (root === undefined || isWithin(run.folder.root, root))
    return { ...run, isHere, rootOption: isHere ? context.rootOption : run.folder.root }
  })
}

function isWithin(folder: string, above: string): boolean {
  const [first] = path.relative(above, folder).split(path.sep)
  return first !== '..'
}

/** The lost runs that `task` names. A run of another root does not count, even if its task has that number. */
function lostRunsNamed(context: CommandContext, task: string): ListedLostRun[] {
  return lostRuns(context).filter(({ folder, isHere }) => isHere && isNamed(folder, task))
}

function isNamed(folder: LostRun['folder'], task: string): boolean {
  if (task === folder.task || task === taskWord(folder)) return true
  return /^\d+$/.test(task) && taskNumberOf(folder.task) === Number(task)
}

/** Puts the state of a lost run back, if `task` names one. @throws {PostflightError} `not-a-folder`; file-system errors. */
export function restoreLostRun(context: CommandContext, task: string): void {
  for (const run of lostRunsNamed(context, task)) restoreRun(run)
}

/** Refuses a task whose run is lost, with the command that restores it. @throws {PostflightError} `workflow-lost`. */
export function refuseLostRun(context: CommandContext, task: string): void {
  const [lost] = lostRunsNamed(context, task)
  if (lost !== undefined) throw lostError(lost)
}

/** The error that reports a lost run. */
export function lostError({ folder, state, rootOption }: ListedLostRun): PostflightError {
  return new PostflightError('workflow-lost', { task: taskWord(folder), name: state.name, rootOption })
}

import { shellIdentity } from '../hosts/all-hosts.ts'
import { callerOf } from '../hosts/caller.ts'
import { PostflightError } from '../kernel/errors.ts'
import {
  type CommandContext,
  type CommandResult,
  recordInJournal,
  requireRoot,
  requireTaskFolder,
} from '../project/command-context.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import type { GivenInput } from '../run/definition/snapshot.ts'
import { endEntry } from '../run/drive.ts'
import type { WorkflowState } from '../run/machine/state.ts'
import type { Runner } from '../run/store/run.ts'
import type { Truster } from '../run/store/run-trust.ts'
import { requireState } from '../run/store/state-store.ts'
import type { Painter } from '../views/print.ts'
import type { RunDocument } from '../views/run-view.ts'
import { runData, runLines } from '../views/run-view.ts'
import { checkIds } from './option-values.ts'
import { OPTION_EXPECTATIONS } from './usage-messages.ts'

/** What the commands about runs share. */

/** The task folder of a run, for the commands about runs. @throws as `requireRoot` and `requireTaskFolder`. */
export function requireRunFolder(context: CommandContext, task: string): TaskFolder {
  return requireTaskFolder(requireRoot(context), task, 'workflow')
}

export interface RunnerOptions {
  readonly hostSession?: string
  readonly parentSession?: string
}

/** The caller, for the trust in a run's commands. */
export function trusterOf(context: CommandContext, session = shellIdentity(context.environment)?.session): Truster {
  const { environment, findHome } = context
  return { environment, findHome, session }
}

/**
 * The sessions from the options, or from the environment.
 * @throws {PostflightError} `value-invalid`: an empty session (an unset variable) could not drive a run.
 */
export function runnerOf(context: CommandContext, options: RunnerOptions): Runner {
  const { hostSession, parentSession } = options
  checkIds([
    ['--host-session', hostSession],
    ['--parent-session', parentSession],
  ])
  const { session } = callerOf(context, options)
  return { hostSession: session, parentSession: parentSession ?? session }
}

/**
 * Changes the run of a task, and returns how it stands then. `furtherLines` makes lines below those of the run.
 *
 * @throws {PostflightError} where the task has no run.
 */
export function changeRun(
  context: CommandContext,
  paint: Painter,
  task: string,
  change: (folder: TaskFolder) => WorkflowState,
  furtherLines: (folder: TaskFolder, state: WorkflowState) => readonly string[] = () => [],
): CommandResult<RunDocument> {
  const folder = requireRunFolder(context, task)
  const { active } = requireState(folder)
  const state = change(folder)
  recordEnd(context, folder, active, state)
  const result = runResult(context, paint, folder, state)
  return { ...result, lines: [...result.lines, ...furtherLines(folder, state)] }
}

/** Writes the end of a run to the journal, if the command ended it. `wasActive`: the run before the command. */
export function recordEnd(
  context: CommandContext,
  { root, task }: TaskFolder,
  wasActive: boolean,
  state: WorkflowState,
): void {
  if (wasActive && !state.active) recordInJournal(context, root, [endEntry(task, state)])
}

/** The result of a command that changed a run: how the run stands now. */
export function runResult(
  context: CommandContext,
  paint: Painter,
  folder: TaskFolder,
  state: WorkflowState,
): CommandResult<RunDocument> {
  return {
    exitCode: 0,
    data: runData(folder, state, context.nowMs),
    lines: runLines(folder, state, context.nowMs, paint),
  }
}

/** The inputs that `--set NAME=VALUE` gives. @throws {PostflightError} `value-invalid` without an equals sign. */
export function givenInputs(values: readonly string[] = []): GivenInput[] {
  return values.map((value) => {
    const at = value.indexOf('=')
    if (at < 1)
      throw new PostflightError('value-invalid', { option: '--set', value, expected: OPTION_EXPECTATIONS.input })
    return [value.slice(0, at), value.slice(at + 1)]
  })
}

import { shellIdentity } from '../hosts/all-hosts.ts'
import { PostflightError } from '../kernel/errors.ts'
import {
  type CommandContext,
  type CommandResult,
  recordInJournal,
  requireRoot,
  requireTaskFolder,
} from '../project/command-context.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import type { GivenInput } from '../run/definition/definition.ts'
import { endEntry } from '../run/drive.ts'
import type { WorkflowState } from '../run/machine/state.ts'
import type { Runner } from '../run/store/run.ts'
import type { Truster } from '../run/store/run-trust.ts'
import { requireState } from '../run/store/state-store.ts'
import type { Painter } from '../views/print.ts'
import type { RunDocument } from '../views/run-view.ts'
import { runData, runLines } from '../views/run-view.ts'
import { callerOf } from './marker-owner.ts'
import { checkIds, OPTION_EXPECTATIONS } from './option-values.ts'
import { publishChange } from './workflow/publish-change.ts'

export function requireRunFolder(context: CommandContext, task: string): TaskFolder {
  return requireTaskFolder(requireRoot(context), task, 'workflow')
}

export interface RunnerOptions {
  readonly hostSession?: string
  readonly parentSession?: string
}

export function trusterOf(context: CommandContext, session = shellIdentity(context.environment)?.session): Truster {
  const { environment, findHome } = context
  return { environment, findHome, session }
}

export function runnerOf(context: CommandContext, options: RunnerOptions): Runner {
  const { hostSession, parentSession } = options
  checkIds([
    ['--host-session', hostSession],
    ['--parent-session', parentSession],
  ])
  const { session } = callerOf(context, options)
  return { hostSession: session, parentSession: parentSession ?? session }
}

export async function changeRun(
  context: CommandContext,
  paint: Painter,
  task: string,
  change: (folder: TaskFolder) => WorkflowState,
  furtherLines: (folder: TaskFolder, state: WorkflowState) => readonly string[] = () => [],
): Promise<CommandResult<RunDocument>> {
  const folder = requireRunFolder(context, task)
  const { active } = requireState(folder)
  const state = change(folder)
  recordEnd(context, folder, active, state)
  await publishChange(context, folder)
  const result = runResult(context, paint, folder, state)
  return { ...result, lines: [...result.lines, ...furtherLines(folder, state)] }
}

export function recordEnd(
  context: CommandContext,
  { root, task }: TaskFolder,
  wasActive: boolean,
  state: WorkflowState,
): void {
  if (wasActive && !state.active) recordInJournal(context, root, [endEntry(task, state)])
}

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

export function givenInputs(values: readonly string[] = []): GivenInput[] {
  return values.map((value) => {
    const at = value.indexOf('=')
    if (at < 1)
      throw new PostflightError('value-invalid', { option: '--set', value, expected: OPTION_EXPECTATIONS.input })
    return [value.slice(0, at), value.slice(at + 1)]
  })
}

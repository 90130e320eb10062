import path from 'node:path'
import { readSmallFile } from '../../disk/read.ts'
import { shellIdentity } from '../../hosts/all-hosts.ts'
import { claudeCode } from '../../hosts/claude-code.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { type CommandContext, findCommandRepository } from '../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { needOf } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { DRIVER_TEXT } from '../../run/run-messages.ts'
import { checkSettings } from '../../setup/doctor/claude-findings.ts'
import { unwiredNote } from '../../setup/install/unwired.ts'

/** In bytes. A `.git` file holds one path. */
const GIT_FILE_LIMIT = 8192

/** A caller in a plain terminal gets no prompt of a session's run, but can tell its agent. */
export function driverLines(
  context: CommandContext,
  folder: TaskFolder,
  state: WorkflowState,
  caller: string | undefined,
): string[] {
  const { hostSession } = state
  const command = (word: string): string => commandLine(['workflow', word, taskWord(folder)], context.rootOption)
  const next = command('next')
  const main = mainOfWorktree(folder.root)
  return [
    ...(main === undefined ? [] : [DRIVER_TEXT.inWorktree(main)]),
    ...(hostSession === undefined ? [DRIVER_TEXT.noSession(command('resume')), DRIVER_TEXT.askForEach(next)] : []),
    ...(hostSession !== undefined && caller !== undefined ? [promptsOf(context, folder.root, caller, next)] : []),
    ...(hostSession !== undefined && caller === undefined && needOf(state).kind !== 'approval'
      ? [DRIVER_TEXT.tellAgent]
      : []),
  ]
}

function promptsOf(context: CommandContext, root: string, session: string, next: string): string {
  const missing = findMissingHook(context, root, session)
  if (missing === undefined) return DRIVER_TEXT.endTurn(next)
  if (typeof missing !== 'string') return DRIVER_TEXT.noHook(missing.what, missing.fix ?? '', next)
  context.note(missing)
  return DRIVER_TEXT.afterInit(next)
}

/** Undefined if it is not known. Settings are only judged for Claude Code. */
export function findMissingHook(context: CommandContext, root: string, session: string) {
  const isOfShell = shellIdentity(context.environment)?.session === session
  const unwired = isOfShell ? unwiredNote(context, root) : undefined
  if (unwired !== undefined) return unwired
  const isClaudeCode = isOfShell && claudeCode.shellIdentity?.(context.environment)?.session === session
  const findings = isClaudeCode ? checkSettings(context, false) : []
  return findings.some(({ ok }) => ok) ? undefined : findings.find(({ ok }) => !ok)
}

/** Returns the main folder of the repository if `root` is in a linked git worktree. */
function mainOfWorktree(root: string): string | undefined {
  const repository = findCommandRepository(root)
  if (repository === undefined) return undefined
  const read = readSmallFile(path.join(repository, '.git'), GIT_FILE_LIMIT)
  const target = read.kind === 'text' ? /^gitdir: (.*\S)/.exec(read.text)?.[1] : undefined
  const main = target === undefined ? undefined : /^(.*)[\\/]\.git[\\/]worktrees[\\/][^\\/]+$/.exec(target)?.[1]
  return main === undefined ? undefined : path.resolve(repository, main)
}

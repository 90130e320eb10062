import { commandLine } from '../../kernel/command-line.ts'
import { quote } from '../../kernel/text.ts'
import { type CommandContext, projectFolder } from '../../project/command-context.ts'
import { linkedWorktree } from '../../project/root.ts'
import { runCommandLine, type TaskFolder } from '../../project/task-folder.ts'
import { needOf } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { checkSettings } from '../../setup/doctor/claude-findings.ts'
import { unwiredNote } from '../../setup/install/unwired.ts'

/** A caller in a plain terminal gets no prompt of a session's run, but can tell its agent. */
export function driverLines(context: CommandContext, folder: TaskFolder, state: WorkflowState, caller?: string) {
  const command = (word: string): string => runCommandLine(folder, word, context.rootOption)
  const next = command('next')
  const lines = worktreeLines(folder.root)
  if (state.hostSession === undefined) {
    return [
      ...lines,
      `The run has no session. To get its prompts from the hook, run this in the agent's shell: ${command('resume')}`,
      `Get each prompt with: ${next}`,
    ]
  }
  if (needOf(state).kind === 'approval') return lines
  if (caller !== undefined) return [...lines, promptsOf(context, folder.root, caller, next)]
  return [
    ...lines,
    `Now tell its agent to go on: if the hook is installed, the next prompt comes when it ends its turn, and on OpenCode when it calls workflow_run. Otherwise no prompt comes automatically (\`${commandLine(['init'], context.rootOption)}\` sets the hook up).`,
  ]
}

function promptsOf(context: CommandContext, root: string, session: string, next: string): string {
  const missing = findMissingHook(context, root, session)
  if (missing === undefined) {
    return `If the hook is installed, end your turn now: the prompts come automatically. Otherwise get each one with: ${next}`
  }
  if (typeof missing !== 'string') {
    const { what, fix } = missing
    return `No prompt will come automatically, because ${quote(what, 400)}: ${fix ?? ''}, then start a new session and resume there. Or get each prompt with: ${next} (If the hook is installed in another way, end your turn now.)`
  }
  context.note(missing)
  return `No prompt will come automatically until the hook is set up (\`${commandLine(['init'], context.rootOption)}\`) and a new session resumes the run. Until then, get each prompt with: ${next}`
}

/** Undefined if unknown. Settings are only judged for Claude Code. */
export function findMissingHook(context: CommandContext, root: string, session: string) {
  const isOfShell = context.session === session
  const unwired = isOfShell ? unwiredNote(context, root) : undefined
  if (unwired !== undefined) return unwired
  const isClaudeCode = isOfShell && context.environment.CLAUDE_CODE_SESSION_ID === session
  const findings = isClaudeCode ? checkSettings(context, projectFolder(context), false) : []
  return findings.some(({ ok }) => ok) ? undefined : findings.find(({ ok }) => !ok)
}

function worktreeLines(root: string): string[] {
  const main = linkedWorktree(root)?.main
  if (main === undefined) return []
  return [
    `This is a linked worktree of ${quote(main, 400)}: the run is stored and removed with it, and only a session whose folder is in it gets the prompts. Settings that git does not track are not there, except for Claude Code's settings.local.json.`,
  ]
}

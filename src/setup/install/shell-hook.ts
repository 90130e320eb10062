import { readSmallFile } from '../../disk/read.ts'
import { MARKER_FILE } from '../../kernel/files.ts'
import { shellWords } from '../../kernel/text.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { findCommands, removeEntries } from '../claude-hooks.ts'
import type { Scope } from '../settings-paths.ts'
import { expanded, ourHooks } from './our-hooks.ts'
import { settingsPlaces } from './wiring.ts'

/**
 * Entries of a shell hook that looks for the same markers, in Claude Code's settings: with ours beside it, one stop counts
 * twice. Nothing of it is run.
 */

const EVENT = 'SubagentStop'

/** The size of the largest script that is searched, in bytes. */
const SCRIPT_LIMIT = 65_536

/** A settings file with entries of a shell hook. */
export interface ShellHookPlace {
  readonly scope: Scope
  readonly file: string
  /** Its commands. At least one. */
  readonly commands: readonly [string, ...string[]]
}

/** The settings files that start a shell hook. */
export function shellHookPlaces(context: CommandContext, project: string): ShellHookPlace[] {
  const isOurs = ourHooks(context, project)
  const isShellHook = (hook: unknown): boolean => {
    const command = (hook as { command?: unknown } | null)?.command
    return typeof command === 'string' && !isOurs(hook) && namesMarkers(context, project, command)
  }
  return settingsPlaces(context, project).flatMap(({ text, file, scope }) => {
    const [first, ...others] = findCommands(text ?? '', file, isShellHook, EVENT).map(({ command }) => command)
    return first === undefined ? [] : [{ scope, file, commands: [first, ...others] }]
  })
}

/** The command that asks about the entries of that place alone. */
export function removeCommand({ scope }: ShellHookPlace): string {
  return `postflight init --scope ${scope} --skip hook --skip permissions --skip gitignore --skip skill`
}

/** The text of settings without these commands. Other events keep theirs: they do not count a stop. */
export function removeShellHook(text: string, { file, commands }: ShellHookPlace): string {
  const isShellHook = (hook: unknown): boolean => commands.includes((hook as { command: string } | null)?.command ?? '')
  return removeEntries(text, file, isShellHook, EVENT)
}

/** True if the command names markers, or a script that it starts does. */
function namesMarkers(context: CommandContext, project: string, command: string): boolean {
  if (command.includes(MARKER_FILE)) return true
  const words = shellWords(command) ?? command.replace(/["']/g, '').split(/[\s;|&<>()]+/)
  return words.some((word) => {
    const read = readSmallFile(expanded(context, project, word), SCRIPT_LIMIT)
    return read.kind === 'text' && read.text.includes(MARKER_FILE)
  })
}

import { MARKER_FILE } from '../../core/files.ts'
import { HOOK_FINDINGS } from '../../core/messages/doctor.ts'
import { findEntries } from '../../core/settings/claude-hooks.ts'
import { hooksOf } from '../../core/settings/hook-groups.ts'
import { shellWords } from '../../core/text.ts'
import { readSmallFile } from '../../io/fs/read.ts'
import type { CommandContext } from '../context.ts'
import { projectFolder } from '../installation/host-entry.ts'
import { expanded, ourHooks } from '../installation/our-hooks.ts'
import { settingsPlaces } from '../installation/wiring.ts'
import { bad, type DoctorFinding } from './finding.ts'

/** The size of the largest script that is searched, in bytes. */
const SCRIPT_LIMIT = 65_536

/**
 * Finds entries of a shell hook that looks for the same markers, in Claude Code's settings: with ours beside it, one stop
 * counts twice. Nothing of it is run.
 */
export function checkShellHook(context: CommandContext): DoctorFinding[] {
  const project = projectFolder(context)
  const isOurs = ourHooks(context, project)
  const isShellHook = (hook: unknown): boolean => {
    const command = (hook as { command?: unknown } | null)?.command
    return typeof command === 'string' && !isOurs(hook) && namesMarkers(context, project, command)
  }
  return settingsPlaces(context, project).flatMap(({ text, file, fault }) => {
    if (text === undefined || fault !== undefined) return []
    const [entry] = findEntries(text, file, isShellHook).filter(({ event }) => event === 'SubagentStop')
    const hook = hooksOf(entry?.group).find(isShellHook) as { command: string } | undefined
    return hook === undefined
      ? []
      : [bad('settings', HOOK_FINDINGS.shellHook(hook.command, file), HOOK_FINDINGS.removeShellHook(file))]
  })
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

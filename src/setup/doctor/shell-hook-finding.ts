import type { CommandContext } from '../../project/command-context.ts'
import { projectFolder } from '../install/host-entry.ts'
import { removeCommand, shellHookPlaces } from '../install/shell-hook.ts'
import { HOOK_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding } from './finding.ts'

/** Finds the entries of a shell hook that looks for the same markers. */
export function checkShellHook(context: CommandContext): DoctorFinding[] {
  return shellHookPlaces(context, projectFolder(context)).map((place) =>
    bad('settings', HOOK_FINDINGS.shellHook(place.commands[0], place.file), removeCommand(place)),
  )
}

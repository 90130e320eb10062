import { HOOK_FINDINGS } from '../../core/messages/doctor.ts'
import type { CommandContext } from '../context.ts'
import { projectFolder } from '../installation/host-entry.ts'
import { shellHookPlaces } from '../installation/shell-hook.ts'
import { bad, type DoctorFinding } from './finding.ts'

/** Asks about the entry alone, wherever the hook is wired. */
const REMOVE = 'postflight init --skip hook --skip permissions --skip gitignore --skip skill'

/** Finds the entries of a shell hook that looks for the same markers. */
export function checkShellHook(context: CommandContext): DoctorFinding[] {
  return shellHookPlaces(context, projectFolder(context)).map(({ file, commands }) =>
    bad('settings', HOOK_FINDINGS.shellHook(commands[0], file), REMOVE),
  )
}

import fs from 'node:fs'
import path from 'node:path'
import { findCommandForm } from '../../disk/command-form.ts'
import type { CommandForm } from '../../kernel/command-line.ts'
import { shellWord } from '../../kernel/text.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { projectFolder } from '../install/host-entry.ts'
import { enabledPlugin, settingsPlaces } from '../install/wiring.ts'
import { REACH_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding, good } from './finding.ts'
import { findWiredCopy } from './wired-copy.ts'

/**
 * Checks that the agent's shell finds `postflight`: on the PATH, in the plugin, through the hook at the start of a session
 * (on Claude Code it adds the package's folder to the PATH), or by npx.
 */
export function checkReach(context: CommandContext): DoctorFinding {
  const { packageFolder, platform } = context
  const project = projectFolder(context)
  const { onPath, byNpx } = formOf(context)
  const places = settingsPlaces(context, project)
  if (onPath) return good('cli', REACH_FINDINGS.onPath)
  if (enabledPlugin(places) !== undefined) return good('cli', REACH_FINDINGS.byPlugin)
  if (platform !== 'win32' && places.some(({ commands }) => sharesItself(commands, project))) {
    return good('cli', REACH_FINDINGS.byHook)
  }
  if (byNpx) return good('cli', REACH_FINDINGS.byNpx)
  return bad('cli', REACH_FINDINGS.unreachable, `npm install --global ${shellWord(packageFolder)}`)
}

/** True if a person here starts the CLI by npx, because it is not on the PATH. */
export function needsNpx(context: CommandContext): boolean {
  return formOf(context).byNpx
}

/** How a shell starts the CLI. npx and its like put the project's commands on the PATH of what they run, and only there. */
function formOf(context: CommandContext): CommandForm {
  const { environment, packageFolder } = context
  const script = path.join(packageFolder, 'bin', 'postflight.js')
  const folders = (environment.PATH ?? environment.Path ?? '').split(path.delimiter)
  const own = folders.filter((folder) => path.basename(folder) !== '.bin')
  const isRunByNpm = environment.npm_config_user_agent !== undefined
  const PATH = (isRunByNpm ? own : folders).join(path.delimiter)
  return findCommandForm({ ...environment, PATH }, script, projectFolder(context))
}

/** True if the entries start a hook when a session starts, whose package has the command. */
function sharesItself(commands: readonly { event: string; command: string }[], project: string): boolean {
  const starts = commands.filter(({ event }) => event === 'SessionStart')
  const { file } = findWiredCopy(starts, project)
  return file?.endsWith('postflight-hook') === true && fs.existsSync(path.join(file, '..', '..', 'bin', 'postflight'))
}

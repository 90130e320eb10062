import { PostflightError } from '../../core/errors.ts'
import { errorFault } from '../../core/messages.ts'
import { claudeEntries, findCommands, isInstalled } from '../../core/settings.ts'
import { oneLine } from '../../core/text.ts'
import { claudeSettingsPath, readSettingsFile, requireInside, SCOPES, type Scope } from '../../io/settings-file.ts'
import type { CommandContext } from '../context.ts'
import { hookCommand, projectFolder } from '../host-entry.ts'
import { bad, type Finding, good } from './finding.ts'

/**
 * Is the hook wired in Claude Code's settings, once and as `install` would write it? `elsewhere`: another host is wired,
 * so that Claude Code need not be.
 */
export function checkSettings(context: CommandContext, elsewhere: boolean): Finding[] {
  const project = projectFolder(context)
  const findings = SCOPES.flatMap((scope) => checkScope(context, scope, project))
  const wired = findings.filter((finding) => finding.ok).length
  const commands = new Set(SCOPES.map((scope) => hookCommand(context, scope, project).command))
  // Claude Code 2.1.329 runs the same command once, wherever it is listed.
  if (wired > 1 && commands.size > 1) {
    findings.push(
      bad(
        'settings',
        'wired in several settings files: the host runs the hook once for each',
        'uninstall all but one: postflight uninstall --scope …',
      ),
    )
  }
  if (findings.length > 0 || elsewhere) return findings
  return [bad('settings', 'not wired in any settings file of Claude Code', 'postflight install')]
}

function checkScope(context: CommandContext, scope: Scope, project: string): Finding[] {
  const file = claudeSettingsPath(scope, project, context.findHome(), context.environment)
  try {
    if (scope !== 'user') requireInside(file, project)
    const text = readSettingsFile(file)
    if (text === undefined) return []
    if (disablesHooks(text)) {
      return [bad('settings', `${file} sets disableAllHooks: no hook runs`, 'take disableAllHooks out of it')]
    }
    const commands = findCommands(text, file)
    if (commands.length === 0) return []
    const { command } = hookCommand(context, scope, project)
    if (isInstalled(text, claudeEntries(command), file)) return [good('settings', `wired in ${file}`)]
    const strange = commands.find((one) => !one.command.startsWith(command))
    return [
      bad(
        'settings',
        strange === undefined
          ? `${file} is wired in part only`
          : `${file} starts another copy: ${oneLine(strange.command, 200)}`,
        `postflight install --scope ${scope}`,
      ),
    ]
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return [
      bad(
        'settings',
        errorFault(error.code, error.args),
        'mend the file by hand: Claude Code ignores all of it until then',
      ),
    ]
  }
}

function disablesHooks(text: string): boolean {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')).disableAllHooks === true
  } catch {
    return false
  }
}

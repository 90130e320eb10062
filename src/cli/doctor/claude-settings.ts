import { PostflightError } from '../../core/errors.ts'
import { HOOK_FINDINGS } from '../../core/messages/doctor.ts'
import { errorFault } from '../../core/messages/errors.ts'
import { findCommands, isInstalled } from '../../core/settings/claude-hooks.ts'
import { claudeEntries } from '../../core/settings/hook-entries.ts'
import { splitMark } from '../../core/settings/json-document.ts'
import { oneLine } from '../../core/text.ts'
import { claudeSettingsPath, distinctFiles, requireInside, SCOPES, type Scope } from '../../io/settings/paths.ts'
import { readSettingsFile } from '../../io/settings/read.ts'
import type { CommandContext } from '../context.ts'
import { hookCommand, projectFolder } from '../host-entry.ts'
import { bad, type DoctorFinding, good } from './finding.ts'

/**
 * Checks that the hook is in Claude Code's settings, once and as `install` writes it. With `elsewhere`, another host has
 * it, so Claude Code does not need it.
 */
export function checkSettings(context: CommandContext, elsewhere: boolean): DoctorFinding[] {
  const project = projectFolder(context)
  const files = SCOPES.map((scope) => claudeSettingsPath(scope, project, context.findHome(), context.environment))
  // A project that is the home folder shares its settings with the user's.
  const checked = distinctFiles(files).map((file) =>
    checkScope(context, SCOPES[files.indexOf(file)] as Scope, file, project),
  )
  const findings = [...checked.flatMap(({ finding }) => finding ?? []), ...checkOnce(checked)]
  if (findings.length > 0 || elsewhere) return findings
  return [bad('settings', HOOK_FINDINGS.notInstalled, 'postflight install')]
}

/** The result for the settings file of a scope. */
interface ScopeCheck {
  readonly scope: Scope
  readonly file: string
  /** Our commands in the file that a host would run. */
  readonly commands: readonly { event: string; command: string }[]
  readonly finding: DoctorFinding | undefined
}

/** The scope whose entries stay if several have them: first the one for all projects, last the one that is not shared. */
const KEPT_FIRST: readonly Scope[] = ['user', 'project', 'local']

const STOPS: readonly string[] = ['SubagentStop', 'Stop']

/** Checks that only one file has the hook. Claude Code 2.1.329 runs the same command once, wherever it is listed. */
function checkOnce(checked: readonly ScopeCheck[]): DoctorFinding[] {
  const wired = KEPT_FIRST.flatMap((scope) => checked.filter((one) => one.scope === scope && one.commands.length > 0))
  if (wired.length < 2) return []
  const kept = wired.find(({ finding }) => finding?.ok) ?? wired[0]
  const atStops = wired.flatMap(({ commands }) => commands.filter(({ event }) => STOPS.includes(event)))
  const files = wired.map(({ file }) => file)
  const cost =
    new Set(atStops.map(({ command }) => command)).size === 1
      ? HOOK_FINDINGS.sameCommand
      : HOOK_FINDINGS.differentCommands
  return [
    bad(
      'settings',
      HOOK_FINDINGS.installedTwice(files, cost),
      wired.flatMap((one) => (one === kept ? [] : [`postflight uninstall --scope ${one.scope}`])).join(' && '),
    ),
  ]
}

function checkScope(context: CommandContext, scope: Scope, file: string, project: string): ScopeCheck {
  const found = (finding: DoctorFinding | undefined, commands: ScopeCheck['commands'] = []): ScopeCheck => {
    return { scope, file, commands, finding }
  }
  try {
    if (scope !== 'user') requireInside(file, project)
    const text = readSettingsFile(file)
    if (text === undefined) return found(undefined)
    if (disablesHooks(text)) {
      return found(bad('settings', HOOK_FINDINGS.hooksDisabled(file), HOOK_FINDINGS.enableHooks))
    }
    const commands = findCommands(text, file)
    if (commands.length === 0) return found(undefined)
    const { command } = hookCommand(context, scope, project)
    if (isInstalled(text, claudeEntries(command), file))
      return found(good('settings', HOOK_FINDINGS.installed(file)), commands)
    const strange = commands.find((one) => !one.command.startsWith(command))
    const isDoubled = new Set(commands.map((one) => `${one.event} ${one.command}`)).size < commands.length
    const what =
      strange !== undefined
        ? HOOK_FINDINGS.anotherCopy(file, oneLine(strange.command, 200))
        : isDoubled
          ? HOOK_FINDINGS.listedTwice(file)
          : HOOK_FINDINGS.incomplete(file)
    return found(bad('settings', what, `postflight install --scope ${scope}`), commands)
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return found(bad('settings', errorFault(error.code, error.args), HOOK_FINDINGS.repairSettings))
  }
}

function disablesHooks(text: string): boolean {
  try {
    return JSON.parse(splitMark(text).body).disableAllHooks === true
  } catch {
    return false
  }
}

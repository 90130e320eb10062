import { PostflightError } from '../../core/errors.ts'
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
 * Is the hook wired in Claude Code's settings, once and as `install` would write it? `elsewhere`: another host is wired,
 * so that Claude Code need not be.
 */
export function checkSettings(context: CommandContext, elsewhere: boolean): DoctorFinding[] {
  const project = projectFolder(context)
  const files = SCOPES.map((scope) => claudeSettingsPath(scope, project, context.findHome(), context.environment))
  // A project that is the home folder has the user's settings for its own.
  const checked = distinctFiles(files).map((file) =>
    checkScope(context, SCOPES[files.indexOf(file)] as Scope, file, project),
  )
  const findings = [...checked.flatMap(({ finding }) => finding ?? []), ...checkOnce(checked)]
  if (findings.length > 0 || elsewhere) return findings
  return [bad('settings', 'not wired in any settings file of Claude Code', 'postflight install')]
}

/** What was found in the settings file of a scope. */
interface ScopeCheck {
  readonly scope: Scope
  readonly file: string
  /** Our commands in it that a host would run. */
  readonly commands: readonly { event: string; command: string }[]
  readonly finding: DoctorFinding | undefined
}

/** Which of several wirings stays: the one for all projects first, the one that is not shared last. */
const KEPT_FIRST: readonly Scope[] = ['user', 'project', 'local']

/** Is the hook wired in one of the files only? Claude Code 2.1.329 runs the same command once, wherever it is listed. */
function checkOnce(checked: readonly ScopeCheck[]): DoctorFinding[] {
  const wired = KEPT_FIRST.flatMap((scope) => checked.filter((one) => one.scope === scope && one.commands.length > 0))
  if (wired.length < 2) return []
  const kept = wired.find(({ finding }) => finding?.ok) ?? wired[0]
  const atStops = wired.flatMap(({ commands }) => commands.filter(({ event }) => event !== 'SessionStart'))
  const files = wired.map(({ file }) => file)
  const cost =
    new Set(atStops.map(({ command }) => command)).size === 1
      ? 'Claude Code runs the same command once, but a host that runs each spends a continuation for each'
      : 'at every stop the host runs each of them, and each spends a continuation'
  return [
    bad(
      'settings',
      `wired more than once, in ${files.slice(0, -1).join(', ')} and ${files.at(-1)}: ${cost}`,
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
      return found(bad('settings', `${file} sets disableAllHooks: no hook runs`, 'take disableAllHooks out of it'))
    }
    const commands = findCommands(text, file)
    if (commands.length === 0) return found(undefined)
    const { command } = hookCommand(context, scope, project)
    if (isInstalled(text, claudeEntries(command), file)) return found(good('settings', `wired in ${file}`), commands)
    const strange = commands.find((one) => !one.command.startsWith(command))
    const isDoubled = new Set(commands.map(({ event }) => event)).size < commands.length
    const what =
      strange !== undefined
        ? `${file} starts another copy: ${oneLine(strange.command, 200)}`
        : isDoubled
          ? `${file} wires the hook more than once`
          : `${file} is wired in part only`
    return found(bad('settings', what, `postflight install --scope ${scope}`), commands)
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    const fix = 'mend the file by hand: Claude Code ignores all of it until then'
    return found(bad('settings', errorFault(error.code, error.args), fix))
  }
}

function disablesHooks(text: string): boolean {
  try {
    return JSON.parse(splitMark(text).body).disableAllHooks === true
  } catch {
    return false
  }
}

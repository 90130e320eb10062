import type { SettingsEntry } from '../../hosts/hook-entries.ts'
import { oneLine } from '../../kernel/text.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { isInstalled } from '../claude-hooks.ts'
import { hookCommand } from '../install/host-entry.ts'
import { ourHooks } from '../install/our-hooks.ts'
import type { SettingsPlace } from '../install/wiring.ts'
import { HOOK_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding, good } from './finding.ts'
import { findWiredCopy } from './wired-copy.ts'

/** A host whose settings have our entries. */
export interface WiredHost {
  readonly tellsProject: boolean
  readonly entries: (command: string) => SettingsEntry[]
  /** The command that installs the hook there, without the scope. */
  readonly install: string
}

/** Checks that a settings file has the entries of this package, or those of the project's own copy. */
export function checkEntries(
  context: CommandContext,
  { scope, file, text, commands }: SettingsPlace,
  project: string,
  host: WiredHost,
): DoctorFinding {
  const copy = findWiredCopy(commands, project)
  const { command, portable } = hookCommand(context, scope, project, host)
  const isOurs = ourHooks(context, project)
  if (isInstalled(text ?? '', host.entries(command), file, isOurs))
    return good('settings', HOOK_FINDINGS.installed(file))
  // The project's own entry is never replaced by a path of this machine: its own copy repairs it.
  const isTheirs = copy.portable && !portable
  const fix = `${isTheirs ? 'npx --no-install ' : ''}${host.install} --scope ${scope}`
  if (isTheirs) {
    if (copy.problem !== undefined) return bad('settings', HOOK_FINDINGS.copyMissing(file, copy.problem), copy.repair)
    if (isInstalled(text ?? '', host.entries(copy.command), file, isOurs)) {
      return good('settings', HOOK_FINDINGS.installedByProject(file))
    }
  }
  const strange = isTheirs ? undefined : commands.find((one) => !one.command.startsWith(command))
  const isDoubled = new Set(commands.map((one) => `${one.event} ${one.command}`)).size < commands.length
  const what =
    strange !== undefined
      ? copy.file === findWiredCopy([{ event: '', command }], project).file
        ? HOOK_FINDINGS.otherCommand(file)
        : HOOK_FINDINGS.anotherCopy(file, oneLine(strange.command, 200))
      : isDoubled
        ? HOOK_FINDINGS.listedTwice(file)
        : HOOK_FINDINGS.incomplete(file)
  return bad('settings', what, fix)
}

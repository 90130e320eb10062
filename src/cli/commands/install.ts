import { PostflightError } from '../../core/errors.ts'
import { INSTALL_TEXT } from '../../core/messages/settings.ts'
import { addEntries, findCommands, removeEntries } from '../../core/settings/claude-hooks.ts'
import { claudeEntries } from '../../core/settings/hook-entries.ts'
import { addPlugin, findPlugins, removePlugin } from '../../core/settings/opencode-plugins.ts'
import { kindAt } from '../../io/fs/path-kind.ts'
import { listBackups } from '../../io/settings/backups.ts'
import { claudeSettingsPath, openCodeConfigPaths, requireInside, SCOPES, type Scope } from '../../io/settings/paths.ts'
import { readSettingsFile } from '../../io/settings/read.ts'
import { removeSettingsFile, replaceSettingsFile } from '../../io/settings/replace.ts'
import { type CommandContext, type CommandResult, displayPath } from '../context.ts'
import type { InstallDocument, UninstallDocument } from '../documents/install.ts'
import { hookCommand, openCodePlugin, projectFolder } from '../host-entry.ts'

/** `postflight install` and `uninstall`: adds our entries to a host's settings, and removes them. */

export interface InstallOptions {
  readonly host: string
  readonly scope: string
  readonly dryRun: boolean
}

export const HOSTS = ['claude', 'opencode'] as const

export function install(context: CommandContext, options: InstallOptions): CommandResult<InstallDocument> {
  const target = targetOf(context, options)
  const place = placeOf(target)
  const before = readSettingsFile(place)
  const after = target.add(before ?? '', place)
  // Planned before anything is written, so that a file that does not parse stops everything.
  const removals = removalsFrom(
    target,
    target.files.filter((file) => file !== place),
  )
  const added = before !== after
  const changed = added || removals.length > 0
  const backup = added && !options.dryRun ? replaceSettingsFile(place, after, before) : undefined
  if (!options.dryRun) removals.forEach(carryOut)
  const shown = displayPath(context, place)
  const lines = added
    ? [INSTALL_TEXT.installed(target.what, shown, options.dryRun)]
    : [INSTALL_TEXT.alreadyInstalled(target.what, shown)]
  if (options.dryRun && added) lines.push(after.trimEnd())
  if (backup !== undefined) lines.push(INSTALL_TEXT.backup(displayPath(context, backup)))
  lines.push(...removals.map((removal) => removalLine(context, target, removal, options.dryRun)))
  if (changed && !options.dryRun) lines.push(INSTALL_TEXT.restart)
  if (added && options.scope === 'project' && !target.portable) {
    lines.push(INSTALL_TEXT.notPortable(target.personalScope))
  }
  return {
    exitCode: 0,
    data: {
      ...{ file: place, changed, dry_run: options.dryRun, backup: backup ?? null },
      ...(target.key === 'command' ? { command: target.entry } : { plugin: target.entry }),
      ...{ portable: target.portable, taken_out_of: removals.map(({ file }) => file) },
    },
    lines,
  }
}

/** The file for our entries: the one that holds some already, so that they are never in two; or the one read last. */
function placeOf({ files, holds }: Target): string {
  const holder = files.findLast((file) => {
    const text = readSettingsFile(file)
    return text !== undefined && holds(text, file)
  })
  return holder ?? (files.at(-1) as string)
}

export function uninstall(context: CommandContext, options: InstallOptions): CommandResult<UninstallDocument> {
  const target = targetOf(context, options)
  const removals = removalsFrom(target, target.files)
  if (!options.dryRun) removals.forEach(carryOut)
  const changed = removals.length > 0
  const [first] = removals
  return {
    exitCode: 0,
    data: {
      ...{ file: first?.file ?? (target.files.at(-1) as string), changed, dry_run: options.dryRun },
      ...{ removed_file: changed && first?.after === undefined, taken_out_of: removals.map(({ file }) => file) },
    },
    lines: changed
      ? removals.map((removal) => removalLine(context, target, removal, options.dryRun))
      : [
          INSTALL_TEXT.notInstalled(
            target.what,
            target.files.map((file) => displayPath(context, file)),
          ),
        ],
  }
}

/** A file that holds our entries, and its text without them. */
interface Removal {
  readonly file: string
  readonly before: string
  /** Undefined: the file is removed. */
  readonly after: string | undefined
}

function removalsFrom(target: Target, files: readonly string[]): Removal[] {
  return files.flatMap((file) => {
    const before = readSettingsFile(file)
    if (before === undefined) return []
    const after = originalText(target, file, before)
    return before === after ? [] : [{ file, before, after }]
  })
}

function carryOut({ file, before, after }: Removal): void {
  if (after === undefined) removeSettingsFile(file)
  // No new backup where this restores one.
  else replaceSettingsFile(file, after, isKept(file, after) ? undefined : before)
}

function removalLine(context: CommandContext, { what }: Target, { file, after }: Removal, dryRun: boolean): string {
  const shown = displayPath(context, file)
  return after === undefined ? INSTALL_TEXT.removedFile(shown, dryRun) : INSTALL_TEXT.removed(what, shown, dryRun)
}

/** True when a backup holds exactly this text: then only entries are lost that `install` can write again. */
function isKept(file: string, text: string): boolean {
  return listBackups(file).some((backup) => readSettingsFile(backup) === text)
}

/** What is installed in a host's settings. */
interface Installed {
  readonly what: 'hook' | 'plugin'
  /** The name of the entry in the document of `--json`. */
  readonly key: 'command' | 'plugin'
  /** The scope whose settings are not shared. */
  readonly personalScope: 'local' | 'user'
}

const HOOK: Installed = { what: 'hook', key: 'command', personalScope: 'local' }
const PLUGIN: Installed = { what: 'plugin', key: 'plugin', personalScope: 'user' }

/** The settings files of a scope, and how they are changed. */
interface Target extends Installed {
  /** The files that may hold our entries, in the order in which the host reads them. At least one. */
  readonly files: readonly string[]
  readonly entry: string
  /** False if the entry holds a path on this machine. */
  readonly portable: boolean
  readonly holds: (text: string, file: string) => boolean
  readonly add: (text: string, file: string) => string
  readonly remove: (text: string, file: string) => string
}

function targetOf(context: CommandContext, options: InstallOptions): Target {
  if (!HOSTS.includes(options.host as never)) {
    throw new PostflightError('host-unknown', { host: options.host, known: HOSTS.join(', ') })
  }
  if (!SCOPES.includes(options.scope as never)) throw new PostflightError('scope-unknown', { scope: options.scope })
  const scope = options.scope as Scope
  const project = projectFolder(context)
  const target = (options.host === 'opencode' ? openCodeTarget : claudeTarget)(context, scope, project)
  if (scope !== 'user') for (const file of target.files) requireInside(file, project)
  return target
}

function claudeTarget(context: CommandContext, scope: Scope, project: string): Target {
  const { command, portable } = hookCommand(context, scope, project)
  const entries = claudeEntries(command)
  const files = [claudeSettingsPath(scope, project, context.findHome(), context.environment)]
  const add = (text: string, file: string): string => addEntries(text, entries, file)
  const holds = (text: string, file: string): boolean => findCommands(text, file).length > 0
  return { ...HOOK, files, entry: command, portable, holds, add, remove: removeEntries }
}

function openCodeTarget(context: CommandContext, scope: Scope, project: string): Target {
  if (scope === 'local') throw new PostflightError('scope-not-of-host', { scope, host: 'OpenCode' })
  const { plugin, portable } = openCodePlugin(context, scope, project)
  const files = openCodeConfigPaths(scope, project, context.findHome(), context.environment)
  const add = (text: string, file: string): string => addPlugin(text, plugin, file)
  const holds = (text: string, file: string): boolean => findPlugins(text, file).length > 0
  return { ...PLUGIN, files, entry: plugin, portable, holds, add, remove: removePlugin }
}

/**
 * The text from before `install`. If the file is still as `install` left it, that is the backup, to the byte, or
 * undefined where `install` made the file. Otherwise it is the present text without our entries.
 */
function originalText(target: Target, file: string, present: string): string | undefined {
  const leadsTo = (text: string): boolean => {
    try {
      return target.add(text, file) === present
    } catch {
      return false
    }
  }
  for (const backup of listBackups(file)) {
    const text = readSettingsFile(backup)
    if (text === undefined || text === present || !leadsTo(text)) continue
    // A backup that holds entries of another copy of the package would bring them back.
    if (!target.holds(text, file)) return text
  }
  // A link is not removed: its target would keep our entries.
  if (leadsTo('') && kindAt(file) !== 'link') return undefined
  return target.remove(present, file)
}

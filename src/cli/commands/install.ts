import { PostflightError } from '../../core/errors.ts'
import { addPlugin, removePlugin } from '../../core/opencode-config.ts'
import { addEntries, claudeEntries, removeEntries } from '../../core/settings.ts'
import { kindAt } from '../../io/file-access/looking.ts'
import {
  claudeSettingsPath,
  listBackups,
  openCodeConfigPath,
  readSettingsFile,
  removeSettingsFile,
  replaceSettingsFile,
  requireInside,
  SCOPES,
  type Scope,
} from '../../io/settings-file.ts'
import { type CommandContext, type CommandResult, displayPath } from '../context.ts'
import { hookCommand, openCodePlugin, projectFolder } from '../host-entry.ts'

/** `postflight install` and `uninstall`: our entries in a host's settings. */

export interface InstallOptions {
  readonly host: string
  readonly scope: string
  readonly dryRun: boolean
}

export const HOSTS = ['claude', 'opencode'] as const

export function install(context: CommandContext, options: InstallOptions): CommandResult {
  const target = targetOf(context, options)
  const before = readSettingsFile(target.file)
  const after = target.add(before ?? '')
  const changed = before !== after
  const backup = changed && !options.dryRun ? replaceSettingsFile(target.file, after, before) : undefined
  const shown = displayPath(context, target.file)
  const lines = changed
    ? [`${options.dryRun ? 'would install' : 'installed'} the ${target.what} in ${shown}`]
    : [`the ${target.what} is in ${shown} already`]
  if (options.dryRun && changed) lines.push(after.trimEnd())
  if (backup !== undefined) lines.push(`the former file is kept as ${displayPath(context, backup)}`)
  if (changed && !options.dryRun) lines.push('sessions that are running now use it after a restart')
  if (changed && options.scope === 'project' && !target.portable) {
    lines.push(
      `this entry holds a path of this machine: for settings that are shared, make postflight-guard a dev dependency of the project, or use --scope ${target.personalScope}`,
    )
  }
  return {
    exitCode: 0,
    data: {
      ...{ file: target.file, changed, dry_run: options.dryRun, backup: backup ?? null },
      ...{ [target.key]: target.entry, portable: target.portable },
    },
    lines,
  }
}

export function uninstall(context: CommandContext, options: InstallOptions): CommandResult {
  const target = targetOf(context, options)
  const before = readSettingsFile(target.file)
  const shown = displayPath(context, target.file)
  const after = before === undefined ? undefined : formerText(target, before)
  const changed = before !== after
  if (changed && before !== undefined && !options.dryRun) {
    if (after === undefined) removeSettingsFile(target.file)
    // What was there before is kept already where this gives back a copy of it.
    else replaceSettingsFile(target.file, after, isKept(target.file, after) ? undefined : before)
  }
  const verb = options.dryRun ? 'would be' : 'is'
  return {
    exitCode: 0,
    data: { file: target.file, changed, dry_run: options.dryRun, removed_file: changed && after === undefined },
    lines: [
      !changed
        ? `no ${target.what} of ours in ${shown}`
        : after === undefined
          ? `${shown} held nothing else: the file ${verb} removed`
          : `the ${target.what} ${verb} taken out of ${shown}`,
    ],
  }
}

/** True when a copy of that very text is kept: then all that goes is what `install` writes, and can write again. */
function isKept(file: string, text: string): boolean {
  return listBackups(file).some((backup) => readSettingsFile(backup) === text)
}

/** A settings file, and what becomes of it. */
interface Target {
  readonly file: string
  readonly what: 'hook' | 'plugin'
  /** Under which name `--json` tells the entry. */
  readonly key: 'command' | 'plugin'
  readonly entry: string
  readonly add: (text: string) => string
  readonly remove: (text: string) => string
  /** False when the entry holds a path of this machine. */
  readonly portable: boolean
  /** Whose settings nobody shares. */
  readonly personalScope: 'local' | 'user'
}

function targetOf(context: CommandContext, options: InstallOptions): Target {
  if (!HOSTS.includes(options.host as never)) {
    throw new PostflightError('host-unknown', { host: options.host, known: HOSTS.join(', ') })
  }
  if (!SCOPES.includes(options.scope as never)) throw new PostflightError('scope-unknown', { scope: options.scope })
  const scope = options.scope as Scope
  return options.host === 'opencode' ? openCodeTarget(context, scope) : claudeTarget(context, scope)
}

function claudeTarget(context: CommandContext, scope: Scope): Target {
  const project = projectFolder(context)
  const file = claudeSettingsPath(scope, project, context.findHome(), context.environment)
  if (scope !== 'user') requireInside(file, project)
  const { command, portable } = hookCommand(context, scope, project)
  const entries = claudeEntries(command)
  return {
    file,
    what: 'hook',
    key: 'command',
    entry: command,
    add: (text) => addEntries(text, entries, file),
    remove: (text) => removeEntries(text, file),
    portable,
    personalScope: 'local',
  }
}

function openCodeTarget(context: CommandContext, scope: Scope): Target {
  if (scope === 'local') throw new PostflightError('scope-not-of-host', { scope, host: 'OpenCode' })
  const project = projectFolder(context)
  const file = openCodeConfigPath(scope, project, context.findHome(), context.environment)
  if (scope !== 'user') requireInside(file, project)
  const { plugin, portable } = openCodePlugin(context, scope, project)
  return {
    file,
    what: 'plugin',
    key: 'plugin',
    entry: plugin,
    add: (text) => addPlugin(text, plugin, file),
    remove: (text) => removePlugin(text, file),
    portable,
    personalScope: 'user',
  }
}

/**
 * What was there before `install`: the copy that was kept, to the byte, if the file is still what `install` made of
 * it; no file, if it was made by us; else the present text without our entries.
 */
function formerText(target: Target, present: string): string | undefined {
  for (const backup of listBackups(target.file)) {
    const text = readSettingsFile(backup)
    if (text !== undefined && text !== present && madeFrom(text, target, present)) return text
  }
  // A link is not ours: without it its target would keep our entries, and with the target gone it would lead nowhere.
  if (madeFrom('', target, present) && kindAt(target.file) !== 'a link') return undefined
  return target.remove(present)
}

function madeFrom(text: string, target: Target, present: string): boolean {
  try {
    return target.add(text) === present
  } catch {
    return false
  }
}

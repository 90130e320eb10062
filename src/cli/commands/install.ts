import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { addEntries, claudeEntries, removeEntries, type SettingsEntry } from '../../core/settings.ts'
import { findRepository } from '../../io/root.ts'
import {
  claudeSettingsPath,
  listBackups,
  readSettingsFile,
  removeSettingsFile,
  replaceSettingsFile,
  requireInside,
  SCOPES,
  type Scope,
} from '../../io/settings-file.ts'
import { type CommandContext, type CommandResult, displayPath, findCommandRoot, startOf } from '../context.ts'

/** `postflight install` and `uninstall`: our entries in a host's settings. */

export interface InstallOptions {
  readonly host: string
  readonly scope: string
  readonly dryRun: boolean
}

export const HOSTS = ['claude'] as const

export function install(context: CommandContext, options: InstallOptions): CommandResult {
  const target = targetOf(context, options)
  const before = readSettingsFile(target.file)
  const after = addEntries(before ?? '', target.entries, target.file)
  const changed = before !== after
  const backup = changed && !options.dryRun ? replaceSettingsFile(target.file, after, before) : undefined
  const shown = displayPath(context, target.file)
  const lines = changed
    ? [`${options.dryRun ? 'would install' : 'installed'} the hook in ${shown}`]
    : [`the hook is in ${shown} already`]
  if (options.dryRun && changed) lines.push(after.trimEnd())
  if (backup !== undefined) lines.push(`the former file is kept as ${displayPath(context, backup)}`)
  if (changed && !options.dryRun) lines.push('sessions that are running now use it after a restart')
  if (options.scope === 'project' && !target.portable) {
    context.note(
      'postflight: the command holds a path of this machine. For settings that are shared, make postflight-guard a dev dependency of the project, or use --scope local.',
    )
  }
  return {
    exitCode: 0,
    data: { file: target.file, changed, dry_run: options.dryRun, backup: backup ?? null, command: target.command },
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
        ? `no hook of ours in ${shown}`
        : after === undefined
          ? `${shown} held nothing else: the file ${verb} removed`
          : `the hook ${verb} taken out of ${shown}`,
    ],
  }
}

/** True when a copy of that very text is kept: then all that goes is what `install` writes, and can write again. */
function isKept(file: string, text: string): boolean {
  return listBackups(file).some((backup) => readSettingsFile(backup) === text)
}

interface Target {
  readonly file: string
  readonly command: string
  readonly entries: readonly SettingsEntry[]
  /** False when the command holds a path of this machine. */
  readonly portable: boolean
}

function targetOf(context: CommandContext, options: InstallOptions): Target {
  if (!HOSTS.includes(options.host as never)) {
    throw new PostflightError('host-unknown', { host: options.host, known: HOSTS.join(', ') })
  }
  if (!SCOPES.includes(options.scope as never)) throw new PostflightError('scope-unknown', { scope: options.scope })
  const scope = options.scope as Scope
  const project = projectFolder(context)
  const file = claudeSettingsPath(scope, project, context.findHome(), context.environment)
  if (scope !== 'user') requireInside(file, project)
  const { command, portable } = hookCommand(context, scope, project)
  return { file, command, entries: claudeEntries(command), portable }
}

/** The project whose settings are meant: the root, else the repository, else the current folder. */
export function projectFolder(context: CommandContext): string {
  const start = startOf(context)
  return findCommandRoot(context) ?? (start.explicit ? undefined : findRepository(start.path)) ?? start.path
}

/**
 * The command a host starts. In the project's own node_modules it is found from the project's folder; elsewhere by its
 * full path. Never through npx, which would be resolved anew at every stop.
 */
export function hookCommand(
  context: CommandContext,
  scope: Scope,
  project: string,
): { command: string; portable: boolean } {
  const { packageFolder, platform } = context
  const words = platform === 'win32' ? ['node', 'dist/hook.js'] : [undefined, 'hooks/postflight-hook']
  const [program, file] = words
  const inProject = path.relative(realPath(project), realPath(packageFolder)).split(path.sep).join('/')
  const portable = scope !== 'user' && inProject.startsWith('node_modules/')
  const location = portable ? `$CLAUDE_PROJECT_DIR/${inProject}/${file}` : path.join(packageFolder, file as string)
  const quoted = doubleQuoted(location, portable)
  // On Windows the last word does nothing but tell that the entry is ours, whatever the folder is called.
  return { command: program === undefined ? quoted : `${program} ${quoted} postflight-hook`, portable }
}

/** In double quotes for the shell: spaces stay together, and `$CLAUDE_PROJECT_DIR` is filled in where we put it. */
function doubleQuoted(location: string, portable: boolean): string {
  const escaped = portable
    ? location.replace(/["`\\]/g, '\\$&')
    : location
        .split(path.sep)
        .join('/')
        .replace(/["`$\\]/g, '\\$&')
  return `"${escaped}"`
}

function realPath(folder: string): string {
  try {
    return fs.realpathSync(folder)
  } catch {
    return folder
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
  if (madeFrom('', target, present)) return undefined
  return removeEntries(present, target.file)
}

function madeFrom(text: string, target: Target, present: string): boolean {
  try {
    return addEntries(text, target.entries, target.file) === present
  } catch {
    return false
  }
}

import path from 'node:path'
import { claudeEntries } from '../../hosts/hook-entries.ts'
import { HOST_TITLES, type HookHost, hookHost } from '../../hosts/hook-hosts.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { FILE_DETAILS } from '../../kernel/file-messages.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { addEntries, findCommands, findEntries, removeEntries } from '../claude-hooks.ts'
import { addPlugin, findPlugins, removePlugin } from '../opencode-plugins.ts'
import { removeRules } from '../permission-rules.ts'
import { isReactiveHook } from '../reactive/reactive-hooks.ts'
import { INSTALL_TEXT } from '../settings-messages.ts'
import {
  claudeSettingsPath,
  hookHostSettingsPath,
  openCodeConfigPaths,
  requireInside,
  SCOPES,
  type Scope,
} from '../settings-paths.ts'
import { readSettingsFile } from '../settings-read.ts'
import { hookCommand, openCodePlugin, projectFolder } from './host-entry.ts'
import { ourHooks, ourPlugins } from './our-hooks.ts'
import { recordedRules } from './rules-record.ts'

/** The settings files of a host's scope, and how our entries are added to them and removed. */

export const HOSTS: readonly string[] = Object.keys(HOST_TITLES)

/** What is installed in a host's settings. */
interface Installed {
  readonly what: 'hook' | 'plugin' | 'reactive rules'
  /** The name of the entry in the document of `--json`. */
  readonly key: 'command' | 'plugin' | 'rules'
  /** The scope whose settings are not shared. */
  readonly personalScope: 'local' | 'user'
}

const HOOK: Installed = { what: 'hook', key: 'command', personalScope: 'local' }
const PLUGIN: Installed = { what: 'plugin', key: 'plugin', personalScope: 'user' }

/** The settings files of a scope, and how they are changed. */
export interface Target extends Installed {
  readonly scope: Scope
  readonly project: string
  /** The files that may hold our entries, in the order in which the host reads them. At least one. */
  readonly files: readonly string[]
  readonly entry: string
  /** False if the entry holds a path on this machine. */
  readonly portable: boolean
  readonly holds: (text: string, file: string) => boolean
  readonly add: (text: string, file: string) => string
  /** Removes everything of ours: what `init` adds to the same file, too. */
  readonly remove: (text: string, file: string) => string
  /** Sentences for the user after `install`: what they must do, or what could not be installed. */
  readonly notes?: readonly string[]
}

/** @throws {PostflightError} `host-unknown`, `scope-unknown`, `scope-not-of-host`; `file-unreadable` for a link outside; `cannot-write`. */
export function targetOf(context: CommandContext, host: string, scope: string): Target {
  if (!HOSTS.includes(host)) {
    throw new PostflightError('host-unknown', { host, known: HOSTS.join(', ') })
  }
  if (!SCOPES.includes(scope as never)) throw new PostflightError('scope-unknown', { scope })
  const project = projectFolder(context)
  const target = findTarget(context, host, scope as Scope, project)
  const relative = target.files.find((file) => !path.isAbsolute(file))
  if (relative !== undefined) {
    throw new PostflightError('cannot-write', { path: relative, detail: FILE_DETAILS.relativeFolder })
  }
  if (scope !== 'user') for (const file of target.files) requireInside(file, project)
  return target
}

function findTarget(context: CommandContext, host: string, scope: Scope, project: string): Target {
  if (host === 'opencode') return openCodeTarget(context, scope, project)
  const other = hookHost(host)
  if (other === undefined) return claudeTarget(context, scope, project)
  // Only a project's hooks need a trusted folder.
  const { trust } = other
  const notes = trust === undefined || (trust === 'folder' && scope === 'user') ? [] : [INSTALL_TEXT.trust[trust]]
  if (other.readsClaudeSettings === true && scope !== 'user') {
    return { ...claudeTarget(context, scope, project), notes: [INSTALL_TEXT.sharedWithClaude, ...notes] }
  }
  return { ...hookTarget(context, other, scope, project), notes }
}

/** The file for our entries: the one that holds some already, so that they are never in two; or the one read last. */
export function placeOf({ files, holds }: Target): string {
  const holder = files.findLast((file) => {
    const text = readSettingsFile(file)
    return text !== undefined && holds(text, file)
  })
  return holder ?? (files.at(-1) as string)
}

/** True if Claude Code's settings have permission rules that `init` added. @throws {PostflightError} as `removeRules`. */
export function holdsOurRules(text: string, file: string): boolean {
  return removeRules(text, file, recordedRules(file)) !== text
}

/** The text of Claude Code's settings without reactive rules. @throws {PostflightError} as `removeEntries`. */
export function removeReactive(text: string, file: string): string {
  return removeEntries(text, file, isReactiveHook)
}

/** True if Claude Code's settings have reactive rules. @throws {PostflightError} as `removeEntries`. */
export function holdsReactive(text: string, file: string): boolean {
  return findEntries(text, file, isReactiveHook).length > 0
}

function claudeTarget(context: CommandContext, scope: Scope, project: string): Target {
  const { command, portable } = hookCommand(context, scope, project)
  const entries = claudeEntries(command)
  const files = [claudeSettingsPath(scope, project, context.findHome(), context.environment)]
  const isOurs = ourHooks(context, project)
  const add = (text: string, file: string): string => addEntries(text, entries, file, isOurs)
  const holds = (text: string, file: string): boolean => findCommands(text, file, isOurs).length > 0
  const remove = (text: string, file: string): string =>
    removeReactive(removeRules(removeEntries(text, file, isOurs), file, recordedRules(file)), file)
  return { ...HOOK, scope, project, files, entry: command, portable, holds, add, remove }
}

function hookTarget(context: CommandContext, host: HookHost, scope: Scope, project: string): Target {
  if (scope === 'local') throw new PostflightError('scope-not-of-host', { scope, host: host.title })
  const { command, portable } = hookCommand(context, scope, project, host)
  const files = [hookHostSettingsPath(host, scope, project, context.findHome(), context.environment)]
  const isOurs = ourHooks(context, project)
  const add = (text: string, file: string): string => addEntries(text, host.entries(command), file, isOurs)
  const holds = (text: string, file: string): boolean => findCommands(text, file, isOurs).length > 0
  const remove = (text: string, file: string): string => removeEntries(text, file, isOurs)
  const installed = { ...HOOK, personalScope: 'user' } as const
  return { ...installed, scope, project, files, entry: command, portable, holds, add, remove }
}

function openCodeTarget(context: CommandContext, scope: Scope, project: string): Target {
  if (scope === 'local') throw new PostflightError('scope-not-of-host', { scope, host: 'OpenCode' })
  const { plugin, portable } = openCodePlugin(context, scope, project)
  const files = openCodeConfigPaths(scope, project, context.findHome(), context.environment)
  const add = (text: string, file: string): string => addPlugin(text, plugin, file, ourPlugins(file))
  const holds = (text: string, file: string): boolean => findPlugins(text, file, ourPlugins(file)).length > 0
  const remove = (text: string, file: string): string => removePlugin(text, file, ourPlugins(file))
  return { ...PLUGIN, scope, project, files, entry: plugin, portable, holds, add, remove }
}

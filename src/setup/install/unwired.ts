import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { type FileRead, readSmallFile } from '../../disk/read.ts'
import { hostsOfShell, shellIdentity } from '../../hosts/all-hosts.ts'
import { HOOK_HOSTS, HOST_TITLES, hookHost } from '../../hosts/hook-hosts.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { attempt } from '../../kernel/values.ts'
import { type CommandContext, projectFolder } from '../../project/command-context.ts'
import { lastMarkerEntries } from '../../project/journal-entries.ts'
import { sessionsOfHook } from '../../project/journal-entry.ts'
import { linkedWorktree } from '../../project/root.ts'
import {
  claudeSettingsPath,
  HOST_SCOPES,
  hookHostFiles,
  hookHostSettingsPath,
  managedSettingsPaths,
  openCodeConfigPaths,
  SCOPES,
} from '../settings-paths.ts'

/** Searches the settings for text: `create` must not take the time to parse them. */

/** In bytes. */
const JOURNAL_LIMIT = 65_536

/** Each command of ours has one of these, and so does our plugin unless it is switched off. */
const STARTS_HOOK =
  /postflight-hook|[/\\]dist[/\\]{1,2}hook\.js|postflight(?:\.js|\.cmd)?[\\"']{0,3} hook|postflight-guard@[^"]{0,100}"\s{0,100}:(?!\s{0,100}false)/

/** Undefined if it does, outside a session, and if it is not known. */
export function unwiredNote(context: CommandContext, root: string): string | undefined {
  const { environment } = context
  const [host] = hostsOfShell(environment)
  if (host?.name === undefined) return undefined
  const { name } = host
  if (!isHomeKnown(context) || isFromPlugin(context)) return undefined
  const read = [...settingsFiles(context, name, root)].map((file) => readSmallFile(file))
  if (read.some((one) => mayHold(one, STARTS_HOOK))) return undefined
  const session = shellIdentity(environment)?.session
  // `status` reports unreadable files.
  if (attempt(() => sessionsOfHook(lastMarkerEntries(root, JOURNAL_LIMIT).entries).has(session))) return undefined
  const line = (word: string): string => commandLine([word], context.rootOption)
  const title = HOST_TITLES[name]
  const own = name === 'claude' ? '' : ` for Claude Code, \`${line('install')} --host ${name}\` for ${title}`
  return `postflight: no settings file of ${title} starts the hook, so it will probably not hold this session. \`${line('init')}\` sets it up${own}.`
}

/** Settings that may switch the hook off. Only with one of these does `create` take the time to parse them. */
const MAY_SWITCH_OFF = /disableAllHooks|allowManagedHooksOnly|strictPluginOnlyCustomization|POSTFLIGHT_DISABLE/

/** Also if settings of Claude Code switch the hook off. */
export async function hookNote(context: CommandContext, root: string): Promise<string | undefined> {
  const unwired = unwiredNote(context, root)
  const isKnown = hostsOfShell(context.environment)[0]?.name === 'claude' && isHomeKnown(context)
  if (unwired !== undefined || !isKnown) return unwired
  const files = [...settingsFiles(context, 'claude', root)]
  if (!files.some((file) => mayHold(readSmallFile(file), MAY_SWITCH_OFF))) return undefined
  const { offWarnings } = await import('../doctor/claude-findings.ts')
  const { sessionLocations } = await import('./wiring.ts')
  const project = projectFolder(context)
  return offWarnings(context, project, sessionLocations(context, project), 'postflight')[0]
}

/** By any host. True if it is not known. */
export function isWired(context: CommandContext, root: string): boolean {
  if (!isHomeKnown(context) || isFromPlugin(context)) return true
  const names = ['claude', ...Object.keys(HOOK_HOSTS)]
  const files = new Set(names.flatMap((name) => [...settingsFiles(context, name, root)]))
  const configs = HOST_SCOPES.flatMap((scope) => openCodeConfigPaths(context, scope, root))
  const holds = (file: string, expected: RegExp): boolean => mayHold(readSmallFile(file), expected)
  return [...files].some((file) => holds(file, STARTS_HOOK)) || configs.some((file) => holds(file, /postflight-guard/))
}

/** The agent's shell has the command from our plugin, so the session has the plugin. */
function isFromPlugin({ packageFolder }: CommandContext): boolean {
  return kindAt(path.join(packageFolder, '.claude-plugin')) === 'folder'
}

function settingsFiles(context: CommandContext, name: string, root: string): Set<string> {
  const projects = new Set<string>()
  for (let folder = context.cwd; !projects.has(folder); folder = path.dirname(folder)) projects.add(folder)
  projects.add(root)
  const host = hookHost(name)
  // Claude Code 2.1.332 reads its local settings in a linked worktree too.
  const main = name === 'claude' ? linkedWorktree(root)?.main : undefined
  return new Set([
    ...(name === 'claude' ? managedSettingsPaths(context) : []),
    ...(main !== undefined ? [claudeSettingsPath(context, 'local', main)] : []),
    ...[...projects].flatMap((project) => [
      ...(host === undefined || host.readsClaudeSettings === true
        ? SCOPES.map((scope) => claudeSettingsPath(context, scope, project))
        : []),
      ...(host === undefined
        ? []
        : HOST_SCOPES.flatMap((scope) => [
            hookHostSettingsPath(context, host, scope, project),
            ...hookHostFiles(context, host, scope, project),
          ])),
    ]),
  ])
}

/** A command that needs the folder reports that; a note must not fail a command that has done its work. */
function isHomeKnown({ findHome }: CommandContext): boolean {
  return attempt(findHome) !== undefined
}

function mayHold(read: FileRead, expected: RegExp): boolean {
  return read.kind === 'unreadable' || (read.kind === 'text' && (!read.whole || expected.test(read.text)))
}

import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { readSmallFile } from '../../disk/read.ts'
import { hostsOfShell, shellIdentity } from '../../hosts/all-hosts.ts'
import { HOOK_HOSTS, HOST_TITLES, hookHost } from '../../hosts/hook-hosts.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { attempt } from '../../kernel/values.ts'
import { type CommandContext, projectFolder } from '../../project/command-context.ts'
import { lastMarkerEntries } from '../../project/journal-entries.ts'
import { sessionsOfHook } from '../../project/journal-entry.ts'
import * as paths from '../settings-paths.ts'

/** Searches the settings for text: `create` must not take the time to parse them. */

/** In bytes. */
const JOURNAL_LIMIT = 65_536

/** Each command of ours has one of these, and so does our plugin unless it is switched off. */
const STARTS_HOOK =
  /postflight-hook|[/\\]dist[/\\]{1,2}hook\.js|postflight(?:\.js|\.cmd)?[\\"']{0,3} hook|postflight-guard@[^"]{0,100}"\s{0,100}:(?!\s{0,100}false)/

/** Undefined if it does, outside a session, and if it is not known. */
export function unwiredNote(context: CommandContext, root: string): string | undefined {
  const { environment, rootOption } = context
  const { name } = hostsOfShell(environment)[0] ?? {}
  const line = (word: string): string => commandLine([word], rootOption)
  // The plugin names the session in the shell of an agent, but not in a slash command's (1.18.34).
  if (context.session === undefined && environment.OPENCODE === '1' && !isInOpenCode(context, root)) {
    return `postflight: no configuration file of OpenCode names the plugin, so it will probably not hold this session. \`${line('install')} --host opencode\` sets it up.`
  }
  if (name === undefined || isFromPlugin(context) || mayHold(context, name, root, STARTS_HOOK)) return undefined
  const session = shellIdentity(environment)?.session
  // `status` reports unreadable files.
  if (attempt(() => sessionsOfHook(lastMarkerEntries(root, JOURNAL_LIMIT).entries).has(session))) return undefined
  const title = HOST_TITLES[name]
  const own = name === 'claude' ? '' : ` for Claude Code, \`${line('install')} --host ${name}\` for ${title}`
  return `postflight: no settings file of ${title} starts the hook, so it will probably not hold this session. \`${line('init')}\` sets it up${own}.`
}

/** Only with one of these does `create` take the time to parse the settings. */
const MAY_SWITCH_OFF = /disableAllHooks|allowManagedHooksOnly|strictPluginOnlyCustomization|POSTFLIGHT_DISABLE/

/** Also if settings of Claude Code switch the hook off. */
export async function hookNote(context: CommandContext, root: string): Promise<string | undefined> {
  const unwired = unwiredNote(context, root)
  const isClaudeCode = hostsOfShell(context.environment)[0]?.name === 'claude'
  if (unwired !== undefined || !isClaudeCode || !mayHold(context, 'claude', root, MAY_SWITCH_OFF)) return unwired
  const { offWarnings } = await import('../doctor/claude-findings.ts')
  return attempt(() => offWarnings(context, projectFolder(context), 'postflight')[0])
}

/** By any host. True if unknown. */
export function isWired(context: CommandContext, root: string): boolean {
  if (isFromPlugin(context)) return true
  if (['claude', ...Object.keys(HOOK_HOSTS)].some((name) => mayHold(context, name, root, STARTS_HOOK))) return true
  return isInOpenCode(context, root)
}

function isInOpenCode(context: CommandContext, root: string): boolean {
  const files = () => paths.HOST_SCOPES.flatMap((scope) => paths.openCodeConfigPaths(context, scope, root))
  return attempt(() => files().some((file) => mayName(file, /postflight-guard/)), true)
}

/** The agent's shell has the command from our plugin, so the session has the plugin. */
function isFromPlugin({ packageFolder }: CommandContext): boolean {
  return kindAt(path.join(packageFolder, '.claude-plugin')) === 'folder'
}

/** A note must not fail a command that has done its work. */
function mayHold(context: CommandContext, name: string, root: string, expected: RegExp): boolean {
  return attempt(() => settingsFiles(context, name, root).some((file) => mayName(file, expected)), true)
}

function settingsFiles(context: CommandContext, name: string, root: string): string[] {
  const projects = new Set<string>()
  for (let folder = context.cwd; !projects.has(folder); folder = path.dirname(folder)) projects.add(folder)
  const all = [...projects.add(root)]
  const host = hookHost(name)
  const places =
    host === undefined
      ? [...paths.sessionPlaces(context, root), ...all.flatMap((project) => paths.claudePlaces(context, project))]
      : all.flatMap((project) => [
          ...paths.hostPlaces(context, host, project),
          { file: paths.hookHostSettingsPath(context, host, 'project', project) },
        ])
  return [...new Set(places.map(({ file }) => file))]
}

function mayName(file: string, expected: RegExp): boolean {
  const read = readSmallFile(file)
  return read.kind === 'unreadable' || (read.kind === 'text' && (!read.whole || expected.test(read.text)))
}

import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { type FileRead, readSmallFile } from '../../disk/read.ts'
import { hostOfShell } from '../../hosts/all-hosts.ts'
import { HOST_TITLES, hookHost } from '../../hosts/hook-hosts.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { lastMarkerEntries } from '../../project/journal-entries.ts'
import { sessionsOfHook } from '../../project/journal-entry.ts'
import { claudeSettingsPath, hookHostSettingsPath, SCOPES } from '../settings-paths.ts'

/** Searches the settings for text: `create` must not take the time to parse them. */

const SETTINGS_LIMIT = 1_048_576

/** In bytes. */
const JOURNAL_LIMIT = 65_536

/** Each command of ours has one of these, and so does our plugin unless it is switched off. */
const STARTS_HOOK =
  /postflight-hook|[/\\]dist[/\\]{1,2}hook\.js|postflight(?:\.js|\.cmd)?[\\"']{0,3} hook|postflight-guard@[^"]{0,100}"\s{0,100}:(?!\s{0,100}false)/

/** Undefined if it does, outside a session, and if it is not known. */
export function unwiredNote(context: CommandContext, root: string): string | undefined {
  const { environment } = context
  const host = hostOfShell(environment)
  if (host?.name === undefined) return undefined
  const { name } = host
  // The agent's shell has the command from our plugin, so the session has the plugin.
  if (kindAt(path.join(context.packageFolder, '.claude-plugin')) === 'folder') return undefined
  const home = homeIfKnown(context)
  if (home === undefined) return undefined
  const read = [...settingsFiles(context, name, root, home)].map((file) => readSmallFile(file, SETTINGS_LIMIT))
  if (read.some(mayStartHook) || wasSeen(root, host.shellIdentity?.(environment)?.session)) return undefined
  return `postflight: no settings file of ${HOST_TITLES[name]} starts the hook, so it will probably not hold this session. \`postflight init\` sets it up.`
}

function settingsFiles(context: CommandContext, name: string, root: string, home: string): Set<string> {
  const { environment } = context
  const projects = new Set<string>()
  for (let folder = context.cwd; !projects.has(folder); folder = path.dirname(folder)) projects.add(folder)
  projects.add(root)
  const host = hookHost(name)
  return new Set(
    [...projects].flatMap((project) => [
      ...(host === undefined || host.readsClaudeSettings === true
        ? SCOPES.map((scope) => claudeSettingsPath(scope, project, home, environment))
        : []),
      ...(host === undefined
        ? []
        : (['project', 'user'] as const).map((scope) => hookHostSettingsPath(host, scope, project, home, environment))),
    ]),
  )
}

function homeIfKnown({ findHome }: CommandContext): string | undefined {
  try {
    return findHome()
  } catch {
    // A command that needs the folder reports that; a note must not fail a command that has done its work.
    return undefined
  }
}

function mayStartHook(read: FileRead): boolean {
  return read.kind === 'unreadable' || (read.kind === 'text' && (!read.whole || STARTS_HOOK.test(read.text)))
}

function wasSeen(root: string, session: string | undefined): boolean {
  try {
    return sessionsOfHook(lastMarkerEntries(root, JOURNAL_LIMIT).entries).has(session)
  } catch {
    // What cannot be read is reported by `status`.
    return false
  }
}

import fs from 'node:fs'
import path from 'node:path'
import { kindAt, kindIfSeen, realPathIfSeen, requireRead } from '../disk/file-facts.ts'
import { namesLike } from '../disk/folders.ts'
import { readSmallBytes, textIn } from '../disk/read.ts'
import type { HookHost } from '../hosts/hook-entries.ts'
import { FILE_DETAILS } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { attempt, jsonObjectIn, variable, withoutComments } from '../kernel/values.ts'
import type { CommandContext } from '../project/command-context.ts'
import { inMainCheckout, linkedWorktree } from '../project/root.ts'
import type { HooksFile } from './claude-hooks.ts'

export const SCOPES = ['project', 'local', 'user'] as const
export type Scope = (typeof SCOPES)[number]

/** The scopes of hosts other than Claude Code. */
export const HOST_SCOPES = ['project', 'user'] as const
export type HostScope = (typeof HOST_SCOPES)[number]

type Person = Pick<CommandContext, 'environment' | 'findHome'>

export function claudeFolder({ environment, findHome }: Person, scope: Scope, project: string): string {
  if (scope !== 'user') return path.join(project, '.claude')
  return variable(environment, 'CLAUDE_CONFIG_DIR') ?? path.join(findHome(), '.claude')
}

export function claudeSettingsPath(person: Person, scope: Scope, project: string): string {
  return path.join(claudeFolder(person, scope, project), scope === 'local' ? 'settings.local.json' : 'settings.json')
}

const MANAGED_FOLDERS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: '/Library/Application Support/ClaudeCode',
  win32: 'C:\\Program Files\\ClaudeCode',
}

/** Claude Code merges an organization's settings (2.1.332). */
function managedPaths({ platform }: Pick<CommandContext, 'platform'>): string[] {
  const folder = MANAGED_FOLDERS[platform] ?? '/etc/claude-code'
  return [path.join(folder, 'managed-settings.json'), ...jsonFilesIn(path.join(folder, 'managed-settings.d'))]
}

function jsonFilesIn(folder: string): string[] {
  return namesLike(folder, /^[^.].*\.json$/).map((name) => path.join(folder, name))
}

/** `project`: whose settings these are. `host`: if they are its `own`. */
export type Place = HooksFile & Readonly<{ scope: Scope; project: string; kind: 'claude' | 'managed' | 'own' }>

export function claudePlaces(person: Person, project: string): Place[] {
  return SCOPES.map((scope) => ({ scope, project, kind: 'claude', file: claudeSettingsPath(person, scope, project) }))
}

/** With those of an organization, and the main checkout's local ones, which a linked worktree shares (2.1.332). */
export function sessionPlaces(context: Person & Pick<CommandContext, 'platform'>, project: string): Place[] {
  const main = linkedWorktree(project)?.main
  const shared = main === undefined ? [] : claudePlaces(context, main).filter(({ scope }) => scope === 'local')
  const managed = managedPaths(context).map((file) => ({ scope: 'user', project, kind: 'managed', file }) as const)
  return [...managed, ...claudePlaces(context, project), ...shared]
}

/** Of all files that the host reads. */
export function hostPlaces(person: Person, host: HookHost, project: string): Place[] {
  const shared = host.readsClaudeSettings === true ? claudePlaces(person, project) : []
  const own = HOST_SCOPES.flatMap((scope) =>
    hookHostFiles(person, host, scope, project).map(
      (file) => ({ scope, project: projectRead(host, project), kind: 'own', file, host }) as const,
    ),
  )
  return [...shared.filter(({ scope }) => scope !== 'user'), ...own]
}

export function hookHostSettingsPath(person: Person, host: HookHost, scope: HostScope, project: string): string {
  const files = settingsOf(person, host, scope, project)
  const hooks = files.slice(0, -1).find((file) => kindIfSeen(realPathIfSeen(file)) !== undefined)
  const text = (hooks && textIn(realPathIfSeen(hooks))) ?? ''
  const listed = text.startsWith('\ufeff') ? {} : jsonObjectIn(withoutComments(text))
  const isUsed = host.entries('').some(({ event }) => Array.isArray(listed[event]))
  return (isUsed ? hooks : undefined) ?? (files.at(-1) as string)
}

function settingsOf(person: Person, host: HookHost, scope: HostScope, project: string): string[] {
  const folder = scope === 'user' ? hookHostFolder(person, host) : path.join(projectRead(host, project), host.folder)
  return [...(host.hooksFiles ?? []), host.file].map((name) => path.join(folder, name))
}

function hookHostFiles(person: Person, host: HookHost, scope: HostScope, project: string): string[] {
  const own = hookHostSettingsPath(person, host, scope, project)
  // A value in a later one counts (droid 0.225.2).
  if (host.projectHooks === undefined) return settingsOf(person, host, scope, project).toReversed()
  if (scope === 'project') return jsonFilesBelow(path.join(project, host.projectHooks))
  return distinctFiles([own, ...jsonFilesBelow(path.dirname(own))])
}

function jsonFilesBelow(folder: string): string[] {
  const folders = namesLike(folder, /^[^.]/).map((name) => path.join(folder, name))
  return [...jsonFilesIn(folder), ...folders.filter((one) => kindIfSeen(one) === 'folder').flatMap(jsonFilesBelow)]
}

/** In a linked worktree Codex reads the main checkout's file, if the worktree has such a folder too (0.171.0). */
function projectRead({ folder, readsMainCheckout }: HookHost, project: string): string {
  const isElsewhere = readsMainCheckout === true && kindAt(path.join(project, folder)) !== undefined
  return (isElsewhere ? inMainCheckout(project) : undefined) ?? project
}

export function hookHostFolder({ environment, findHome }: Person, { folder, folderVariable }: HookHost): string {
  const named = folderVariable === undefined ? undefined : variable(environment, folderVariable)
  return named ?? path.join(findHome(), folder)
}

/** OpenCode reads all of these, in this order (1.18.34). */
const OPENCODE_CONFIGS = ['opencode.json', 'opencode.jsonc'] as const

/** The existing ones. If none holds the plugin, `install` changes or creates the last one. */
export function openCodeConfigPaths({ environment, findHome }: Person, scope: HostScope, project: string): string[] {
  const user = path.join(variable(environment, 'XDG_CONFIG_HOME') ?? path.join(findHome(), '.config'), 'opencode')
  const folder = scope === 'user' ? user : project
  const present = (names: readonly string[]): string[] =>
    names.map((name) => path.join(folder, name)).filter((file) => kindAt(file) !== undefined)
  const others = scope === 'user' ? ['config.json'] : OPENCODE_CONFIGS.map((name) => `.opencode/${name}`)
  const own = present(OPENCODE_CONFIGS)
  return distinctFiles([...present(others), ...(own.length > 0 ? own : [path.join(folder, OPENCODE_CONFIGS[0])])])
}

export function distinctFiles(files: readonly string[]): string[] {
  const real = files.map(realPathIfSeen)
  return files.filter((_, index) => real.indexOf(real[index] as string) === index)
}

/** Refuses settings that are a link out of the project: a clone could link them to any of the user's files. */
export function requireInside(file: string, project: string): void {
  const outside = linkOutside(file, project)
  if (outside !== undefined) throw new PostflightError('file-unreadable', outside)
}

/** A link to nothing counts, because what is created there may lie outside. */
export function linkOutside(file: string, project: string): { path: string; detail: string } | undefined {
  for (let target = file; target !== path.dirname(target); target = path.dirname(target)) {
    const real = requireRead(target, () => fs.realpathSync.native(target))
    if (real === undefined) {
      if (kindAt(target) === 'link') return { path: target, detail: FILE_DETAILS.brokenLink }
      continue
    }
    if (leadsOut(fs.realpathSync.native(project), real)) return { path: target, detail: FILE_DETAILS.linkOutside }
    // The first folder that exists decides: its real path resolves the links above it.
    if (target !== file) return undefined
  }
  return undefined
}

export function leadsOut(project: string, real: string): boolean {
  const relative = path.relative(project, real)
  return relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)
}

/** In bytes. */
const MAX_BYTES = 8_388_608

/** Links are followed, because people link their settings from elsewhere. */
export function readSettingsFile(file: string): string | undefined {
  const refuse = (detail: string): never => {
    throw new PostflightError('file-unreadable', { path: file, detail })
  }
  const target = realPathIfSeen(file)
  const read = readSmallBytes(target, MAX_BYTES)
  if (read.kind === 'absent') return undefined
  if (read.kind === 'unreadable') return refuse(kindIfSeen(target) === 'link' ? FILE_DETAILS.brokenLink : read.detail)
  if (!read.whole) return refuse(FILE_DETAILS.largerThan(MAX_BYTES))
  // Invalid UTF-8 would be lost when the file is written again.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return attempt(() => decoder.decode(read.bytes)) ?? refuse(FILE_DETAILS.notUtf8)
}

import fs from 'node:fs'
import path from 'node:path'
import { kindAt, kindIfSeen } from '../../disk/file-facts.ts'
import { removeIfEmpty } from '../../disk/folders.ts'
import { readSmallFile, requireText } from '../../disk/read.ts'
import { removeFile, sync, tryRemoveFile } from '../../disk/write.ts'
import { claudeEntries, type HookHost } from '../../hosts/hook-entries.ts'
import { HOST_TITLES, hookHost } from '../../hosts/hook-hosts.ts'
import { FILE_DETAILS } from '../../kernel/error-messages.ts'
import { type ErrorArguments, PostflightError } from '../../kernel/errors.ts'
import { listed, quote } from '../../kernel/text.ts'
import { attempt, isJsonObject, jsonObjectIn, parseJson, withoutComments } from '../../kernel/values.ts'
import { type CommandContext, displayPath, projectFolder } from '../../project/command-context.ts'
import { inMainCheckout } from '../../project/root.ts'
import { addEntries, findCommands, type HooksFile, removeEntries } from '../claude-hooks.ts'
import { addPlugin, findPlugins, removePlugin } from '../opencode-plugins.ts'
import { missingRules, type Rules, removeRules, requireRules } from '../permission-rules.ts'
import * as reactive from '../reactive/reactive-rule.ts'
import type { HostScope, Scope } from '../settings-paths.ts'
import * as paths from '../settings-paths.ts'
import { listBackups, replaceSettingsFile, requireUnchanged } from '../settings-replace.ts'
import { hookCommand, openCodePlugin, ourHooks, ourPlugins } from './our-hooks.ts'
import {
  enabledPlugin,
  hookHostLocations,
  type Locations,
  type SettingsLocation,
  sessionLocations,
  uninstallLine,
} from './wiring.ts'

export const HOSTS: readonly string[] = Object.keys(HOST_TITLES)

export interface Target {
  readonly what: 'hook' | 'plugin' | 'reactive rules'
  readonly scope: Scope
  readonly project: string
  readonly files: readonly string[]
  readonly entry: string
  readonly portable: boolean
  readonly mayHaveRules?: true
  /** Whether the host reads only the last file. */
  readonly readsOne?: boolean
  readonly holds: (text: string, file: string) => boolean
  readonly add: (text: string, file: string) => string
  readonly remove: (text: string, file: string) => string
  readonly notes: readonly string[]
}

export function targetOf(context: CommandContext, name: string, scope: string): Target {
  if (!HOSTS.includes(name)) throw new PostflightError('host-unknown', { host: name, known: HOSTS.join(', ') })
  if (!paths.SCOPES.includes(scope as never)) throw new PostflightError('scope-unknown', { scope })
  const project = projectFolder(context)
  const host = hookHost(name)
  const target = findTarget(context, name, host, scope as Scope, project)
  const locations = host === undefined ? [] : hookHostLocations(context, host, project)
  // Files of the host that hold the hook, although `install` creates only the last one.
  const further = locations
    .filter((one) => one.kind === 'own' && one.scope === scope && one.commands.length > 0)
    .filter(({ file }) => !target.files.includes(file))
  const files = [...further.map(({ file }) => file), ...target.files]
  const relative = files.find((file) => !path.isAbsolute(file))
  if (relative !== undefined) {
    throw new PostflightError('cannot-write', { path: relative, detail: FILE_DETAILS.relativeFolder })
  }
  if (scope !== 'user') for (const file of files) paths.requireInside(file, project)
  const trust = host?.trust
  const notes = trust === undefined || (trust.onlyInProjects && scope === 'user') ? [] : [trust.note]
  if (host?.hooksFiles === undefined) return { ...target, files, notes }
  const others = locations.filter((one) => one.kind === 'own' && one.scope === scope && one.fault === undefined)
  return { ...target, files, readsOne: true, notes: [...notes, ...ignoredNotes(host, target, others)] }
}

/** droid reads no hooks of an event from its settings if its file of hooks lists that event (0.225.2). */
function ignoredNotes({ title, entries }: HookHost, { files, remove }: Omit<Target, 'notes'>, others: Locations) {
  const written = files.at(-1) as string
  const known = jsonObjectIn(withoutComments(paths.readSettingsFile(written) ?? ''))
  return others.flatMap(({ text, file }) => {
    const { hooks } = jsonObjectIn(withoutComments(remove(text, file)))
    if (file === written || !isJsonObject(hooks)) return []
    const events = new Set(entries('').map(({ event }) => event))
    const ignored = [...events].filter((event) => event in hooks && !(event in known))
    if (ignored.length === 0) return []
    return [`${title} ignores the ${listed(ignored)} hooks in ${file} from now on: move them to ${written}`]
  })
}

function findTarget(context: CommandContext, name: string, host: HookHost | undefined, scope: Scope, project: string) {
  if (isOfClaude(name, scope)) return claudeTarget(context, scope, project)
  if (scope === 'local') throw new PostflightError('scope-not-of-host', { scope, host: host?.title ?? 'OpenCode' })
  if (host === undefined) return openCodeTarget(context, scope, project)
  const main = scope === 'project' && host.readsMainCheckout === true ? inMainCheckout(project) : undefined
  if (main !== undefined)
    throw new PostflightError('scope-not-here', { host: host.title, folder: host.folder, path: main })
  return hookTarget(context, scope, project, paths.hookHostSettingsPath(context, host, scope, project), host)
}

/** Whether the entries go into Claude Code's settings, also because another host reads these. */
export function isOfClaude(host: string, scope: Scope): boolean {
  return host === 'claude' || (hookHost(host)?.readsClaudeSettings === true && scope !== 'user')
}

/** Prefers the file that already has some entries, so that they are never in two. */
export function locationOf({ files, holds, readsOne }: Target): string {
  const last = files.at(-1) as string
  return readsOne ? last : (files.findLast((file) => holds(paths.readSettingsFile(file) ?? '', file)) ?? last)
}

export function holdsOurRules(text: string, file: string): boolean {
  return removeRules(text, file, recordedRules(file)) !== text
}

function removeReactive(text: string, file: string): string {
  return removeEntries(text, { file }, reactive.isReactiveHook)
}

export function holdsReactive(text: string, file: string): boolean {
  return findCommands(text, { file }, reactive.isReactiveHook).length > 0
}

function claudeTarget(context: CommandContext, scope: Scope, project: string) {
  const file = paths.claudeSettingsPath(context, scope, project)
  const target = hookTarget(context, scope, project, file, { tellsProject: true, entries: claudeEntries })
  const add = (text: string, to: string): string => {
    requireRules(text, to)
    return target.add(text, to)
  }
  const remove = (text: string, from: string): string =>
    removeReactive(removeRules(target.remove(text, from), from, recordedRules(from)), from)
  return { ...target, mayHaveRules: true as const, add, remove }
}

function hookTarget(
  context: CommandContext,
  scope: Scope,
  project: string,
  settings: string,
  host: Pick<HookHost, 'tellsProject' | 'entries'> & HooksFile['host'],
): Omit<Target, 'notes'> {
  const { command, portable } = hookCommand(context, scope, project, host)
  const isOurs = ourHooks(context, project)
  const add = (text: string, file: string): string => addEntries(text, host.entries(command), { file, host }, isOurs)
  const holds = (text: string, file: string): boolean => findCommands(text, { file, host }, isOurs).length > 0
  const remove = (text: string, file: string): string => removeEntries(text, { file, host }, isOurs)
  return { what: 'hook', scope, project, files: [settings], entry: command, portable, holds, add, remove }
}

function openCodeTarget(context: CommandContext, scope: HostScope, project: string): Omit<Target, 'notes'> {
  const { plugin, portable } = openCodePlugin(context, scope, project)
  const files = paths.openCodeConfigPaths(context, scope, project)
  // OpenCode resolves a relative path from the file that names it.
  const specIn = (file: string): string => (portable && path.dirname(file) !== project ? `.${plugin}` : plugin)
  const add = (text: string, file: string): string => addPlugin(text, specIn(file), file, ourPlugins(file))
  const holds = (text: string, file: string): boolean => findPlugins(text, file, ourPlugins(file)).length > 0
  const remove = (text: string, file: string): string => removePlugin(text, file, ourPlugins(file))
  return { what: 'plugin', scope, project, files, entry: plugin, portable, holds, add, remove }
}

/** Hosts run each entry, so each stop would count twice. */
export function refuseSecond(context: CommandContext, name: string, target: Target): void {
  const { project, files, scope } = target
  if (isOfClaude(name, scope)) refuseSecondOfClaude(context, target)
  // Copilot CLI reads these settings too.
  const reader = name === 'claude' && scope !== 'user' ? 'copilot' : name
  const host = hookHost(reader)
  const locations = host === undefined ? [] : hookHostLocations(context, host, project)
  const others = locations
    .filter(({ file, kind }) => file !== files.at(-1) && (kind === 'own' || reader === name))
    .filter((one) => !target.readsOne || one.scope !== scope)
  const wired = others.find(({ commands }) => commands.length > 0)
  if (wired === undefined) return
  refuse('scope', displayPath(context, wired.file), `${uninstallLine(context)} --host ${reader} --scope ${wired.scope}`)
}

function refuseSecondOfClaude(context: CommandContext, { project, files, entry }: Target): void {
  const locations = sessionLocations(context, project)
  const isPlugin = fs.existsSync(path.join(context.packageFolder, '.claude-plugin', 'plugin.json'))
  const enabled = enabledPlugin(locations)
  const plugin = enabled?.name ?? (isPlugin ? 'postflight-guard' : undefined)
  const remove = enabled?.isManaged ? undefined : `claude plugin uninstall ${plugin}`
  if (plugin !== undefined) refuse('plugin', plugin, remove)
  const wired = locations.filter(({ commands }) => commands.length > 0)
  const isWished = ({ file }: SettingsLocation) => files.some((one) => paths.distinctFiles([file, one]).length === 1)
  for (const location of wired.filter((one) => !isWished(one))) {
    // Claude Code runs the same command once if settings list it twice (2.1.329); other hosts run both.
    const isSame = location.commands.every(({ command }) => command.startsWith(entry))
    const isManaged = location.kind === 'managed'
    // A linked worktree shares the local settings of the main checkout.
    const isOfMain = location.project !== project
    // Only Claude Code reads those.
    if (isSame && (isManaged || isOfMain || wired.some(isWished))) continue
    const at = isOfMain ? { ...context, rootOption: location.project } : context
    const command = isManaged ? undefined : `${uninstallLine(at)} --scope ${location.scope}`
    refuse(isSame ? 'same-command' : 'settings', displayPath(context, location.file), command)
  }
}

function refuse(wiredBy: ErrorArguments['already-wired']['wiredBy'], where: string, command?: string): never {
  throw new PostflightError('already-wired', { where, wiredBy, command })
}

export function reactiveTarget(context: CommandContext, host: string, scope: string, file: string): Target {
  const target = targetOf(context, host, scope)
  if (host !== 'claude') throw new PostflightError('rules-not-of-host', { host })
  const rules = loadRules(path.resolve(context.cwd, file), file)
  const entries = reactive.reactiveEntries(rules)
  const add = (text: string, file: string): string => addEntries(text, entries, { file }, reactive.isReactiveHook)
  const how = { entry: file, portable: true, add, remove: removeReactive, holds: holdsReactive }
  return { ...target, what: 'reactive rules', ...how, notes: reactive.omissionNotes(rules) }
}

function loadRules(file: string, shown: string) {
  const text = requireText(file, shown)
  const refuse = (rule: number | undefined, field: string, detail: string): never => {
    const ofField = field === '' ? '' : `, ${quote(field, 80)}`
    const location = rule === undefined ? '' : `, rule ${rule}${ofField}`
    throw new PostflightError('rules-invalid', { path: shown, location, detail })
  }
  const json = parseJson(text)
  if ('fault' in json) return refuse(undefined, '', json.fault)
  const rules = reactive.readRules(json.value)
  if ('detail' in rules) return refuse(rules.rule, rules.field, rules.detail)
  for (const [index, { tool, tools = [] }] of rules.entries()) {
    const unknown = [tool, ...tools].find((name) => reactive.claudeTool(name) === undefined)
    if (unknown !== undefined) {
      const known = `use one of ${reactive.TOOL_NAMES.join(', ')}, or Claude Code's own name of a tool`
      const detail = `Claude Code has no tool "${quote(unknown, 80)}": ${known}`
      refuse(index + 1, unknown === tool ? 'tool' : 'tools', detail)
    }
  }
  return rules
}

/** The file that tells `init`'s rules from the user's own. */
export function recordOf(settings: string): string {
  return `${settings}.postflight-rules`
}

function recordedRules(settings: string): readonly string[] {
  return attempt(() => readRecord(settings), [])
}

/** A file that cannot be read is not lost: without it, our rules would count as the user's. */
export function readRecord(settings: string): readonly string[] {
  const file = recordOf(settings)
  if (kindIfSeen(file) !== 'file') return []
  const json = parseJson(requireText(file, file))
  if ('fault' in json) throw new PostflightError('file-unreadable', { path: file, detail: json.fault })
  const rules = isJsonObject(json.value) ? json.value.added_rules : undefined
  return Array.isArray(rules) ? rules.filter((rule) => typeof rule === 'string') : []
}

export function recordRules(settings: string, before: string, rules: Rules): void {
  const added = [...readRecord(settings), ...missingRules(before, settings, rules)]
  const record = JSON.stringify({ added_rules: [...new Set(added)] }, null, 2)
  const file = recordOf(settings)
  replaceSettingsFile(file, `${record}\n`, paths.readSettingsFile(file), false)
}

export function removeRecord(target: Target, settings: string): void {
  const file = recordOf(settings)
  // An error of the disk may have kept the rules.
  if (holdsOurRules(paths.readSettingsFile(settings) ?? '', settings)) return
  const read = readSmallFile(file)
  if (read.kind === 'text') carryOut({ file, before: read.text, after: undefined, top: topOf(target) })
}

export type Removal = ReturnType<typeof removalsFrom>[number]

/** `isNeedless`: the backup has the same text as the file will have. */
export function removalsFrom(target: Target, files: readonly string[]) {
  return files.flatMap((file) => {
    const before = paths.readSettingsFile(file) ?? ''
    const rest = target.remove(before, file)
    if (rest === before) return []
    const backups = listBackups(file).map((backup) => {
      // An unreadable one stays, and does not stop `uninstall`.
      const text = attempt(() => paths.readSettingsFile(backup))
      return { file: backup, text, withoutOurs: attempt(() => text && target.remove(text, file), text) }
    })
    // A backup without our entries is of a file that existed before.
    const existed = backups.some(({ text, withoutOurs }) => text !== undefined && withoutOurs === text)
    // A link is not removed: its target would stay.
    const after = rest.trim() === '{}' && !existed && kindAt(file) !== 'link' ? undefined : rest
    const ofBackups = backups.map((backup) => ({ file: backup.file, isNeedless: backup.withoutOurs === (after ?? '') }))
    return [{ file, before, after, backups: ofBackups, top: topOf(target) }]
  })
}

/** Folders below `top` that become empty are removed too. */
type PlannedRemoval = Pick<Removal, 'file' | 'before' | 'after' | 'top'> & Partial<Pick<Removal, 'backups'>>

export function carryOut({ file, before, after, backups = [], top }: PlannedRemoval): void {
  requireUnchanged(file, before, after)
  // No backup: the only loss is entries that `install` can write again.
  if (after !== undefined) replaceSettingsFile(file, after, before, false)
  // Another `uninstall` may have removed it.
  else if (removeFile(file)) sync(path.dirname(file))
  for (const backup of backups) if (backup.isNeedless) tryRemoveFile(backup.file)
  if (top === undefined) return
  let folder = path.dirname(file)
  while (folder !== top && folder.startsWith(top) && removeIfEmpty(folder)) folder = path.dirname(folder)
}

function topOf({ scope, project }: Target): string | undefined {
  return scope === 'user' ? undefined : project
}

import { readSmallFile } from '../../disk/read.ts'
import type { HookHost } from '../../hosts/hook-entries.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { MARKER_FILE } from '../../kernel/files.ts'
import { shellWords } from '../../kernel/text.ts'
import { isJsonObject, jsonObjectIn, variable } from '../../kernel/values.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { linkedWorktree } from '../../project/root.ts'
import { commandOf, findCommands, removeEntries } from '../claude-hooks.ts'
import { requireRules } from '../permission-rules.ts'
import {
  claudeSettingsPath,
  distinctFiles,
  HOST_SCOPES,
  hookHostFiles,
  managedSettingsPaths,
  projectRead,
  readSettingsFile,
  requireInside,
  SCOPES,
  type Scope,
} from '../settings-paths.ts'
import { expanded, ourHooks } from './our-hooks.ts'

type Place = Readonly<{ scope: Scope; file: string; isClaudes: boolean }>

export type SettingsLocation = ReturnType<typeof locationOf>
export type Locations = readonly SettingsLocation[]

export function settingsLocations(context: CommandContext, project: string): SettingsLocation[] {
  const places = SCOPES.map((scope) => ({ scope, file: claudeSettingsPath(context, scope, project), isClaudes: true }))
  return locationsOf(context, project, places)
}

/** With the local settings of the main checkout, which Claude Code reads in a linked worktree too (2.1.332). */
export function sessionLocations(context: CommandContext, project: string): SettingsLocation[] {
  const main = linkedWorktree(project)?.main
  const shared = main === undefined ? [] : settingsLocations(context, main).filter(({ scope }) => scope === 'local')
  return [...settingsLocations(context, project), ...shared]
}

export function hookHostLocations(context: CommandContext, host: HookHost, project: string): SettingsLocation[] {
  const shared = host.readsClaudeSettings === true ? settingsLocations(context, project) : []
  const places = HOST_SCOPES.flatMap((scope) =>
    hookHostFiles(context, host, scope, project).map((file) => ({ scope, file, isClaudes: false })),
  )
  const own = locationsOf(context, projectRead(host, project), places)
  return [...shared.filter(({ scope }) => scope !== 'user'), ...own]
}

/** Scopes may share a file. */
function locationsOf(context: CommandContext, project: string, places: readonly Place[]): SettingsLocation[] {
  const files = distinctFiles(places.map(({ file }) => file))
  return files.map((file) => locationOf(context, project, places.find((place) => place.file === file) as Place))
}

/** `project`: whose settings these are, the main checkout's or of the folder that was asked for. */
function locationOf(context: CommandContext, project: string, place: Place) {
  const { scope, file, isClaudes } = place
  try {
    if (scope !== 'user') requireInside(file, project)
    const text = readSettingsFile(file) ?? ''
    if (isClaudes) requireRules(text, file)
    const commands = findCommands(text, file, ourHooks(context, project))
    return { ...place, project, text, commands, fault: undefined }
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return { ...place, project, text: '', commands: [], fault: error }
  }
}

/** Claude Code's order: the last file that sets a value decides. */
const READ_ORDER: readonly Scope[] = ['user', 'project', 'local']

function effective<T>(locations: Locations, pick: (settings: Record<string, unknown>) => T) {
  return READ_ORDER.flatMap((scope) => locations.filter((location) => location.scope === scope))
    .flatMap(({ text, file }) => {
      const value = pick(jsonObjectIn(text))
      return value === undefined ? [] : [{ value, file }]
    })
    .at(-1)
}

export function hooksDisabledIn(locations: Locations, name = 'disableAllHooks'): string | undefined {
  const found = effective(
    locations,
    ({ hooks, ...others }) => others[name] ?? (isJsonObject(hooks) ? hooks[name] : undefined),
  )
  return found?.value === true ? found.file : undefined
}

/** The settings of an organization. In these, a wrong value does not make Claude Code ignore the others (2.1.332). */
export function managedLocations(context: CommandContext, project: string): SettingsLocation[] {
  const places = managedSettingsPaths(context).map((file) => ({ scope: 'user' as const, file, isClaudes: false }))
  return locationsOf(context, project, places)
}

/** Other settings do not switch such a hook off (2.1.332). */
export function isInstalledIn(managed: Locations): boolean {
  return enabledPlugin(managed) !== undefined || managed.some(({ commands }) => commands.length > 0)
}

/** The settings of an organization with which Claude Code runs no hook of ours (2.1.332). */
export function forbidsHooks(managed: Locations, locations: Locations) {
  const forbids = ({ text }: SettingsLocation): boolean => {
    const { disableAllHooks, allowManagedHooksOnly, strictPluginOnlyCustomization: locked } = jsonObjectIn(text)
    if (disableAllHooks === true) return true
    if (isInstalledIn(managed)) return false
    const isLocked = locked === true || (Array.isArray(locked) && locked.includes('hooks'))
    return allowManagedHooksOnly === true || (isLocked && enabledPlugin(locations) === undefined)
  }
  return managed.find(forbids)?.file
}

/** Claude Code's settings come before its environment. */
export function guardDisabledIn(context: CommandContext, managed: Locations, locations: Locations) {
  const pick = ({ env }: Record<string, unknown>) => (isJsonObject(env) ? env.POSTFLIGHT_DISABLE : undefined)
  const found = effective(managed, pick) ?? effective(locations, pick)
  const value = found === undefined ? variable(context.environment, 'POSTFLIGHT_DISABLE') : String(found.value)
  if (value !== '1') return undefined
  return found === undefined
    ? { where: 'the environment', fix: 'unset POSTFLIGHT_DISABLE' }
    : { where: found.file, fix: 'remove POSTFLIGHT_DISABLE from "env" in that file' }
}

/** The marketplace's name follows it. */
const PLUGIN = /^postflight-guard@/

export function enabledPlugin(locations: Locations): { name: string; file: string } | undefined {
  const listed = ({ enabledPlugins }: Record<string, unknown>) => (isJsonObject(enabledPlugins) ? enabledPlugins : {})
  const names = locations
    .flatMap(({ text }) => Object.keys(listed(jsonObjectIn(text))))
    .filter((name) => PLUGIN.test(name))
  for (const name of names) {
    const found = effective(locations, (settings) => listed(settings)[name])
    if (found !== undefined && found.value !== false) return { name, file: found.file }
  }
  return undefined
}

const EVENT = 'SubagentStop'

/** In bytes. */
const SCRIPT_LIMIT = 65_536

export type ShellHookLocation = ReturnType<typeof shellHookLocations>[number]

export function shellHookLocations(context: CommandContext, project: string) {
  const isOurs = ourHooks(context, project)
  const isShellHook = (hook: unknown): boolean => {
    const command = commandOf(hook)
    return typeof command === 'string' && !isOurs(hook) && namesMarkers(context, project, command)
  }
  return settingsLocations(context, project).flatMap(({ text, file, scope }) => {
    const [first, ...others] = findCommands(text, file, isShellHook, EVENT).map(({ command }) => command)
    return first === undefined ? [] : { scope, file, commands: [first, ...others] as const }
  })
}

export function uninstallLine({ rootOption }: CommandContext): string {
  return commandLine(['uninstall'], rootOption)
}

export function removeCommand({ rootOption }: CommandContext, { scope }: ShellHookLocation): string {
  return `${commandLine(['init'], rootOption)} --scope ${scope} --skip hook --skip permissions --skip gitignore --skip skill --skip done`
}

export function removeShellHook(text: string, { file, commands }: ShellHookLocation): string {
  return removeEntries(text, file, (hook) => commands.includes(commandOf(hook) as string), EVENT)
}

function namesMarkers(context: CommandContext, project: string, command: string): boolean {
  if (command.includes(MARKER_FILE)) return true
  const words = shellWords(command) ?? command.replace(/["']/g, '').split(/[\s;|&<>()]+/)
  return words.some((word) => {
    const read = readSmallFile(expanded(context, project, word), SCRIPT_LIMIT)
    return read.kind === 'text' && read.text.includes(MARKER_FILE)
  })
}

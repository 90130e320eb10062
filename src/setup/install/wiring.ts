import { readSmallFile } from '../../disk/read.ts'
import type { HookHost } from '../../hosts/hook-entries.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { MARKER_FILE } from '../../kernel/files.ts'
import { shellWords } from '../../kernel/text.ts'
import { isJsonObject, jsonObjectIn, withoutComments } from '../../kernel/values.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { commandOf, findCommands, removeEntries } from '../claude-hooks.ts'
import { requireRules } from '../permission-rules.ts'
import * as paths from '../settings-paths.ts'
import { expanded, ourHooks } from './our-hooks.ts'

export type SettingsLocation = ReturnType<typeof locationOf>
export type Locations = readonly SettingsLocation[]

/** Claude Code's own settings. */
export function settingsLocations(context: CommandContext, project: string): SettingsLocation[] {
  return locationsOf(context, paths.claudePlaces(context, project))
}

/** All settings that Claude Code reads. */
export function sessionLocations(context: CommandContext, project: string): SettingsLocation[] {
  return locationsOf(context, paths.sessionPlaces(context, project))
}

export function hookHostLocations(context: CommandContext, host: HookHost, project: string): SettingsLocation[] {
  return locationsOf(context, paths.hostPlaces(context, host, project))
}

/** Scopes may share a file. */
function locationsOf(context: CommandContext, places: readonly paths.Place[]): SettingsLocation[] {
  const files = paths.distinctFiles(places.map(({ file }) => file))
  return files.map((file) => locationOf(context, places.find((place) => place.file === file) as paths.Place))
}

function locationOf(context: CommandContext, place: paths.Place) {
  const { scope, file, project, kind } = place
  try {
    if (scope !== 'user') paths.requireInside(file, project)
    const text = paths.readSettingsFile(file) ?? ''
    if (kind === 'claude') requireRules(text, file)
    const commands = findCommands(text, place, ourHooks(context, project))
    return { ...place, text, commands, fault: undefined }
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return { ...place, text: '', commands: [], fault: error }
  }
}

/** Claude Code's order, before the settings of an organization: the last file that sets a value decides. */
const READ_ORDER: readonly paths.Scope[] = ['user', 'project', 'local']

export function effective<T>(locations: Locations, pick: (settings: Record<string, unknown>) => T) {
  const rankOf = ({ kind, scope }: SettingsLocation) => (kind === 'managed' ? 3 : READ_ORDER.indexOf(scope))
  return locations
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .flatMap(({ text, file, kind }) => {
      const value = pick(jsonObjectIn(withoutComments(text)))
      return value === undefined ? [] : [{ value, file, isManaged: kind === 'managed' }]
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

/** The marketplace's name follows it. */
const PLUGIN = /^postflight-guard@/

export function enabledPlugin(locations: Locations) {
  const listed = ({ enabledPlugins }: Record<string, unknown>) => (isJsonObject(enabledPlugins) ? enabledPlugins : {})
  const names = locations
    .flatMap(({ text }) => Object.keys(listed(jsonObjectIn(text))))
    .filter((name) => PLUGIN.test(name))
  for (const name of names) {
    const found = effective(locations, (settings) => listed(settings)[name])
    if (found !== undefined && found.value !== false) return { ...found, name }
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
    const [first, ...others] = findCommands(text, { file }, isShellHook, EVENT).map(({ command }) => command)
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
  return removeEntries(text, { file }, (hook) => commands.includes(commandOf(hook) as string), EVENT)
}

function namesMarkers(context: CommandContext, project: string, command: string): boolean {
  if (command.includes(MARKER_FILE)) return true
  const words = shellWords(command) ?? command.replace(/["']/g, '').split(/[\s;|&<>()]+/)
  return words.some((word) => {
    const read = readSmallFile(expanded(context, project, word), SCRIPT_LIMIT)
    return read.kind === 'text' && read.text.includes(MARKER_FILE)
  })
}

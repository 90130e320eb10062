import * as z from 'zod/mini'
import { CLAUDE_SYNTAX, type HookHost, isOurCommand, type SettingsEntry } from '../hosts/hook-entries.ts'
import { isJsonObject } from '../kernel/values.ts'
import { keysOf, readDocument, type SettingsFile } from './json-document.ts'
import { appendToList, type IsOurs, removeFromList } from './list-editor.ts'

type Entries = readonly SettingsEntry<object>[]

/** droid's own switches are beside its events (0.225.2). */
const SWITCHES = { hooksDisabled: z.optional(z.unknown()), showHookOutput: z.optional(z.unknown()) }

const SHAPE = z.catchall(z.object(SWITCHES), z.array(z.unknown()))

/** Without a host, of Claude Code. */
export type HooksFile = Readonly<{ file: string; host?: Partial<Pick<HookHost, 'accepts' | 'hooksFiles'>> }>

function settingsAt({ file, host }: HooksFile): SettingsFile<Readonly<Record<string, unknown>>> {
  const isTop = host?.hooksFiles !== undefined && file.endsWith('hooks.json')
  return { path: file, accepts: host?.accepts ?? CLAUDE_SYNTAX, property: isTop ? undefined : 'hooks', shape: SHAPE }
}

export function addEntries(text: string, entries: Entries, settings: HooksFile, isOurs: IsOurs): string {
  if (isInstalled(text, entries, settings, isOurs)) return text
  const file = settingsAt(settings)
  return entries.reduce(
    (changed, { event, group }) => appendToList(changed, file, [...keysOf(file), event], group),
    removeEntries(text, settings, isOurs),
  )
}

export function removeEntries(text: string, settings: HooksFile, isOurs: IsOurs, event?: string): string {
  const file = settingsAt(settings)
  const keys = keysOf(file)
  const ours = ourGroups(text, settings, isOurs, event)
  const isOnly = (group: unknown): boolean => {
    const hooks = hooksOf(group)
    return hooks.length > 0 && hooks.every(isOurs)
  }
  // Groups that also hold other hooks come first: they stay, so no index changes.
  const unshared = ours.reduce((rest, { event, index, group }) => {
    return isOnly(group) ? rest : removeFromList(rest, file, [...keys, event, index, 'hooks'], isOurs)
  }, text)
  const events = [...new Set(ours.map((one) => one.event))]
  return events.reduce((rest, name) => removeFromList(rest, file, [...keys, name], isOnly), unshared)
}

export type WiredCommand = ReturnType<typeof findCommands>[number]

export function findCommands(text: string, settings: HooksFile, isOurs: IsOurs, event?: string) {
  return ourGroups(text, settings, isOurs, event).flatMap(({ event, index, group }) =>
    hooksOf(group).flatMap((one, hook) =>
      isOurs(one) ? { event, group: index, hook, command: commandOf(one) as string } : [],
    ),
  )
}

export function isInstalled(text: string, entries: Entries, settings: HooksFile, isOurs: IsOurs): boolean {
  const sorted = (list: readonly SettingsEntry<unknown>[]): string =>
    list
      .map(({ event, group }) => JSON.stringify([event, group], sortKeys))
      .sort()
      .join('\n')
  return sorted(ourGroups(text, settings, isOurs)) === sorted(entries)
}

/** Formatters may sort the keys of settings. */
function sortKeys(_key: string, value: unknown): unknown {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value
}

function ourGroups(text: string, settings: HooksFile, isOurs: IsOurs, only?: string) {
  return Object.entries(readDocument(text, settingsAt(settings)).value ?? {})
    .filter(([event]) => only === undefined || event === only)
    .flatMap(([event, groups]) =>
      (Array.isArray(groups) ? groups : []).flatMap((group, index) =>
        hooksOf(group).some(isOurs) ? [{ event, index, group: group as SettingsEntry<unknown>['group'] }] : [],
      ),
    )
}

function hooksOf(group: unknown): unknown[] {
  const hooks = (group as { hooks?: unknown } | null)?.hooks
  // Copilot CLI also runs hooks without a group (1.0.102).
  return Array.isArray(hooks) ? hooks : [group]
}

/** Copilot CLI also takes `bash` (1.0.102). */
export function commandOf(hook: unknown): unknown {
  const { command, bash } = (hook ?? {}) as { command?: unknown; bash?: unknown }
  return command ?? bash
}

/** Only the disk says whether it starts our package. */
export function isOurHook(hook: unknown): boolean {
  return isOurCommand(commandOf(hook))
}

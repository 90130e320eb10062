import * as z from 'zod/mini'
import type { SettingsEntry } from '../hosts/hook-entries.ts'
import { isOurCommand } from '../hosts/hook-entries.ts'
import { readDocument, type SettingsFile } from './json-document.ts'
import { appendToList, removeFromList } from './list-editor.ts'

/** Our hooks in Claude Code's settings: each event has a list of groups, and each group a list of hooks. */

type Hooks = Record<string, unknown[]>

function settingsAt(path: string): SettingsFile<Hooks> {
  return { path, comments: false, property: 'hooks', shape: z.record(z.string(), z.array(z.unknown())) }
}

/**
 * The text with each of our entries once; they replace our older ones of this kind. The same text if they are there already.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function addEntries(
  text: string,
  entries: readonly SettingsEntry<object>[],
  path: string,
  isOurs: IsOurs,
): string {
  if (isInstalled(text, entries, path, isOurs)) return text
  return entries.reduce(
    (changed, { event, group }) => appendToList(changed, settingsAt(path), ['hooks', event], group),
    removeEntries(text, path, isOurs),
  )
}

/**
 * The text without our entries, of one event if it is given. Lists and `hooks` that held nothing else are removed too.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function removeEntries(text: string, path: string, isOurs: IsOurs, event?: string): string {
  const file = settingsAt(path)
  const ours = ourGroups(text, path, isOurs, event)
  const isOnly = (group: unknown): boolean => isOnlyOurs(group, isOurs)
  // Shared groups first: they stay, so the indices do not change.
  const unshared = ours.reduce((rest, { event, index, group }) => {
    return isOnly(group) ? rest : removeFromList(rest, file, ['hooks', event, index, 'hooks'], isOurs)
  }, text)
  return ours.reduce((rest, { event }) => removeFromList(rest, file, ['hooks', event], isOnly), unshared)
}

/** Our commands in the settings, with their events; of one event if it is given. @throws {PostflightError} as `addEntries`. */
export function findCommands(
  text: string,
  path: string,
  isOurs: IsOurs,
  event?: string,
): { event: string; command: string }[] {
  return ourGroups(text, path, isOurs, event).flatMap(({ event, group }) =>
    hooksOf(group)
      .filter(isOurs)
      .map((hook) => ({ event, command: (hook as { command: string }).command })),
  )
}

/** The places of our hooks: the event, the index of the group in its list, and that of the hook in the group. */
export function findPlaces(
  text: string,
  path: string,
  isOurs: IsOurs,
): { event: string; group: number; hook: number }[] {
  return ourGroups(text, path, isOurs).flatMap(({ event, index, group }) =>
    hooksOf(group).flatMap((one, hook) => (isOurs(one) ? [{ event, group: index, hook }] : [])),
  )
}

/** True if the settings have each of our entries once, and no older ones. @throws {PostflightError} as `addEntries`. */
export function isInstalled(
  text: string,
  entries: readonly SettingsEntry<object>[],
  path: string,
  isOurs: IsOurs,
): boolean {
  const sorted = (list: readonly { event: string; group: unknown }[]): string =>
    list
      .map(({ event, group }) => JSON.stringify([event, group]))
      .sort()
      .join('\n')
  return sorted(ourGroups(text, path, isOurs)) === sorted(entries)
}

/** Our entries in the settings, by event. @throws {PostflightError} as `addEntries`. */
export function findEntries(text: string, path: string, isOurs: IsOurs): SettingsEntry<object>[] {
  return ourGroups(text, path, isOurs).map(({ event, group }) => ({ event, group }) as SettingsEntry<object>)
}

/** A group of the settings that contains a hook of ours. */
interface OurGroup {
  readonly event: string
  /** Its index in the event's list. */
  readonly index: number
  readonly group: unknown
}

function ourGroups(text: string, path: string, isOurs: IsOurs, only?: string): OurGroup[] {
  return Object.entries(readDocument(text, settingsAt(path)).held ?? {})
    .filter(([event]) => only === undefined || event === only)
    .flatMap(([event, groups]) =>
      groups.map((group, index) => ({ event, index, group })).filter(({ group }) => hooksOf(group).some(isOurs)),
    )
}

/** Tells our hooks from the user's; there are two kinds of ours, which are added and removed independently. */
export type IsOurs = (hook: unknown) => boolean

/** The hooks of a group; none for anything else. */
function hooksOf(group: unknown): unknown[] {
  const hooks = (group as { hooks?: unknown } | null)?.hooks
  return Array.isArray(hooks) ? hooks : []
}

/** True for a hook whose command has the form of ours. Whether it starts our package, only the disk knows. */
export function isOurHook(hook: unknown): hook is { command: string } {
  return isOurCommand((hook as { command?: unknown } | null)?.command)
}

/** True for a group that has only our hooks, so that it is removed with them. */
function isOnlyOurs(group: unknown, isOurs: IsOurs): boolean {
  const hooks = hooksOf(group)
  return hooks.length > 0 && hooks.every(isOurs)
}

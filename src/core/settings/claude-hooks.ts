import * as z from 'zod/mini'
import { isOurCommand, type SettingsEntry } from './hook-entries.ts'
import { readDocument, type SettingsFile } from './json-document.ts'
import { appendToList, removeFromList } from './list-editor.ts'

/** Our hooks in Claude Code's settings: a list of groups per event, each group with a list of commands. Pure. */

type Hooks = Record<string, unknown[]>

function settingsAt(path: string): SettingsFile<Hooks> {
  return { path, comments: false, property: 'hooks', shape: z.record(z.string(), z.array(z.unknown())) }
}

/**
 * The text with our entries in it, each once, ours of old ones replaced. The same text when they are there already.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function addEntries(text: string, entries: readonly SettingsEntry[], path: string): string {
  if (isInstalled(text, entries, path)) return text
  return entries.reduce(
    (changed, { event, group }) => appendToList(changed, settingsAt(path), ['hooks', event], group),
    removeEntries(text, path),
  )
}

/**
 * The text without our entries; lists and `hooks` that held nothing else go too.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function removeEntries(text: string, path: string): string {
  const file = settingsAt(path)
  const ours = ourGroups(text, path)
  // First out of the groups that others share: those stay, so the indices do.
  const unshared = ours.reduce((rest, { event, index, group }) => {
    return isOnlyOurs(group) ? rest : removeFromList(rest, file, ['hooks', event, index, 'hooks'], isOurHook)
  }, text)
  return ours.reduce((rest, { event }) => removeFromList(rest, file, ['hooks', event], isOnlyOurs), unshared)
}

/** Our commands in the settings, by event. @throws {PostflightError} as `addEntries`. */
export function findCommands(text: string, path: string): { event: string; command: string }[] {
  return ourGroups(text, path).flatMap(({ event, group }) =>
    hooksOf(group)
      .filter(isOurHook)
      .map(({ command }) => ({ event, command })),
  )
}

/** True when our entries are there, each once, and no others of ours. @throws {PostflightError} as `addEntries`. */
export function isInstalled(text: string, entries: readonly SettingsEntry[], path: string): boolean {
  const sorted = (list: readonly { event: string; group: unknown }[]): string =>
    list
      .map(({ event, group }) => JSON.stringify([event, group]))
      .sort()
      .join('\n')
  return sorted(ourGroups(text, path)) === sorted(entries)
}

/** A group of the settings in which a command of ours stands. */
interface OurGroup {
  readonly event: string
  /** Its place in the event's list. */
  readonly index: number
  readonly group: unknown
}

function ourGroups(text: string, path: string): OurGroup[] {
  return Object.entries(readDocument(text, settingsAt(path)).held ?? {}).flatMap(([event, groups]) =>
    groups.map((group, index) => ({ event, index, group })).filter(({ group }) => hooksOf(group).some(isOurHook)),
  )
}

function hooksOf(group: unknown): unknown[] {
  const hooks = (group as { hooks?: unknown } | null)?.hooks
  return Array.isArray(hooks) ? hooks : []
}

function isOurHook(hook: unknown): hook is { command: string } {
  return isOurCommand((hook as { command?: unknown } | null)?.command)
}

/** True for a group that goes with our commands: it holds no others. */
function isOnlyOurs(group: unknown): boolean {
  const hooks = hooksOf(group)
  return hooks.length > 0 && hooks.every(isOurHook)
}

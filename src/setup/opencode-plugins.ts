import * as z from 'zod/mini'
import { readDocument, type SettingsFile } from './json-document.ts'
import { appendToList, removeFromList } from './list-editor.ts'

/** Our plugin in OpenCode's configuration (`opencode.json`, JSON with comments): an entry in its list of plugins. */

/** The plugin's file. Its name identifies it as ours in any copy of this package. */
export const PLUGIN_FILE = 'dist/opencode/postflight-guard.mjs'

const LIST = ['plugin']

/** OpenCode 1.18.34 reads comments and trailing commas. */
function configAt(path: string): SettingsFile<unknown[]> {
  return { path, comments: true, property: 'plugin', shape: z.array(z.unknown()) }
}

/** Tells our entries from the user's. */
export type IsOurs = (entry: unknown) => boolean

/**
 * True for an entry in the form of ours: the plugin's file in any copy of this package, or the package's name. Whether the
 * file is ours, only the disk knows.
 */
export function isOurPlugin(entry: unknown): boolean {
  const spec = specOf(entry)
  return (
    typeof spec === 'string' &&
    (/[/\\]dist[/\\]opencode[/\\]postflight-guard\.mjs$/.test(spec) || /^postflight-guard(?:@[^/]*)?$/.test(spec))
  )
}

/** Our entries in a configuration. @throws {PostflightError} as `addPlugin`. */
export function findPlugins(text: string, path: string, isOurs: IsOurs): string[] {
  return (readDocument(text, configAt(path)).held ?? []).filter(isOurs).map((entry) => String(specOf(entry)))
}

/**
 * The text with `spec` once in its list of plugins; it replaces our older entries. The same text if it is there already.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function addPlugin(text: string, spec: string, path: string, isOurs: IsOurs): string {
  const [present, ...others] = findPlugins(text, path, isOurs)
  if (present === spec && others.length === 0) return text
  return appendToList(removePlugin(text, path, isOurs), configAt(path), LIST, spec)
}

/**
 * The text without our entries. A list that held nothing else is removed too.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function removePlugin(text: string, path: string, isOurs: IsOurs): string {
  return removeFromList(text, configAt(path), LIST, isOurs)
}

/** The plugin that an entry names: the entry is a string, or a list of a string and options. */
export function specOf(entry: unknown): unknown {
  return Array.isArray(entry) ? entry[0] : entry
}

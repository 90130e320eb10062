import * as z from 'zod/mini'
import { readDocument, type SettingsFile } from './json-document.ts'
import { appendToList, removeFromList } from './list-editor.ts'

/** Our plugin in OpenCode's configuration (`opencode.json`, JSON with comments): a list of plugins. Pure. */

/** The plugin's file; its name says that it is ours wherever this package lies. */
export const PLUGIN_FILE = 'dist/opencode/postflight-guard.mjs'

const LIST = ['plugin']

/** Comments and trailing commas, as OpenCode 1.18.33 reads them. */
function configAt(path: string): SettingsFile<unknown[]> {
  return { path, comments: true, property: 'plugin', shape: z.array(z.unknown()) }
}

/** True for an entry of ours: the plugin's file of any copy of this package, or the package by its name. */
export function isOurPlugin(entry: unknown): boolean {
  const spec = specOf(entry)
  return (
    typeof spec === 'string' &&
    (/[/\\]dist[/\\]opencode[/\\]postflight-guard\.mjs$/.test(spec) || /^postflight-guard(?:@[^/]*)?$/.test(spec))
  )
}

/** The entries of ours in a configuration. @throws {PostflightError} as `addPlugin`. */
export function findPlugins(text: string, path: string): string[] {
  return (readDocument(text, configAt(path)).held ?? []).filter(isOurPlugin).map((entry) => String(specOf(entry)))
}

/**
 * The text with `spec` in its list of plugins, once, ours of old ones replaced. The same text when it is there already.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function addPlugin(text: string, spec: string, path: string): string {
  const [present, ...others] = findPlugins(text, path)
  if (present === spec && others.length === 0) return text
  return appendToList(removePlugin(text, path), configAt(path), LIST, spec)
}

/**
 * The text without entries of ours; a list that held nothing else goes too.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function removePlugin(text: string, path: string): string {
  return removeFromList(text, configAt(path), LIST, isOurPlugin)
}

/** What an entry names: it is a text, or a list of that and its options. */
function specOf(entry: unknown): unknown {
  return Array.isArray(entry) ? entry[0] : entry
}

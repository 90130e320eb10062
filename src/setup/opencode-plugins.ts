import * as z from 'zod/mini'
import { OPENCODE_SYNTAX } from '../hosts/hook-entries.ts'
import { readDocument, type SettingsFile } from './json-document.ts'
import { appendToList, type IsOurs, removeFromList } from './list-editor.ts'

export const PLUGIN_FILE = 'dist/opencode/postflight-guard.mjs'

const LIST = ['plugin']
const SHAPE = z.array(z.unknown())

function configAt(path: string): SettingsFile<unknown[]> {
  return { path, accepts: OPENCODE_SYNTAX, property: 'plugin', shape: SHAPE }
}

/** Only the disk says whether the file is ours. */
export function isOurPlugin(entry: unknown): boolean {
  const spec = specOf(entry)
  return (
    typeof spec === 'string' &&
    (/[/\\]dist[/\\]opencode[/\\]postflight-guard\.mjs$/.test(spec) || /^postflight-guard(?:@[^/]*)?$/.test(spec))
  )
}

export function findPlugins(text: string, path: string, isOurs: IsOurs): string[] {
  return entriesIn(text, path, isOurs).map((entry) => String(specOf(entry)))
}

function entriesIn(text: string, path: string, isOurs: IsOurs): unknown[] {
  return (readDocument(text, configAt(path)).value ?? []).filter(isOurs)
}

export function addPlugin(text: string, spec: string, path: string, isOurs: IsOurs): string {
  const present = entriesIn(text, path, isOurs)
  if (present.length === 1 && specOf(present[0]) === spec) return text
  // `[spec, options]`: the options are the user's.
  const options = present.find(Array.isArray)?.slice(1)
  const entry = options?.length ? [spec, ...options] : spec
  return appendToList(removePlugin(text, path, isOurs), configAt(path), LIST, entry)
}

export function removePlugin(text: string, path: string, isOurs: IsOurs): string {
  return removeFromList(text, configAt(path), LIST, isOurs)
}

export function specOf(entry: unknown): unknown {
  return Array.isArray(entry) ? entry[0] : entry
}

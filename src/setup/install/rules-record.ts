import { readSmallFile } from '../../disk/read.ts'
import { isJsonObject } from '../../kernel/json-object.ts'
import { missingRules, type Rules } from '../permission-rules.ts'
import { removeSettingsFile, replaceSettingsFile } from '../settings-replace.ts'

/**
 * The record of the permission rules that `init` added to a settings file, beside that file: a rule that the user had
 * before looks the same, and stays. People who share the settings share the record.
 */

/** The record of a settings file. */
export function recordOf(settings: string): string {
  return `${settings}.postflight-rules`
}

/** The size of the largest record that is read, in bytes. */
const RECORD_LIMIT = 65_536

/** The rules that the record names; none where it is missing or unusable. */
export function recordedRules(settings: string): readonly string[] {
  const read = readSmallFile(recordOf(settings), RECORD_LIMIT)
  if (read.kind !== 'text') return []
  try {
    const record: unknown = JSON.parse(read.text)
    const rules = isJsonObject(record) ? record.added_rules : undefined
    return Array.isArray(rules) ? rules.filter((rule) => typeof rule === 'string') : []
  } catch {
    return []
  }
}

/** Records the rules that `init` is about to add to the settings, whose text is `before`, with those that it added earlier. */
export function recordRules(settings: string, before: string, rules: Rules): void {
  const added = [...recordedRules(settings), ...missingRules(before, settings, rules)]
  const record = JSON.stringify({ added_rules: [...new Set(added)] }, null, 2)
  replaceSettingsFile(recordOf(settings), `${record}\n`, undefined)
}

/** Removes the record, if there is one. */
export function removeRecord(settings: string): void {
  const record = recordOf(settings)
  if (readSmallFile(record, RECORD_LIMIT).kind === 'text') removeSettingsFile(record)
}

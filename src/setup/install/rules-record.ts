import { readSmallFile } from '../../disk/read.ts'
import { isJsonObject } from '../../kernel/values.ts'
import { missingRules, type Rules } from '../permission-rules.ts'
import { removeSettingsFile, replaceSettingsFile } from '../settings-replace.ts'

/** Tells rules that `init` added from those that the user had before. */

export function recordOf(settings: string): string {
  return `${settings}.postflight-rules`
}

/** In bytes. */
const RECORD_LIMIT = 65_536

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

export function recordRules(settings: string, before: string, rules: Rules): void {
  const added = [...recordedRules(settings), ...missingRules(before, settings, rules)]
  const record = JSON.stringify({ added_rules: [...new Set(added)] }, null, 2)
  replaceSettingsFile(recordOf(settings), `${record}\n`, undefined)
}

export function removeRecord(settings: string): void {
  const record = recordOf(settings)
  if (readSmallFile(record, RECORD_LIMIT).kind === 'text') removeSettingsFile(record)
}

import { messageOf } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { DONE_FILE, SPECS_FOLDER } from '../kernel/files.ts'
import { type PlacedFinding, readYamlText } from '../kernel/yaml-text.ts'
import { type DoneRule, readRules } from './done-rules.ts'

/** Parses `specs/done.yaml`. The hook never loads this: it reads the copy that a person trusted. */

export function parseDoneFile(
  text: string,
): { readonly rules: readonly DoneRule[] } | { readonly faults: readonly PlacedFinding[] } {
  const read = readYamlText(text, false)
  if (read.kind === 'fault') return { faults: [read.fault] }
  const result = readRules(read.value)
  if ('rules' in result) return result
  const placed = result.faults.map(read.location)
  return { faults: placed.sort((one, other) => one.line - other.line || one.column - other.column) }
}

export function requireRules(text: string): readonly DoneRule[] {
  const parsed = parseDoneFile(text)
  if ('rules' in parsed) return parsed.rules
  throw faultError(parsed.faults)
}

export function doneFault(faults: readonly PlacedFinding[]): string {
  return messageOf(faultError(faults)).replace(/\.$/, '')
}

function faultError(faults: readonly PlacedFinding[]): PostflightError {
  const [{ line, column, where, detail }, ...others] = faults as readonly [PlacedFinding, ...PlacedFinding[]]
  return new PostflightError('done-invalid', {
    path: `${SPECS_FOLDER}/${DONE_FILE}`,
    location: `:${line}:${column}`,
    detail: where === '' ? detail : `${where}: ${detail}`,
    more: others.length,
  })
}

import { messageOf, PostflightError } from '../kernel/errors.ts'
import { DONE_PATH } from '../kernel/files.ts'
import { quotedNames } from '../kernel/text.ts'
import { firstOf, type PlacedFinding, readYamlText } from '../kernel/yaml-text.ts'
import { readRules, repairDoneFile } from './done-rules.ts'
import { readDoneFile } from './trust-store.ts'

/** The hook never loads this: it reads the trusted copy. */

export function parseDoneFile(text: string) {
  const read = readYamlText(text, false)
  if ('faults' in read) return read
  const result = readRules(read.value)
  return 'rules' in result ? result : { faults: read.place(result.faults) }
}

export function requireDoneRules(text: string) {
  const parsed = parseDoneFile(text)
  if ('rules' in parsed) return parsed.rules
  throw faultError(parsed.faults)
}

/** Undefined if the file is valid or unreadable. */
export function invalidDoneFile(root: string, isTrusted: boolean, trust: string) {
  const file = readDoneFile(root)
  const parsed = file.kind === 'text' ? parseDoneFile(file.text) : undefined
  if (parsed === undefined || 'rules' in parsed) return undefined
  const fault = messageOf(faultError(parsed.faults)).replace(/\.$/, '')
  const effect = isTrusted ? 'the rules that were trusted stay in force' : 'it has no effect'
  return { message: `${fault}; ${effect}`, fix: repairDoneFile(trust) }
}

export function describeRules(names: readonly string[]): string {
  return names.length === 0 ? 'it has no rules' : quotedNames(names)
}

function faultError(faults: readonly PlacedFinding[]): PostflightError {
  return new PostflightError('done-invalid', { path: DONE_PATH, ...firstOf(faults) })
}

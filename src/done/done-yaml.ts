import * as z from 'zod/mini'
import { described, optionally } from '../kernel/described.ts'
import { messageOf, PostflightError } from '../kernel/errors.ts'
import { MAX_ALTERNATIVES } from '../kernel/file-pattern.ts'
import { DONE_PATH } from '../kernel/files.ts'
import { quotedNames } from '../kernel/text.ts'
import { MAX_CHECKS } from '../kernel/values.ts'
import { firstOf, type PlacedFinding, placedInOrder, readYamlText } from '../kernel/yaml-text.ts'
import {
  MAX_COMMAND,
  MAX_NAME,
  MAX_PATTERN,
  MAX_TIMEOUT_MS,
  readRules,
  repairDoneFile,
  TEXT,
  TIMEOUT,
} from './done-rules.ts'
import { readDoneFile } from './trust-store.ts'

/** Parses `specs/done.yaml`. The hook never loads this: it reads the trusted copy. */

export function parseDoneFile(text: string) {
  const read = readYamlText(text, false)
  if (read.kind === 'fault') return { faults: [read.fault] }
  const result = readRules(read.value)
  if ('rules' in result) return result
  return { faults: placedInOrder(result.faults, read.locate) }
}

export function requireRules(text: string) {
  const parsed = parseDoneFile(text)
  if ('rules' in parsed) return parsed.rules
  throw faultError(parsed.faults)
}

/** Undefined if the file is valid or cannot be read. */
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

const one = (longest: number) => z.string().check(z.regex(TEXT), z.maxLength(longest))

const oneOrMore = (longest: number, description: string) =>
  described(
    z.union([one(longest), z.array(one(longest)).check(z.minLength(1), z.maxLength(MAX_ALTERNATIVES))]),
    description,
  )

const rule = z.strictObject({
  name: optionally(one(MAX_NAME), 'The name of the rule in reasons and lists.'),
  when: oneOrMore(MAX_PATTERN, 'Patterns of files, relative to the root: when one of these changed, the rule is due.'),
  unless: z.optional(oneOrMore(MAX_PATTERN, 'Patterns of files that do not count.')),
  check: oneOrMore(MAX_COMMAND, 'Shell commands that must succeed, run at the root by `postflight done`.'),
  timeout: optionally(
    z.union([z.string().check(z.regex(TIMEOUT)), z.int().check(z.minimum(1), z.maximum(MAX_TIMEOUT_MS / 1000))]),
    'The longest time of each command: 90s, 5m, 1h, or seconds.',
  ),
})

export const RULES_SCHEMA = z.strictObject({
  done: described(
    z.array(rule).check(z.maxLength(MAX_CHECKS)),
    'The rules. An agent is not done before the checks of each that is due succeed.',
  ),
})

import path from 'node:path'
import { readSmallFile } from '../../disk/read.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { FILE_DETAILS } from '../../kernel/file-messages.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { addEntries } from '../claude-hooks.ts'
import { claudeTool, isReactiveHook, omissionsOf, reactiveEntries, TOOL_NAMES } from '../reactive/reactive-hooks.ts'
import { RULES_TEXT } from '../reactive/reactive-messages.ts'
import { type ReactiveRule, readRules } from '../reactive/reactive-rule.ts'
import { holdsReactive, removeReactive, type Target, targetOf } from './target.ts'

/** Claude Code's settings, into which reactive rules go as hooks of its own. */

/** The size of the largest file of rules that is read, in bytes. */
const RULES_LIMIT = 1_048_576

/**
 * The settings of a scope for the rules in `file`. They replace the rules that are there.
 * @throws {PostflightError} `rules-invalid`, `rules-not-of-host`, `file-unreadable`; as `targetOf`.
 */
export function reactiveTarget(
  context: CommandContext,
  { host, scope, file }: { readonly host: string; readonly scope: string; readonly file: string },
): Target {
  const target = targetOf(context, host, scope)
  if (host !== 'claude') throw new PostflightError('rules-not-of-host', { host })
  const rules = loadRules(path.resolve(context.cwd, file), file)
  const entries = reactiveEntries(rules)
  const add = (text: string, settings: string): string => addEntries(text, entries, settings, isReactiveHook)
  return {
    ...target,
    ...{ what: 'reactive rules', key: 'rules', entry: file, portable: true },
    ...{ add, remove: removeReactive, holds: holdsReactive },
    notes: omissionsOf(rules).map(({ rule, field, value }) => RULES_TEXT.omitted[field](rule, value)),
  }
}

function loadRules(file: string, shown: string): readonly ReactiveRule[] {
  const read = readSmallFile(file, RULES_LIMIT)
  if (read.kind !== 'text' || !read.whole) {
    const detail = read.kind === 'absent' ? 'ENOENT' : read.kind === 'text' ? FILE_DETAILS.tooLarge : read.detail
    throw new PostflightError('file-unreadable', { path: shown, detail })
  }
  const refuse = (rule: number | undefined, field: string, detail: string): never => {
    throw new PostflightError('rules-invalid', { path: shown, place: RULES_TEXT.place(rule, field), detail })
  }
  const rules = readRules(parse(read.text, (detail) => refuse(undefined, '', detail)))
  if ('detail' in rules) return refuse(rules.rule, rules.field, rules.detail)
  for (const [index, { tool, tools = [] }] of rules.entries()) {
    const unknown = [tool, ...tools].find((name) => claudeTool(name) === undefined)
    if (unknown !== undefined) {
      refuse(index + 1, unknown === tool ? 'tool' : 'tools', RULES_TEXT.tool(unknown, TOOL_NAMES))
    }
  }
  return rules
}

function parse(text: string, refuse: (detail: string) => never): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    return refuse((error as Error).message)
  }
}

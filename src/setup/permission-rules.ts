import * as z from 'zod/mini'
import { CLAUDE_SYNTAX } from '../hosts/hook-entries.ts'
import { PostflightError } from '../kernel/errors.ts'
import { jsonObjectIn } from '../kernel/values.ts'
import { readDocument, type SettingsFile } from './json-document.ts'
import { appendToList, removeFromList } from './list-editor.ts'

/**
 * Our permission rules in Claude Code's settings. Claude Code takes the first match of deny, ask and allow, in this
 * order, and matches each part of a compound command by itself (measured with 2.1.329). `X *` matches X without
 * arguments too. Before it matches, it removes quotes and backslashes and asks about variables and braces, but not
 * about file name patterns (2.1.330).
 */

const LISTS = ['allow', 'ask'] as const
export type Rules = Readonly<Record<(typeof LISTS)[number], readonly string[]>>

/** With options before each word too (`--root . install`); the star in front covers every way to start the CLI. */
const STARTS_COMMANDS = [
  ...['*--check*', '*--step-check*', '*--run-checks*', '*--trust*'],
  ...['install*', '-*install*', 'trust*', '-*trust*'],
  ...['start', 'resume'].flatMap((word) => [`workflow ${word}*`, `-*workflow*${word}*`, `workflow -*${word}*`]),
]

export function rulesOf(freeCommands: readonly string[], isDependency: boolean): Rules {
  const starts = isDependency ? ['postflight', 'npx --no-install postflight'] : ['postflight']
  return {
    allow: starts.flatMap((start) => freeCommands.map((words) => `Bash(${start} ${words} *)`)),
    ask: STARTS_COMMANDS.map((words) => `Bash(*postflight ${words})`),
  }
}

const RULES = z.optional(z.array(z.unknown()))
const SHAPE = z.looseObject({ allow: RULES, ask: RULES, deny: RULES })

function settingsAt(path: string): SettingsFile<z.output<typeof SHAPE>> {
  return { path, accepts: CLAUDE_SYNTAX, property: 'permissions', shape: SHAPE }
}

/** `claude doctor` names each wrong value. */
const READ = z.looseObject({
  disableAllHooks: z.optional(z.boolean()),
  env: z.optional(z.looseObject({})),
  enabledPlugins: z.optional(z.looseObject({})),
})

/** Claude Code ignores the whole file if the rules, or one of these, have another shape (2.1.332). */
export function requireRules(text: string, path: string): void {
  readDocument(text, settingsAt(path))
  const [issue] = READ.safeParse(jsonObjectIn(text)).error?.issues ?? []
  if (issue === undefined) return
  const { expected } = issue as { expected: 'object' | 'boolean' }
  throw new PostflightError('settings-wrong-shape', { path, property: String(issue.path[0]), expected })
}

export function addRules(text: string, path: string, rules: Rules): string {
  return missingIn(text, path, rules).reduce(
    (changed, { list, rule }) => appendToList(changed, settingsAt(path), ['permissions', list], rule),
    text,
  )
}

export function missingRules(text: string, path: string, rules: Rules): string[] {
  return missingIn(text, path, rules).map(({ rule }) => rule)
}

function missingIn(text: string, path: string, rules: Rules) {
  const { value } = readDocument(text, settingsAt(path))
  return LISTS.flatMap((list) =>
    rules[list].filter((rule) => !value?.[list]?.includes(rule)).map((rule) => ({ list, rule })),
  )
}

const ABOUT_US = /^Bash\(.*postflight/

export function countRules(text: string, path: string): number {
  const { value } = readDocument(text, settingsAt(path))
  const isAboutUs = (rule: unknown): boolean => typeof rule === 'string' && ABOUT_US.test(rule)
  return LISTS.reduce((sum, list) => sum + (value?.[list]?.filter(isAboutUs).length ?? 0), 0)
}

/** The record of these may come with a clone, so only rules about our commands are removed. */
export function removeRules(text: string, path: string, added: readonly string[]): string {
  const ours: readonly unknown[] = added.filter((rule) => ABOUT_US.test(rule))
  // Other hosts may keep something else in "permissions".
  if (ours.length === 0) return text
  return LISTS.reduce(
    (rest, list) => removeFromList(rest, settingsAt(path), ['permissions', list], (rule) => ours.includes(rule)),
    text,
  )
}

import * as z from 'zod/mini'
import { readDocument, type SettingsFile } from './json-document.ts'
import { appendToList, removeFromList } from './list-editor.ts'

/**
 * Our permission rules in Claude Code's settings. Claude Code takes the first match of deny, ask and allow, in this order,
 * and matches each part of a compound command by itself (measured with 2.1.329). `X *` matches X without arguments too.
 */

type List = 'allow' | 'ask'

/** The commands of the protocol: an agent may use them without asking. */
const PROTOCOL = [
  ...['create', 'step', 'wait', 'clear', 'status', 'inspect', 'explain', 'doctor', 'logs'],
  ...['workflow status', 'workflow next', 'workflow check', 'workflow validate', 'workflow history', 'workflow graph'],
]

/** The ways in which an agent starts the CLI. */
const STARTS = ['postflight', 'npx --no-install postflight']

/** The commands that can start a command of the agent's choice. The star in front covers every way to start the CLI. */
const STARTS_COMMANDS = [
  ...['*--check*', '*--step-check*', '*--run-checks*', '*--trust*'],
  ...['workflow start*', 'workflow resume*', 'install*'],
]

const RULES: readonly { readonly list: List; readonly rule: string }[] = [
  ...STARTS.flatMap((start) =>
    PROTOCOL.map((words) => ({ list: 'allow' as const, rule: `Bash(${start} ${words} *)` })),
  ),
  ...STARTS_COMMANDS.map((words) => ({ list: 'ask' as const, rule: `Bash(*postflight ${words})` })),
]

const LISTS: readonly List[] = ['allow', 'ask']

/** Our rules of one list. */
export function rulesOf(list: List): string[] {
  return RULES.flatMap((one) => (one.list === list ? one.rule : []))
}

const SHAPE = z.looseObject({ allow: z.optional(z.array(z.unknown())), ask: z.optional(z.array(z.unknown())) })

function settingsAt(path: string): SettingsFile<z.output<typeof SHAPE>> {
  return { path, comments: false, property: 'permissions', shape: SHAPE }
}

/**
 * The text with each of our rules. The same text if they are there already.
 * @throws {PostflightError} `settings-not-json`, `settings-too-deep`, `settings-wrong-shape`.
 */
export function addRules(text: string, path: string): string {
  const { held } = readDocument(text, settingsAt(path))
  return RULES.filter(({ list, rule }) => !held?.[list]?.includes(rule)).reduce(
    (changed, { list, rule }) => appendToList(changed, settingsAt(path), ['permissions', list], rule),
    text,
  )
}

/** Our rules that the settings lack. @throws {PostflightError} as `addRules`. */
export function missingRules(text: string, path: string): string[] {
  const { held } = readDocument(text, settingsAt(path))
  return RULES.flatMap(({ list, rule }) => (held?.[list]?.includes(rule) ? [] : rule))
}

/**
 * The text without the rules that `init` added. Lists and `permissions` that held nothing else are removed too. The
 * record of these may come with a clone, so only rules about our commands are removed.
 * @throws {PostflightError} as `addRules`.
 */
export function removeRules(text: string, path: string, added: readonly string[]): string {
  const ours = added.filter((rule) => /^Bash\(.*postflight/.test(rule))
  return LISTS.reduce(
    (rest, list) =>
      removeFromList(rest, settingsAt(path), ['permissions', list], (rule) => ours.includes(rule as string)),
    text,
  )
}

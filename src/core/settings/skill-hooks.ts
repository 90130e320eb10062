import {
  type Document,
  isMap,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  stringify,
  type YAMLMap,
} from 'yaml'
import { PostflightError } from '../errors.ts'
import { isJsonObject } from '../json-object.ts'
import type { SettingsEntry } from './hook-entries.ts'
import { hooksOf, isOnlyOurs, isOurHook } from './hook-groups.ts'

/**
 * Our hooks in the front matter of a skill (`hooks:` in SKILL.md), as edits of whole lines: everything else stays the
 * same to the byte. Each edit is checked: the front matter must then mean the same as before, plus our hooks. Otherwise
 * the skill is refused.
 */

/** The events for which Claude Code runs a skill's hooks (2.1.329): not those of sub-agents or of the session's start. */
const SKILL_EVENTS: readonly string[] = ['Stop', 'PostToolUse']

/** Those of our entries that a skill can hold. */
export function skillEntries(entries: readonly SettingsEntry[]): SettingsEntry[] {
  return entries.filter(({ event }) => SKILL_EVENTS.includes(event))
}

/**
 * The text of a skill with each of our entries once; they replace our older ones. The same text if they are there already.
 * @throws {PostflightError} `skill-front-matter`, `skill-layout`, `skill-forked`.
 */
export function addSkillHooks(text: string, entries: readonly SettingsEntry[], path: string): string {
  const front = readFront(text, path)
  if (isForked(front)) throw new PostflightError('skill-forked', { path })
  if (same(ourGroups(front.value), entries)) return text
  return skillEntries(entries).reduce((changed, entry) => addEntry(changed, entry, path), removeSkillHooks(text, path))
}

/** The text of a skill without our entries. @throws {PostflightError} as `addSkillHooks`. */
export function removeSkillHooks(text: string, path: string): string {
  const front = readFront(text, path)
  if (ourGroups(front.value).length === 0) return text
  const rest = oursIn(front).reduceRight(
    (changed, [start, end]) => changed.slice(0, start) + changed.slice(end),
    front.yaml,
  )
  return checked(front, rest, withoutOurs(front.value), path)
}

/** Our commands in a skill, with their events; none in a skill that cannot be read. */
export function findSkillCommands(text: string): { event: string; command: string }[] {
  try {
    return ourGroups(readFront(text, '').value).flatMap(({ event, group }) =>
      hooksOf(group)
        .filter(isOurHook)
        .map(({ command }) => ({ event, command })),
    )
  } catch {
    return []
  }
}

/** True for a skill that runs as a sub-agent: Claude Code 2.1.329 never starts its hooks. */
export function isForkedSkill(text: string): boolean {
  try {
    return isForked(readFront(text, ''))
  } catch {
    return false
  }
}

function isForked({ value }: Front): boolean {
  return value.context === 'fork'
}

/** The front matter of a skill. */
interface Front {
  /** The text before and after the YAML. */
  readonly before: string
  readonly after: string
  readonly yaml: string
  readonly document: Document
  readonly value: Record<string, unknown>
  readonly lineEnd: string
}

function readFront(text: string, path: string): Front {
  const [whole, before = '', yaml = ''] = /^(\ufeff?---[ \t]*\r?\n)([\s\S]*?)^---[ \t]*$/m.exec(text) ?? []
  if (whole === undefined || !text.startsWith(before))
    throw new PostflightError('skill-front-matter', { path, fault: '' })
  const document = parseDocument(yaml)
  const [error] = document.errors
  if (error !== undefined) throw new PostflightError('skill-front-matter', { path, fault: error.code })
  const value: unknown = document.toJS()
  const after = text.slice(before.length + yaml.length)
  const lineEnd = before.endsWith('\r\n') ? '\r\n' : '\n'
  return { before, after, yaml, document, value: isJsonObject(value) ? value : {}, lineEnd }
}

function addEntry(text: string, entry: SettingsEntry, path: string): string {
  const front = readFront(text, path)
  const { yaml, document, value } = front
  const hooks = document.get('hooks', true) as Node | undefined
  const groups = isMap(hooks) ? (hooks.get(entry.event, true) as Node | undefined) : undefined
  const [at, indent, added] =
    hooks === undefined
      ? [yaml.length, 0, { hooks: { [entry.event]: [entry.group] } }]
      : groups === undefined
        ? [endOf(yaml, hooks), columnOf(yaml, hooks), { [entry.event]: [entry.group] }]
        : [endOf(yaml, groups), columnOf(yaml, groups), [entry.group]]
  const block = stringify(added, { lineWidth: 0 })
    .replace(/^(?=.)/gm, ' '.repeat(indent))
    .replaceAll('\n', front.lineEnd)
  const changed = yaml.slice(0, at) + block + yaml.slice(at)
  const old = isJsonObject(value.hooks) ? value.hooks : {}
  const list = old[entry.event]
  const all = { ...old, [entry.event]: [...(Array.isArray(list) ? list : []), entry.group] }
  return checked(front, changed, { ...value, hooks: all }, path)
}

/** The skill with another front matter. @throws {PostflightError} `skill-layout` where it does not say `expected`. */
function checked(front: Front, yaml: string, expected: unknown, path: string): string {
  const document = parseDocument(yaml)
  if (document.errors.length > 0 || JSON.stringify(document.toJS() ?? {}) !== JSON.stringify(expected)) {
    throw new PostflightError('skill-layout', { path })
  }
  return front.before + yaml + front.after
}

/** The lines of the largest parts that are ours alone, in the order of the text. */
function oursIn({ document, yaml }: Front): Lines[] {
  const pair = (document.contents as YAMLMap).items.find((item) => nameOf(item) === 'hooks') as Pair
  const events = isMap(pair.value) ? pair.value.items : []
  const isOurs = (node: unknown): boolean =>
    groupsOf(node).length > 0 && groupsOf(node).every((group) => isOnlyOurs(plain(group)))
  if (events.length > 0 && events.every(({ value }) => isOurs(value))) return [linesOf(yaml, pair.key, pair.value)]
  return events.flatMap(({ key, value }) => {
    if (isOurs(value)) return [linesOf(yaml, key, value)]
    return groupsOf(value).flatMap((group) => {
      if (isOnlyOurs(plain(group))) return [linesOf(yaml, group, group)]
      const hooks: unknown = isMap(group) ? group.get('hooks', true) : undefined
      return groupsOf(hooks).flatMap((hook) => (isOurHook(plain(hook)) ? [linesOf(yaml, hook, hook)] : []))
    })
  })
}

/** A part of the text, from the start of a line to the end of one. */
type Lines = readonly [start: number, end: number]

function linesOf(yaml: string, first: unknown, last: unknown): Lines {
  const start = (first as Node).range?.[0] ?? 0
  return [yaml.lastIndexOf('\n', start - 1) + 1, endOf(yaml, last as Node)]
}

/** The end of the last line of a node. */
function endOf(yaml: string, node: Node): number {
  const [start = 0, end = 0] = node.range ?? []
  const last = start + yaml.slice(start, end).trimEnd().length
  const newline = yaml.indexOf('\n', last)
  return newline === -1 ? yaml.length : newline + 1
}

/** The column of a node's first line. */
function columnOf(yaml: string, node: Node): number {
  const start = node.range?.[0] ?? 0
  return start - (yaml.lastIndexOf('\n', start - 1) + 1)
}

function nameOf({ key }: Pair): unknown {
  return (key as Scalar | null)?.value
}

function groupsOf(node: unknown): readonly unknown[] {
  return isSeq(node) ? node.items : []
}

function plain(node: unknown): unknown {
  return (node as { toJSON?: () => unknown } | null)?.toJSON?.()
}

function ourGroups(value: Record<string, unknown>): { event: string; group: unknown }[] {
  const hooks = isJsonObject(value.hooks) ? value.hooks : {}
  return Object.entries(hooks).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((group) =>
      hooksOf(group).some(isOurHook) ? [{ event, group }] : [],
    ),
  )
}

/** The same value without our hooks, and without the parts that held nothing else. */
function withoutOurs(value: Record<string, unknown>): Record<string, unknown> {
  const events = Object.entries(value.hooks as Record<string, unknown>).flatMap(([event, groups]) => {
    if (!Array.isArray(groups)) return [[event, groups]]
    const kept = groups.flatMap((group) => {
      if (!hooksOf(group).some(isOurHook)) return [group]
      const hooks = hooksOf(group).filter((hook) => !isOurHook(hook))
      return hooks.length === 0 ? [] : [{ ...group, hooks }]
    })
    return kept.length === 0 && groups.length > 0 ? [] : [[event, kept]]
  })
  const { hooks: _, ...rest } = value
  return events.length === 0 ? rest : { ...value, hooks: Object.fromEntries(events) }
}

function same(ours: readonly { event: string; group: unknown }[], entries: readonly SettingsEntry[]): boolean {
  const sorted = (list: readonly { event: string; group: unknown }[]): string =>
    list
      .map(({ event, group }) => `${event} ${stringify(group, { sortMapEntries: true })}`)
      .sort()
      .join('\n')
  return sorted(ours) === sorted(skillEntries(entries))
}

import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
} from 'jsonc-parser'
import * as z from 'zod/mini'
import { PostflightError } from './errors.ts'
import { childrenOf, faultAt, namesIn, type Style, splitMark, styleOf } from './json-text.ts'
import { isOurCommand, type SettingsEntry } from './settings-entries.ts'

/**
 * Our entries in a host's settings file, put in and taken out as edits of its text, so that everything else stays as
 * it was, to the byte. Pure: text in, text out.
 */

/** As much of a settings file as must be so before we may add to it; the rest is the user's and the host's affair. */
const SETTINGS = z.looseObject({ hooks: z.optional(z.record(z.string(), z.array(z.unknown()))) })

/** The settings, understood as far as hooks go. */
interface SettingsDocument {
  readonly hooks: Readonly<Record<string, readonly unknown[]>>
  /** The names in `hooks`, also such as the schema passes over ("__proto__"); undefined where there is no `hooks`. */
  readonly names: readonly string[] | undefined
}

/**
 * The text with our entries in it, each once, ours of old ones replaced. The same text when they are there already.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function addEntries(text: string, entries: readonly SettingsEntry[], path: string): string {
  const document = readSettings(text, path)
  if (hasExactly(document, entries)) return text
  const cleaned = removeEntries(text, path)
  let { mark, body } = splitMark(cleaned)
  const empty = body.trim() === ''
  if (empty) body = '{}'
  for (const { event, group } of entries) {
    const { hooks, names } = readSettings(body, path)
    const present = hooks[event]
    body =
      present === undefined
        ? insert(body, ['hooks', event], [group], names === undefined ? 1 : 2)
        : insert(body, ['hooks', event, present.length], group, 3)
  }
  return mark + body + (empty ? '\n' : '')
}

/**
 * Inserts a value, laid out as the file is, and touches nothing else. The library's own layout would reformat the
 * neighbours too, so only its place for the edit is taken.
 */
function insert(body: string, path: (string | number)[], value: unknown, depth: number): string {
  const isItem = typeof path.at(-1) === 'number'
  // One edit, always: what is put in is not there yet.
  const [edit] = modify(body, path, value, {}) as [Edit]
  const style = styleOf(body)
  const comma = edit.content.startsWith(',') ? ',' : ''
  const text = edit.content.slice(comma.length)
  // A file that is one line stays one.
  const content = style === undefined ? text : layOut(text, isItem, style, depth, comma === '')
  return applyEdits(body, [{ ...edit, content: comma + content }])
}

function layOut(text: string, isItem: boolean, style: Style, depth: number, first: boolean): string {
  const pretty = isItem
    ? JSON.stringify(JSON.parse(text), null, style.indent)
    : // The property alone: without the braces that make it JSON.
      JSON.stringify(JSON.parse(`{${text}}`), null, style.indent)
        .slice(1, -1)
        .trim()
        .replaceAll(`\n${style.indent}`, '\n')
  const margin = style.eol + style.indent.repeat(depth)
  const end = first ? style.eol + style.indent.repeat(depth - 1) : ''
  return margin + pretty.replaceAll('\n', margin) + end
}

/**
 * The text without our entries; lists and `hooks` that held nothing else go too.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function removeEntries(text: string, path: string): string {
  const split = splitMark(text)
  const { mark } = split
  let { body } = split
  for (;;) {
    const target = findOurs(readSettings(body, path))
    if (target === undefined) return mark + body
    body = takeOut(body, target)
  }
}

/**
 * Takes one thing out, with the comma and the blank space before it (of the first one: after it). The library's own
 * edit for the last item of a list takes it for granted that a blank stands before the bracket, and breaks the file
 * where none does.
 */
function takeOut(body: string, path: (string | number)[]): string {
  // The path was found in the values a moment ago, so it is in the tree.
  const value = findNodeAtLocation(parseTree(body) as Node, path) as Node
  const holder = value.parent as Node
  const node = holder.type === 'property' ? holder : value
  const container = node.parent as Node
  const siblings = childrenOf(container)
  const at = siblings.indexOf(node)
  const previous = siblings[at - 1]
  const next = siblings[at + 1]
  const end = node.offset + node.length
  if (previous !== undefined) return body.slice(0, previous.offset + previous.length) + body.slice(end)
  if (next !== undefined) return body.slice(0, node.offset) + body.slice(next.offset)
  return body.slice(0, container.offset + 1) + body.slice(end)
}

/** Our commands in the settings, by event. */
export function findCommands(text: string, path: string): { event: string; command: string }[] {
  return Object.entries(readSettings(text, path).hooks).flatMap(([event, groups]) =>
    groups.flatMap(commandsOf).flatMap((command) => (isOurCommand(command) ? [{ event, command }] : [])),
  )
}

/** True when our entries are there, each once, and no others of ours. */
export function isInstalled(text: string, entries: readonly SettingsEntry[], path: string): boolean {
  return hasExactly(readSettings(text, path), entries)
}

function hasExactly(document: SettingsDocument, entries: readonly SettingsEntry[]): boolean {
  const ours = Object.entries(document.hooks).flatMap(([event, groups]) =>
    groups.filter((group) => commandsOf(group).some(isOurCommand)).map((group) => ({ event, group })),
  )
  const keyed = (list: readonly { event: string; group: unknown }[]): string[] =>
    list.map(({ event, group }) => `${event} ${JSON.stringify(group)}`).sort()
  return JSON.stringify(keyed(ours)) === JSON.stringify(keyed(entries))
}

/** The path of one thing to take out: our command, or the group, list or object that holds nothing but it. */
function findOurs(document: SettingsDocument): (string | number)[] | undefined {
  for (const [event, groups] of Object.entries(document.hooks)) {
    for (const [index, group] of groups.entries()) {
      const commands = commandsOf(group)
      const at = commands.findIndex(isOurCommand)
      if (at === -1) continue
      if (commands.length > 1) return ['hooks', event, index, 'hooks', at]
      if (groups.length > 1) return ['hooks', event, index]
      const isOnly = (document.names as readonly string[]).length === 1
      return isOnly ? ['hooks'] : ['hooks', event]
    }
  }
  return undefined
}

/** The command of each hook in a group; undefined for hooks of another kind. */
function commandsOf(group: unknown): unknown[] {
  const hooks: unknown = (group as { hooks?: unknown } | null)?.hooks
  return Array.isArray(hooks) ? hooks.map((hook: unknown) => (hook as { command?: unknown } | null)?.command) : []
}

function readSettings(text: string, path: string): SettingsDocument {
  const { body } = splitMark(text)
  if (body.trim() === '') return { hooks: {}, names: undefined }
  const errors: ParseError[] = []
  parse(body, errors, { allowTrailingComma: false, disallowComments: true })
  const [error] = errors
  if (error !== undefined) {
    throw new PostflightError('settings-not-json', { path, ...faultAt(body, error) })
  }
  // Not what the lenient parser gives: it takes a key "__proto__" for the object's prototype.
  const value: unknown = JSON.parse(body)
  const read = SETTINGS.safeParse(value)
  if (!read.success) {
    const [{ path: place }] = read.error.issues as [z.core.$ZodIssue]
    const where = place.length === 0 ? 'the whole file' : `"${place.join('.')}"`
    // Two steps down stand the events; all above them are objects.
    const expected = place.length === 2 ? 'a list' : 'an object'
    throw new PostflightError('settings-wrong-shape', { path, where, expected })
  }
  refuseTwins(body, path)
  const { hooks } = value as { hooks?: object }
  return { hooks: read.data.hooks ?? {}, names: hooks && Object.keys(hooks) }
}

/**
 * Of two keys of one name a host reads the last and an edit finds the first: nobody could tell what we changed, and
 * what the first holds could be lost.
 */
function refuseTwins(body: string, path: string): void {
  const root = parseTree(body) as Node
  const isTwin = namesIn(root).filter((name) => name === 'hooks').length > 1
  const hooks = findNodeAtLocation(root, ['hooks'])
  const twin = isTwin ? 'hooks' : hooks && findTwin(hooks)
  if (twin !== undefined) {
    throw new PostflightError('settings-wrong-shape', { path, where: `"${twin}"`, expected: 'there only once' })
  }
}

/** A key that stands twice in an object at or below the node. */
function findTwin(node: Node): string | undefined {
  const seen = new Set<string>()
  for (const name of namesIn(node)) {
    if (seen.has(name)) return name
    seen.add(name)
  }
  for (const child of node.children ?? []) {
    const below = findTwin(child)
    if (below !== undefined) return below
  }
  return undefined
}

import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type * as z from 'zod/mini'
import { PostflightError } from '../errors.ts'

/** A settings file as a tree over its text. What is not understood, or could be understood in two ways, is refused. */

/** What must be true of a host's settings file before it is edited. */
export interface SettingsFile<T> {
  /** For messages. */
  readonly path: string
  /** True where the host reads JSON with comments and trailing commas. */
  readonly comments: boolean
  /** The one property of the file that holds our entries; all others are left to the user and the host. */
  readonly property: string
  /** The shape of that property's value. */
  readonly shape: z.ZodMiniType<T>
}

/** A settings file that can be edited. */
export interface SettingsDocument<T> {
  /** The byte-order mark, where the file begins with one. */
  readonly mark: string
  /** The text behind it. */
  readonly body: string
  /** The object that is the file; undefined where the file holds nothing but blanks and comments. */
  readonly root: Node | undefined
  /** The value of the property; undefined where the file has none. */
  readonly held: T | undefined
}

/**
 * Reads the text of a settings file.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function readDocument<T>(text: string, file: SettingsFile<T>): SettingsDocument<T> {
  const { path, comments, property } = file
  const { mark, body } = splitMark(text)
  if (body.trim() === '') return { mark, body: '', root: undefined, held: undefined }
  const errors: ParseError[] = []
  const options = { disallowComments: !comments, allowTrailingComma: comments, allowEmptyContent: true }
  const root = parseTree(body, errors, options)
  const [error] = errors
  if (error !== undefined) throw new PostflightError('settings-not-json', { path, ...faultAt(body, error) })
  if (root === undefined) return { mark, body, root, held: undefined }
  const wrong = (where: string, expected: string): PostflightError =>
    new PostflightError('settings-wrong-shape', { path, where, expected })
  if (root.type !== 'object') throw wrong('the whole file', 'an object')
  const [first, second] = propertiesOf(root).filter(({ name }) => name === property)
  if (first === undefined) return { mark, body, root, held: undefined }
  // Of two keys of one name a host reads the last and an edit finds the first, so what one of them holds could be lost.
  const twin = second === undefined ? findTwin(first.value) : property
  if (twin !== undefined) throw wrong(`"${twin}"`, 'there only once')
  const read = file.shape.safeParse(plainValue(first.value))
  if (read.success) return { mark, body, root, held: read.data }
  const [issue] = read.error.issues as [z.core.$ZodIssueInvalidType]
  throw wrong(`"${[property, ...issue.path].join('.')}"`, issue.expected === 'array' ? 'a list' : 'an object')
}

/** What stands in an object or a list: properties, or values. */
export function childrenOf(container: Node): readonly Node[] {
  return container.children ?? []
}

/** A node's value. The library's own function takes a key "__proto__" for the object's prototype. */
export function plainValue(node: Node): unknown {
  if (node.type === 'array') return childrenOf(node).map(plainValue)
  if (node.type !== 'object') return node.value
  return Object.fromEntries(propertiesOf(node).map(({ name, value }) => [name, plainValue(value)]))
}

/** The text without its byte-order mark, and the mark. */
export function splitMark(text: string): { mark: string; body: string } {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  return { mark, body: text.slice(mark.length) }
}

/** An object's properties, in the order of the text; none for a node of another kind. */
function propertiesOf(node: Node): { name: string; value: Node }[] {
  if (node.type !== 'object') return []
  return childrenOf(node).map(({ children }) => {
    const [name, value] = children as [Node, Node]
    return { name: name.value, value }
  })
}

/** A name that two properties of one object share, in the node or in what it holds. */
function findTwin(node: Node): string | undefined {
  const seen = new Set<string>()
  for (const { name } of propertiesOf(node)) {
    if (seen.has(name)) return name
    seen.add(name)
  }
  for (const child of childrenOf(node)) {
    const twin = findTwin(child)
    if (twin !== undefined) return twin
  }
  return undefined
}

/** Where the parser gave up, counted from 1, and why. */
function faultAt(body: string, { offset, error }: ParseError): { line: number; column: number; detail: string } {
  const before = body.slice(0, offset)
  const words = printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n'), detail: words }
}

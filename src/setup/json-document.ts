import type { Node, ParseError, SyntaxKind } from 'jsonc-parser'
import { createScanner, parseTree, printParseErrorCode } from 'jsonc-parser'
import type * as z from 'zod/mini'
import type { Syntax } from '../hosts/hook-entries.ts'
import { PostflightError } from '../kernel/errors.ts'

/** `property`: undefined if its value is the whole document. */
export type SettingsFile<T> = Readonly<{
  path: string
  accepts: Syntax
  property: string | undefined
  shape: z.ZodMiniType<T>
}>

type SettingsDocument<T> = ReturnType<typeof parsedDocument<T>>

export function readDocument<T>(text: string, file: SettingsFile<T>): SettingsDocument<T> {
  const { accepts, property, shape } = file
  const key = [text, accepts, property, shape]
  if (key.every((part, index) => part === last?.key[index])) return last?.document as SettingsDocument<T>
  const document = parsedDocument(text, file)
  last = { key, document }
  return document
}

/** Several edits in a row read the same text. */
let last: { key: readonly unknown[]; document: SettingsDocument<unknown> } | undefined

function parsedDocument<T>(text: string, file: SettingsFile<T>) {
  const { path, accepts, property } = file
  const mark = accepts.includes('mark') && text.startsWith(MARK) ? MARK : ''
  const body = text.slice(mark.length)
  if (body.trim() === '') return { mark, body: '', root: undefined, value: undefined }
  if (isTooDeep(body)) throw new PostflightError('settings-too-deep', { path, limit: MAX_DEPTH })
  const errors: ParseError[] = []
  const allowTrailingComma = accepts.includes('trailing commas')
  const options = { disallowComments: !accepts.includes('comments'), allowTrailingComma, allowEmptyContent: true }
  const root = parseTree(body, errors, options)
  const [error] = errors
  if (error !== undefined) throw new PostflightError('settings-not-json', { path, ...faultAt(body, error) })
  if (root === undefined) return { mark, body, root, value: undefined }
  const wrong = (name: string | undefined, expected: 'object' | 'list' | 'unique'): PostflightError =>
    new PostflightError('settings-wrong-shape', { path, property: name, expected })
  if (root.type !== 'object') throw wrong(undefined, 'object')
  const whole = property === undefined && { name: '', value: root }
  const [first, second] = whole ? [whole] : propertiesOf(root).filter(({ name }) => name === property)
  if (first === undefined) return { mark, body, root, value: undefined }
  // If a key occurs twice, a host reads the last one and an edit finds the first, so one value could be lost.
  const twin = second === undefined ? findTwin(first.value) : property
  if (twin !== undefined) throw wrong(twin, 'unique')
  const read = file.shape.safeParse(plainValue(first.value))
  if (read.success) return { mark, body, root, value: read.data }
  const [issue] = read.error.issues as [z.core.$ZodIssueInvalidType]
  throw wrong([...keysOf(file), ...issue.path].join('.'), issue.expected === 'array' ? 'list' : 'object')
}

export function keysOf({ property }: Pick<SettingsFile<unknown>, 'property'>): string[] {
  return property === undefined ? [] : [property]
}

const MARK = '\ufeff'
const MAX_DEPTH = 500
const OPENING: readonly SyntaxKind[] = [1, 3]
const CLOSING: readonly SyntaxKind[] = [2, 4]
const END: SyntaxKind = 17

function isTooDeep(body: string): boolean {
  const scanner = createScanner(body)
  let depth = 0
  for (let token = scanner.scan(); token !== END; token = scanner.scan()) {
    if (OPENING.includes(token)) depth += 1
    if (CLOSING.includes(token)) depth -= 1
    if (depth > MAX_DEPTH) return true
  }
  return false
}

export function childrenOf(container: Node): readonly Node[] {
  return container.children ?? []
}

/** `getNodeValue` makes objects without a prototype, which cannot become text when a list is sorted. */
export function plainValue(node: Node): unknown {
  if (node.type === 'array') return childrenOf(node).map(plainValue)
  if (node.type !== 'object') return node.value
  return Object.fromEntries(propertiesOf(node).map(({ name, value }) => [name, plainValue(value)]))
}

function propertiesOf(node: Node) {
  if (node.type !== 'object') return []
  return childrenOf(node).map(({ children }) => {
    const [name, value] = children as [Node, Node]
    return { name: name.value as string, value }
  })
}

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

function faultAt(body: string, { offset, error }: ParseError): { line: number; column: number; fault: string } {
  const before = body.slice(0, offset)
  const fault = body.startsWith(MARK) ? 'ByteOrderMark' : printParseErrorCode(error)
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n'), fault }
}

import { type Node, type ParseError, printParseErrorCode } from 'jsonc-parser'

/** A JSON file that is edited as text: where it is wrong, what stands in it, how it is laid out. Pure. */

/** What stands in an object or a list: properties, or values. */
export function childrenOf(container: Node): Node[] {
  return container.children as Node[]
}

/** The names of an object's properties, as often as they stand there; none of what is no object. */
export function namesIn(node: Node): string[] {
  if (node.type !== 'object') return []
  return childrenOf(node).map((property) => (property.children as [Node, Node])[0].value)
}

/** Where a parser gave up, from 1, and why. */
export function faultAt(body: string, { offset, error }: ParseError): { line: number; column: number; detail: string } {
  const before = body.slice(0, offset)
  const words = printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n'), detail: words }
}

const BYTE_ORDER_MARK = '\ufeff'

/** The text without its byte-order mark, and the mark. */
export function splitMark(text: string): { mark: string; body: string } {
  return text.startsWith(BYTE_ORDER_MARK)
    ? { mark: BYTE_ORDER_MARK, body: text.slice(BYTE_ORDER_MARK.length) }
    : { mark: '', body: text }
}

/** How a file is laid out. */
export interface Style {
  readonly indent: string
  readonly eol: string
}

/** The file's own indentation and line ends; undefined for one that is a single line of something. */
export function styleOf(body: string): Style | undefined {
  const text = body.trim()
  if (text !== '{}' && !text.includes('\n')) return undefined
  return {
    indent: /^\{[ \t]*\r?\n([ \t]+)/.exec(text)?.[1] ?? '  ',
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
}

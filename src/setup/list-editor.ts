import { findNodeAtLocation, type JSONPath, type Node, stripComments } from 'jsonc-parser'
import { childrenOf, plainValue, readDocument, type SettingsFile } from './json-document.ts'

/** Edits the text, so that everything else stays the same to the byte. */

export function appendToList<T>(text: string, file: SettingsFile<T>, keys: readonly string[], value: unknown): string {
  const { mark, body, root } = readDocument(text, file)
  if (root === undefined) return appendToList(mark + withObject(body), file, keys, value)
  let depth = keys.length
  while (findNodeAtLocation(root, keys.slice(0, depth)) === undefined) depth -= 1
  const container = findNodeAtLocation(root, keys.slice(0, depth)) as Node
  const layout = layoutOf(body, root, container, depth, file.accepts.includes('comments'))
  const json = (part: unknown): string => JSON.stringify(part, null, layout.indent).replaceAll('\n', layout.margin)
  const [name, ...inner] = keys.slice(depth)
  const list = inner.reduceRight<unknown>((held, key) => ({ [key]: held }), [value])
  return mark + append(body, container, name === undefined ? json(value) : `${json(name)}: ${json(list)}`, layout)
}

export type IsOurs = (value: unknown) => boolean

export function removeFromList<T>(text: string, file: SettingsFile<T>, keys: JSONPath, isOurs: IsOurs): string {
  for (let rest = text; ; ) {
    const { mark, body, root } = readDocument(rest, file)
    const list = root && findNodeAtLocation(root, keys)
    const ours = list && childrenOf(list).find((item) => isOurs(plainValue(item)))
    if (ours === undefined) return rest
    rest = mark + takeOut(body, outermost(body, ours))
  }
}

function layoutOf(body: string, root: Node, container: Node, depth: number, comments: boolean) {
  const whole = textOf(body, root)
  const isFileOneLine = whole !== '{}' && !whole.includes('\n')
  if (isFileOneLine || (childrenOf(container).length > 0 && !textOf(body, container).includes('\n'))) {
    // Plain JSON on one line comes from a program, without blanks.
    return { indent: '', margin: isFileOneLine && !comments ? '' : ' ', ending: '' }
  }
  const indent = /^\{[ \t]*\r?\n([ \t]+)/.exec(whole)?.[1] ?? '  '
  const ending = lineEndOf(body) + indent.repeat(depth)
  return { indent, margin: ending + indent, ending }
}

function withObject(body: string): string {
  const lineEnd = lineEndOf(body)
  return `${body}${body === '' || body.endsWith('\n') ? '' : lineEnd}{}${lineEnd}`
}

function lineEndOf(body: string): string {
  return body.includes('\r\n') ? '\r\n' : '\n'
}

function append(body: string, container: Node, item: string, layout: ReturnType<typeof layoutOf>): string {
  const last = childrenOf(container).at(-1)
  const start = last === undefined ? container.offset + 1 : endOf(last)
  const tail = body.slice(start, endOf(container) - 1)
  const pieces = piecesOf(tail)
  const comma = pieces.find(isComma)
  const lineBreak = last && pieces.find(([piece]) => piece === '\n')
  const comment = pieces.findLast((one) => one[0].startsWith('/') && one.index < (lineBreak?.index ?? tail.length))
  const at = Math.max(0, ...[comma, comment].map((piece) => (piece === undefined ? 0 : piece.index + piece[0].length)))
  const separator = last === undefined || comma !== undefined ? '' : ','
  const before = layout.indent === '' && last === undefined && at === 0 ? '' : layout.margin
  const ending = tail.includes('\n', at) ? '' : layout.ending
  const added = comma === undefined ? item : `${item},`
  return body.slice(0, start) + separator + tail.slice(0, at) + before + added + ending + body.slice(start + at)
}

function outermost(body: string, node: Node): Node {
  const container = node.parent as Node
  const whole = container.parent?.type === 'property' ? container.parent : container
  const text = textOf(body, whole)
  const isKept = container.parent === undefined || childrenOf(container).length > 1 || stripComments(text) !== text
  return isKept ? node : outermost(body, whole)
}

function takeOut(body: string, node: Node): string {
  const container = node.parent as Node
  const siblings = childrenOf(container)
  const index = siblings.indexOf(node)
  const from = index === 0 ? container.offset + 1 : endOf(siblings[index - 1] as Node)
  const to = siblings[index + 1]?.offset ?? endOf(container) - 1
  const behind = body.slice(endOf(node), to)
  const right = withoutComma(behind)
  const isFollowed = right !== behind
  const left = isFollowed ? body.slice(from, node.offset) : withoutComma(body.slice(from, node.offset))
  const isLineOver = /^[ \t]*\r?\n/.test(right)
  const before = isLineOver ? left.replace(/(?:\r?\n)?[ \t]*$/, '') : isFollowed ? left : left.replace(/[ \t]+$/, '')
  const rest = before + (isLineOver || isFollowed ? right.replace(/^[ \t]+/, '') : right)
  const isEmpty = siblings.length === 1 && rest.trim() === ''
  return body.slice(0, from) + (isEmpty ? '' : rest) + body.slice(to)
}

function withoutComma(text: string): string {
  const comma = piecesOf(text).find(isComma)
  return comma === undefined ? text : text.slice(0, comma.index) + text.slice(comma.index + 1)
}

function piecesOf(text: string): RegExpExecArray[] {
  return [...text.matchAll(/\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|\n|,/g)]
}

function isComma([piece]: RegExpExecArray): boolean {
  return piece === ','
}

function textOf(body: string, node: Node): string {
  return body.slice(node.offset, endOf(node))
}

function endOf({ offset, length }: Node): number {
  return offset + length
}

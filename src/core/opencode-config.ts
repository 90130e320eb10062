import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  type SyntaxKind,
} from 'jsonc-parser'
import { PostflightError } from './errors.ts'
import { childrenOf, faultAt, namesIn, type Style, splitMark, styleOf } from './json-text.ts'

/**
 * Our entry in OpenCode's configuration (`opencode.json`, JSON with comments), put in and taken out as edits of its
 * text: everything else stays as it was, to the byte, comments first of all. Pure: text in, text out.
 */

/** The plugin's file; its name says that it is ours wherever this package lies. */
export const PLUGIN_FILE = 'dist/opencode/postflight-guard.mjs'

/** True for an entry of ours: the plugin's file of any copy of this package, or the package by its name. */
export function isOurPlugin(entry: unknown): boolean {
  const spec: unknown = Array.isArray(entry) ? entry[0] : entry
  return (
    typeof spec === 'string' &&
    (/[/\\]dist[/\\]opencode[/\\]postflight-guard\.mjs$/.test(spec) || /^postflight-guard(?:@[^/]*)?$/.test(spec))
  )
}

/** The entries of ours in a configuration. @throws {PostflightError} as `addPlugin`. */
export function findPlugins(text: string, path: string): string[] {
  const { body } = splitMark(text)
  return ourNodes(readConfig(body, path)).map((node) => specOf(getNodeValue(node)))
}

/**
 * The text with `spec` in its list of plugins, once, ours of old ones replaced. The same text when it is there already.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function addPlugin(text: string, spec: string, path: string): string {
  const present = findPlugins(text, path)
  if (present.length === 1 && present[0] === spec) return text
  const { mark, body: whole } = splitMark(removePlugin(text, path))
  const empty = readConfig(whole, path) === undefined
  const body = empty ? `${whole}{}\n` : whole
  const root = readConfig(body, path) as Node
  const list = listIn(root)
  const style = styleOf(textOf(body, root))
  const value = JSON.stringify(spec)
  if (list !== undefined) return mark + append(body, list, value, style, 2)
  const property =
    style === undefined
      ? `"plugin": [${value}]`
      : `"plugin": [${style.eol}${style.indent.repeat(2)}${value}${style.eol}${style.indent}]`
  return mark + append(body, root, property, style, 1)
}

/**
 * The text without entries of ours; a list that held nothing else goes too.
 * @throws {PostflightError} `settings-not-json`, `settings-wrong-shape`.
 */
export function removePlugin(text: string, path: string): string {
  const { mark, body: start } = splitMark(text)
  let body = start
  for (;;) {
    const [ours] = ourNodes(readConfig(body, path))
    if (ours === undefined) return mark + body
    const list = ours.parent as Node
    const alone = childrenOf(list).length === 1 && !holdsComment(body, list)
    // A list whose only entry is ours was made for it.
    body = takeOut(body, alone ? (list.parent as Node) : ours)
  }
}

function specOf(entry: unknown): string {
  return String(Array.isArray(entry) ? entry[0] : entry)
}

/** The object that is the file; undefined for a text that holds nothing but blanks and comments. */
function readConfig(body: string, path: string): Node | undefined {
  const errors: ParseError[] = []
  // As OpenCode 1.18.33 reads it.
  const root = parseTree(body, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [error] = errors
  if (error !== undefined) throw new PostflightError('settings-not-json', { path, ...faultAt(body, error) })
  if (root === undefined) return undefined
  const wrong = (where: string, expected: string): PostflightError =>
    new PostflightError('settings-wrong-shape', { path, where, expected })
  if (root.type !== 'object') throw wrong('the whole file', 'an object')
  // Of two keys of one name OpenCode reads the last, and an edit finds the first.
  if (namesIn(root).filter((name) => name === 'plugin').length > 1) throw wrong('"plugin"', 'there only once')
  const list = listIn(root)
  if (list !== undefined && list.type !== 'array') throw wrong('"plugin"', 'a list')
  return root
}

function listIn(root: Node): Node | undefined {
  return findNodeAtLocation(root, ['plugin'])
}

/** The entries of ours in the list of plugins, in its order. */
function ourNodes(root: Node | undefined): Node[] {
  const list = root && listIn(root)
  return list === undefined ? [] : childrenOf(list).filter((node) => isOurPlugin(getNodeValue(node)))
}

function textOf(body: string, { offset, length }: Node): string {
  return body.slice(offset, offset + length)
}

/** A piece of the text: a token, a blank or a comment. */
interface Piece {
  readonly kind: SyntaxKind
  readonly offset: number
  readonly end: number
}

// The library's kinds are a const enum, which a single file cannot see.
const COMMA = 5
const LINE_COMMENT = 12
const BLOCK_COMMENT = 13
const LINE_BREAK = 14
const BLANK = 15

/** The pieces of a stretch of the text. */
function piecesOf(body: string, from: number, to: number): Piece[] {
  const scanner = createScanner(body.slice(from, to), false)
  const pieces: Piece[] = []
  for (;;) {
    const kind = scanner.scan()
    const offset = from + scanner.getTokenOffset()
    const length = scanner.getTokenLength()
    if (length === 0) return pieces
    pieces.push({ kind, offset, end: offset + length })
  }
}

function isComment({ kind }: Piece): boolean {
  return kind === LINE_COMMENT || kind === BLOCK_COMMENT
}

function holdsComment(body: string, { offset, length }: Node): boolean {
  return piecesOf(body, offset, offset + length).some(isComment)
}

/** Puts a value, or a property, at the end of a list or object. A comment behind the last one stays with that. */
function append(body: string, container: Node, value: string, style: Style | undefined, depth: number): string {
  const inner = container.offset + 1
  const close = container.offset + container.length - 1
  const last = childrenOf(container).at(-1)
  const isOneLine = style === undefined || (last !== undefined && !body.slice(inner, close).includes('\n'))
  const margin = isOneLine ? ' ' : marginOf(style, depth)
  if (last === undefined) {
    const comment = piecesOf(body, inner, close).findLast(isComment)
    if (comment !== undefined) return body.slice(0, comment.end) + margin + value + body.slice(comment.end)
    const laidOut = isOneLine ? value : margin + value + marginOf(style, depth - 1)
    return body.slice(0, inner) + laidOut + body.slice(close)
  }
  const end = last.offset + last.length
  const tail = piecesOf(body, end, close)
  const comma = tail.find(({ kind }) => kind === COMMA)
  const lineEnd = tail.find(({ kind }) => kind === LINE_BREAK)?.offset ?? close
  const onLine = tail.filter((piece) => piece.offset < lineEnd && piece.kind !== BLANK)
  const at = Math.max(onLine.at(-1)?.end ?? end, comma?.end ?? end)
  return body.slice(0, end) + (comma === undefined ? ',' : '') + body.slice(end, at) + margin + value + body.slice(at)
}

function marginOf({ eol, indent }: Style, depth: number): string {
  return eol + indent.repeat(depth)
}

/** Takes one thing out with the comma that held it and its own blanks; every comment stays what it is. */
function takeOut(body: string, node: Node): string {
  const container = node.parent as Node
  const inner = container.offset + 1
  const close = container.offset + container.length - 1
  const siblings = childrenOf(container)
  const previous = siblings[siblings.indexOf(node) - 1]
  const end = node.offset + node.length
  const isComma = ({ kind }: Piece): boolean => kind === COMMA
  const following = piecesOf(body, end, close).find(isComma)
  const behind = following?.end ?? end
  const between = following === undefined ? '' : body.slice(end, following.offset)
  const gap = between.trim() === '' ? '' : between
  const next = behind + body.slice(behind).search(/[^ \t]/)
  const isLineOver = gap === '' && /^\r?\n/.test(body.slice(next))
  const before = body.slice(inner, node.offset)
  let from = node.offset
  let to = behind
  // A line of its own goes as a whole. What shares its line leaves that line's beginning alone: a line comment may end there.
  if (isLineOver || following !== undefined) to = next
  if (isLineOver) from = inner + before.trimEnd().length
  else if (following === undefined) from = inner + before.replace(/[ \t]+$/, '').length
  const rest = body.slice(0, from) + gap + body.slice(to)
  // The last one of several: the comma before it goes with it.
  const comma =
    following === undefined && previous !== undefined
      ? piecesOf(body, previous.offset + previous.length, node.offset).find(isComma)
      : undefined
  return withoutBlanks(comma === undefined ? rest : rest.slice(0, comma.offset) + rest.slice(comma.end), inner)
}

/** A container that holds nothing any more, without the blanks that led to what it held. */
function withoutBlanks(body: string, inner: number): string {
  return /^\s*[\]}]/.test(body.slice(inner)) ? body.slice(0, inner) + body.slice(inner).trimStart() : body
}

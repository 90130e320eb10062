import type { ChecklistItem } from './steps.ts'

/**
 * Reads the task lists of a Markdown text (GFM): `- [ ] text` at any depth, also in quotes, but not in code. Parses only
 * CommonMark's blocks, and reads each line once per open block: a repository cannot make a stop slow. Pure.
 */

export type ChecklistTask = Readonly<{ text: string; done: boolean; box: number }>

const MAX_DEPTH = 100
const LINE = /([^\r\n]*)(?:\r\n?|\n|$)/g
const TAB = 4

export function readChecklist(text: string): ChecklistTask[] | undefined {
  const parser = new BlockParser()
  const start = text.startsWith('\ufeff') ? 1 : 0
  for (const { 1: line = '', index } of text.slice(start).matchAll(LINE)) {
    if (!parser.read(line, start + index)) return undefined
  }
  return parser.finish()
}

type Container = { readonly kind: 'quote' } | { readonly kind: 'item'; readonly indent: number; isEmpty: boolean }

type Leaf =
  | { readonly kind: 'paragraph'; readonly lines: string[]; readonly task: Omit<ChecklistTask, 'text'> | undefined }
  | { readonly kind: 'fence'; readonly mark: string; readonly length: number }
  | { readonly kind: 'html'; readonly end: RegExp | undefined }

const BLOCK_TAGS =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul'

const HTML: readonly (readonly [start: RegExp, end?: RegExp])[] = [
  [/^<(?:script|pre|textarea|style)(?:\s|>|$)/i, /<\/(?:script|pre|textarea|style)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![A-Za-z]/, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [new RegExp(`^</?(?:${BLOCK_TAGS})(?:\\s|/?>|$)`, 'i')],
]

const WHOLE_TAG =
  /^(?:<[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w:.-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*\/?>|<\/[A-Za-z][A-Za-z0-9-]*\s*>)\s*$/

const SETEXT = /^(?:=+|-+)[ \t]*$/
const ATX = /^#{1,6}(?:[ \t]|$)/
const DIVIDER = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const LIST_MARK = /^(?:[-*+]|(\d{1,9})[.)])(?=[ \t]|$)/
const FENCE = /^(?:`{3,}|~{3,})/
const FENCE_END = /^(?:`{3,}|~{3,})(?=[ \t]*$)/
const BOX = /^\[([ \txX])\](?=[ \t]|$)/

/** A tab may be consumed in part, so columns count apart from characters. */
class Cursor {
  readonly #line: string
  #at = 0
  #column = 0
  indent = 0
  next = 0
  rest = ''

  constructor(line: string) {
    this.#line = line
    this.#inspect()
  }

  get isBlank(): boolean {
    return this.rest === ''
  }

  get isIndented(): boolean {
    return this.indent >= TAB
  }

  #inspect(): void {
    let column = this.#column
    this.next = this.#at
    for (; this.next < this.#line.length; this.next += 1) {
      const character = this.#line[this.next]
      if (character === '\t') column += TAB - (column % TAB)
      else if (character === ' ') column += 1
      else break
    }
    this.indent = column - this.#column
    this.rest = this.#line.slice(this.next)
  }

  skipColumns(count: number): void {
    let left = Math.min(count, this.indent)
    while (left > 0) {
      const width = this.#line[this.#at] === '\t' ? TAB - (this.#column % TAB) : 1
      if (width <= left) this.#at += 1
      this.#column += Math.min(width, left)
      left -= width
    }
    this.#inspect()
  }

  skipMark(length: number): void {
    this.#column += this.indent + length
    this.#at = this.next + length
    this.#inspect()
  }
}

class BlockParser {
  readonly #tasks: ChecklistTask[] = []
  readonly #open: Container[] = []
  #leaf: Leaf | undefined
  #isAfterBlank = false

  finish(): ChecklistTask[] {
    this.#closeLeaf()
    return this.#tasks
  }

  read(line: string, start: number): boolean {
    const cursor = new Cursor(line)
    // Another empty line changes nothing.
    if (cursor.isBlank && this.#isAfterBlank) return true
    this.#isAfterBlank = cursor.isBlank
    const matched = this.#continued(cursor)
    const isWhole = matched === this.#open.length
    if (isWhole && this.#continueLeaf(cursor)) return true
    // A paragraph may continue without the marks of its containers.
    const lazy = this.#leaf?.kind === 'paragraph' && !cursor.isBlank ? this.#leaf : undefined
    // A new block interrupts a paragraph only if all its containers continue.
    let paragraph = isWhole ? lazy : undefined
    let depth = matched
    while (!cursor.isIndented && !cursor.isBlank) {
      const container = startContainer(cursor, paragraph !== undefined)
      if (container === undefined) break
      this.#closeTo(depth)
      this.#fillItem()
      this.#open.push(container)
      depth += 1
      paragraph = undefined
      if (depth > MAX_DEPTH) return false
    }
    const isNew = depth > matched
    if (!cursor.isIndented && this.#startLeaf(cursor, depth, paragraph !== undefined, lazy !== undefined && !isNew))
      return true
    if (lazy !== undefined && !isNew) {
      lazy.lines.push(cursor.rest)
      return true
    }
    this.#closeTo(depth)
    if (cursor.isBlank) return true
    const isFirst = this.#fillItem()
    if (!cursor.isIndented) this.#openParagraph(cursor, start, isFirst)
    return true
  }

  #continued(cursor: Cursor): number {
    let depth = 0
    for (const container of this.#open) {
      if (container.kind === 'quote') {
        if (cursor.isIndented || !cursor.rest.startsWith('>')) return depth
        skipQuote(cursor)
      } else if (cursor.isBlank) {
        if (container.isEmpty) return depth
      } else if (cursor.indent >= container.indent) cursor.skipColumns(container.indent)
      else return depth
      depth += 1
    }
    return depth
  }

  #continueLeaf(cursor: Cursor): boolean {
    const leaf = this.#leaf
    if (leaf?.kind === 'fence') {
      const end = cursor.isIndented ? undefined : FENCE_END.exec(cursor.rest)?.[0]
      if (end !== undefined && end.length >= leaf.length && end.startsWith(leaf.mark)) this.#leaf = undefined
      return true
    }
    if (leaf?.kind !== 'html') return false
    const isOver = leaf.end === undefined ? cursor.isBlank : leaf.end.test(cursor.rest)
    if (isOver) this.#leaf = undefined
    return true
  }

  #startLeaf({ rest }: Cursor, depth: number, interrupts: boolean, isLazy: boolean): boolean {
    const begin = (leaf?: Leaf): true => {
      this.#closeTo(depth)
      this.#fillItem()
      this.#leaf = leaf
      return true
    }
    if (interrupts && SETEXT.test(rest)) {
      this.#leaf = undefined
      return true
    }
    if (ATX.test(rest) || DIVIDER.test(rest)) return begin()
    const fence = FENCE.exec(rest)?.[0]
    if (fence !== undefined && !(fence.startsWith('`') && rest.includes('`', fence.length))) {
      return begin({ kind: 'fence', mark: fence.slice(0, 1), length: fence.length })
    }
    if (!rest.startsWith('<')) return false
    const html = HTML.find(([start]) => start.test(rest)) ?? (!isLazy && WHOLE_TAG.test(rest) ? [] : undefined)
    if (html === undefined) return false
    const end = html[1]
    return begin(end?.test(rest) === true ? undefined : { kind: 'html', end })
  }

  #openParagraph(cursor: Cursor, start: number, isFirst: boolean): void {
    const [whole = '', mark = ''] = (isFirst ? BOX.exec(cursor.rest) : null) ?? []
    const task = whole === '' ? undefined : { done: mark.toLowerCase() === 'x', box: start + cursor.next + 1 }
    this.#leaf = { kind: 'paragraph', lines: [cursor.rest.slice(whole.length)], task }
  }

  #fillItem(): boolean {
    const container = this.#open.at(-1)
    if (container?.kind !== 'item' || !container.isEmpty) return false
    container.isEmpty = false
    return true
  }

  #closeTo(depth: number): void {
    this.#closeLeaf()
    this.#open.length = depth
  }

  #closeLeaf(): void {
    const leaf = this.#leaf
    this.#leaf = undefined
    if (leaf?.kind !== 'paragraph' || leaf.task === undefined) return
    const [first = '', ...others] = leaf.lines
    if (/^[ \t]*$/.test(first) && others.length === 0) return
    const lines = leaf.lines.map((line) => line.trim())
    const text = lines.join(' ').trim()
    this.#tasks.push({ text, ...leaf.task })
  }
}

function skipQuote(cursor: Cursor): void {
  cursor.skipMark(1)
  cursor.skipColumns(1)
}

function startContainer(cursor: Cursor, interrupts: boolean): Container | undefined {
  const { rest, indent } = cursor
  if (rest.startsWith('>')) {
    skipQuote(cursor)
    return { kind: 'quote' }
  }
  const [mark, number] = LIST_MARK.exec(rest) ?? []
  if (mark === undefined || DIVIDER.test(rest)) return undefined
  if (interrupts && (SETEXT.test(rest) || (number !== undefined && Number(number) !== 1))) return undefined
  if (interrupts && /^[ \t]*$/.test(rest.slice(mark.length))) return undefined
  cursor.skipMark(mark.length)
  // More blanks are the indentation of code, of which the first one belongs to the mark.
  const blanks = cursor.isBlank || cursor.indent > TAB ? 1 : cursor.indent
  cursor.skipColumns(blanks)
  return { kind: 'item', indent: indent + mark.length + blanks, isEmpty: true }
}

export function findTask(tasks: readonly ChecklistTask[], { text, item }: ChecklistItem): ChecklistTask | undefined {
  const same = tasks.flatMap((task, at) => (task.text === text ? [{ task, distance: Math.abs(at - item) }] : []))
  const nearest = Math.min(...same.map(({ distance }) => distance))
  return same.find(({ distance }) => distance === nearest)?.task
}

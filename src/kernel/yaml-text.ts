import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { cut, inLine, jsonFaultWords } from './text.ts'

export type FaultPath = readonly (string | number)[]

export type Finding = Readonly<{ path: FaultPath; detail: string }>

export type PlacedFinding = Readonly<{ line: number; column: number; where: string; detail: string }>

/** `place`: in the order of the text. */
type YamlText =
  | { readonly value: unknown; readonly place: (findings: readonly Finding[]) => PlacedFinding[] }
  | { readonly faults: readonly PlacedFinding[] }

/** There is at least one finding. */
export function firstOf(findings: readonly PlacedFinding[]) {
  const [{ line, column, where, detail }, ...others] = findings as readonly [PlacedFinding, ...PlacedFinding[]]
  const placed = where === '' ? detail : `${where}: ${detail}`
  return { location: `:${line}:${column}`, detail: placed, more: others.length }
}

/** Never throws. `isJson`: YAML 1.2 includes JSON, so one parser gives places for both. */
export function readYamlText(text: string, isJson: boolean): YamlText {
  try {
    return readBounded(text.replace(/^\ufeff/, ''), isJson)
  } catch (error) {
    // The parsers are recursive: deep nesting exhausts the stack.
    if (!(error instanceof RangeError)) throw error
    return { faults: [{ line: 1, column: 1, where: '', detail: TOO_DEEP }] }
  }
}

function readBounded(text: string, isJson: boolean): YamlText {
  const lineCounter = new LineCounter()
  // The library's warnings would go to stderr.
  const options = { lineCounter, prettyErrors: false, merge: true, logLevel: 'error', uniqueKeys: false } as const
  const document = parseDocument(text, options)
  const placed = (offset: number, where: string, detail: string): PlacedFinding => {
    const { line, col } = lineCounter.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col), where, detail: inLine(detail) }
  }
  const faultAt = (offset: number, detail: string) => ({ faults: [placed(offset, '', cut(detail, 300))] })
  const syntax = (isJson ? jsonFault(text) : undefined) ?? yamlFault(document) ?? twinKey(document)
  if (syntax !== undefined) return faultAt(syntax.offset, syntax.detail)
  const { contents } = document
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    return faultAt(startOf(contents), (error as Error).message)
  }
  const unbounded = boundFault(value)
  if (unbounded !== undefined) return faultAt(startOf(contents), unbounded)
  const locate = ({ path, detail }: Finding) => placed(offsetOf(document, path), inLine(path.join('.')), detail)
  const place = (findings: readonly Finding[]): PlacedFinding[] =>
    findings.map(locate).sort((one, other) => one.line - other.line || one.column - other.column)
  return { value, place }
}

const TOO_DEEP = 'nested too deeply to be read'
const MAX_VALUES = 1_000_000
const MAX_LEVELS = 100

function boundFault(top: unknown): string | undefined {
  const open: (readonly [value: unknown, level: number])[] = [[top, 0]]
  let count = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, level] = next
    if (typeof value !== 'object' || value === null) continue
    if (level === MAX_LEVELS) return TOO_DEEP
    const parts = Object.values(value)
    count += parts.length
    if (count > MAX_VALUES) return 'too many values to be read, counting those of aliases'
    for (const part of parts) open.push([part, level + 1])
  }
  return undefined
}

type SyntaxFault = Readonly<{ offset: number; detail: string }>

export function jsonFault(text: string): SyntaxFault | undefined {
  const errors: ParseError[] = []
  parse(text, errors, { allowTrailingComma: false, disallowComments: true })
  const [first] = errors
  if (first === undefined) return undefined
  const code = printParseErrorCode(first.error)
  return { offset: first.offset, detail: hinted(`invalid JSON: ${jsonFaultWords(code)}`, JSON_HINTS[code]) }
}

export function yamlFault(document: Document.Parsed): SyntaxFault | undefined {
  const [first] = document.errors
  if (first === undefined) return undefined
  const { code, message } = first
  const [offset] = first.pos
  if (code === 'MULTIPLE_DOCS') {
    return { offset, detail: 'the file contains several documents: put each definition in its own file' }
  }
  if (code === 'RESOURCE_EXHAUSTION') return { offset, detail: TOO_DEEP }
  const quote = /^Missing closing (.)quote/.exec(message)?.[1]
  if (quote === undefined) {
    return { offset, detail: hinted(message, YAML_HINTS.find(([pattern]) => pattern.test(message))?.[1]) }
  }
  const detail = `the string that begins here has no closing quote: end it with ${quote}`
  return { offset: startOfText(document, offset), detail }
}

/** The YAML library compares each key with all others, so it is not asked to. */
function twinKey(document: Document.Parsed): SyntaxFault | undefined {
  let found: SyntaxFault | undefined
  visit(document, {
    Map: (_key, { items }) => {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        // The value of each merge key, which may occur several times, is a symbol of its own (yaml 2.9).
        if (!isScalar(key)) continue
        if (seen.has(key.value)) {
          found = { offset: key.range?.[0] ?? 0, detail: 'Map keys must be unique' }
          return visit.BREAK
        }
        seen.add(key.value)
      }
      return undefined
    },
  })
  return found
}

function startOfText(document: Document.Parsed, end: number): number {
  let start = end
  visit(document, {
    Scalar: (_key, { range }) => {
      if (range?.[1] !== end) return undefined
      start = range[0]
      return visit.BREAK
    },
  })
  return start
}

/** Of the deepest part of the path that exists. */
function offsetOf(document: Document.Parsed, path: FaultPath): number {
  const key = path.at(-1)
  if (key === undefined) return startOf(document.contents)
  const above = path.slice(0, -1)
  const parent = document.getIn(above, true)
  if (isSeq(parent)) return startOf(parent.items[Number(key)])
  const pair = isMap(parent) ? parent.items.find((one) => isScalar(one.key) && one.key.value === key) : undefined
  return pair === undefined ? offsetOf(document, above) : startOf(pair.key)
}

function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

const JSON_HINTS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'names and strings need double quotes',
  UnexpectedEndOfString: 'the string that begins here has no closing quote',
  PropertyNameExpected: 'check for an extra comma before this',
  ValueExpected: 'check for an extra comma before this',
  InvalidCommentToken: 'JSON does not allow comments; YAML does',
}

const YAML_HINTS: readonly (readonly [says: RegExp, hint: string])[] = [
  [/^Nested mappings/, 'a string that contains ": " needs quotes'],
  [/^Plain value cannot start|cannot be an empty string/, 'a string that begins with this character needs quotes'],
  [/scalar at node end/, 'quote the whole string, with the kind of quote that it does not contain'],
  [/^Missing ,/, 'check for a missing comma or quote before this'],
  [/^Implicit /, 'check for a missing ": " after the name of a field'],
  [/sufficiently indented/, 'check for a missing bracket or quote before this'],
  [/same column|without - indicator/, 'entries of one list or object must begin at the same column'],
  [/^Tabs/, 'use spaces'],
]

function hinted(fault: string, hint: string | undefined): string {
  return hint === undefined ? fault : `${fault} (${hint})`
}

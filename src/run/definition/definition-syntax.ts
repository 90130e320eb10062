import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { type Document, isScalar, type Scalar, visit, type YAMLMap } from 'yaml'
import { SYNTAX_TEXT } from './definition-messages.ts'

/**
 * Faults of syntax. Only the first one is reported, with a hint: most others follow from it (one missing quote causes
 * dozens).
 */

/** A fault of syntax with its place in the text. */
export interface SyntaxFault {
  readonly offset: number
  readonly detail: string
}

/** The first fault of a JSON text; undefined for a text without one. */
export function jsonFault(text: string): SyntaxFault | undefined {
  const errors: ParseError[] = []
  parse(text, errors, { allowTrailingComma: false, disallowComments: true })
  const [first] = errors
  return first && { offset: first.offset, detail: SYNTAX_TEXT.json(printParseErrorCode(first.error)) }
}

/** The first fault of a YAML document; undefined for a document without one. */
export function yamlFault(document: Document.Parsed): SyntaxFault | undefined {
  const [first] = document.errors
  if (first === undefined) return undefined
  const { code, message } = first
  const [offset] = first.pos
  if (code === 'MULTIPLE_DOCS') return { offset, detail: SYNTAX_TEXT.severalDocuments }
  if (code === 'RESOURCE_EXHAUSTION') return { offset, detail: SYNTAX_TEXT.tooDeep }
  const quote = /^Missing closing (.)quote/.exec(message)?.[1]
  return quote === undefined
    ? { offset, detail: SYNTAX_TEXT.yaml(message) }
    : { offset: startOfText(document, offset), detail: SYNTAX_TEXT.openQuote(quote) }
}

/** The first key that an object has twice. The YAML library compares each key with all others, so it is not asked to. */
export function twinKey(document: Document.Parsed): SyntaxFault | undefined {
  let found: SyntaxFault | undefined
  visit(document, {
    Map: (_key, { items }: YAMLMap) => {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        // A merge key may stand several times.
        if (!isScalar(key) || key.value === '<<') continue
        if (seen.has(key.value)) {
          found = { offset: key.range?.[0] ?? 0, detail: SYNTAX_TEXT.yaml('Map keys must be unique') }
          return visit.BREAK
        }
        seen.add(key.value)
      }
      return undefined
    },
  })
  return found
}

/** The start of the string that ends at `end`. Without its closing quote it may go on to the end of the file. */
function startOfText(document: Document.Parsed, end: number): number {
  let start = end
  visit(document, {
    Scalar: (_key, { range }: Scalar) => {
      if (range?.[1] !== end) return undefined
      start = range[0]
      return visit.BREAK
    },
  })
  return start
}

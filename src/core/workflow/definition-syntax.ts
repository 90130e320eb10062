import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { type Document, type Scalar, visit } from 'yaml'
import { SYNTAX_TEXT } from './messages.ts'

/**
 * Faults of syntax. Only the first one is told, with what to do about it: the others mostly follow from it (one missing
 * quote makes dozens).
 */

/** A fault of syntax with its place in the text. */
export interface SyntaxFault {
  readonly offset: number
  readonly detail: string
}

/** The first fault of a text that should be JSON; undefined where it has none. */
export function jsonFault(text: string): SyntaxFault | undefined {
  const errors: ParseError[] = []
  parse(text, errors, { allowTrailingComma: false, disallowComments: true })
  const [first] = errors
  return first && { offset: first.offset, detail: SYNTAX_TEXT.json(printParseErrorCode(first.error)) }
}

/** The first fault of a YAML document; undefined where it has none. */
export function yamlFault(document: Document.Parsed): SyntaxFault | undefined {
  const [first] = document.errors
  if (first === undefined) return undefined
  const { code, message } = first
  const [offset] = first.pos
  if (code === 'MULTIPLE_DOCS') return { offset, detail: SYNTAX_TEXT.severalDocuments }
  if (code === 'RESOURCE_EXHAUSTION') return { offset, detail: SYNTAX_TEXT.tooDeep }
  const open = message.startsWith('Missing closing') ? quotedTextBefore(document, offset) : undefined
  return open ?? { offset, detail: SYNTAX_TEXT.yaml(message) }
}

/** The parser names the place where a quote is missing at last, which may be the end of the file: this, where the text begins. */
function quotedTextBefore(document: Document.Parsed, end: number): SyntaxFault | undefined {
  let found: SyntaxFault | undefined
  visit(document, {
    Scalar: (_key, { type, range }: Scalar) => {
      if (range?.[1] !== end || !type?.startsWith('QUOTE')) return undefined
      found = { offset: range[0], detail: SYNTAX_TEXT.openQuote(type === 'QUOTE_SINGLE' ? "'" : '"') }
      return visit.BREAK
    },
  })
  return found
}

import fc from 'fast-check'
import { createScanner } from 'jsonc-parser'

/** JSON with comments, in any layout. */

/** Blanks and comments at any place, some with text that looks like the end of a comment. */
export const gap = fc
  .array(
    fc.constantFrom(
      ' ',
      '\n',
      '\r\n',
      '\t',
      '// one \n',
      '/* two */',
      '// "a": [],\r\n',
      '/* // , \n ** */',
      '//\u2028\n',
    ),
    { maxLength: 4 },
  )
  .map((pieces) => pieces.join(''))

export const spaced = (text: string): fc.Arbitrary<string> =>
  fc.tuple(gap, gap).map(([before, after]) => before + text + after)

/** The text of a list or an object, from the texts of its items. */
export function container(open: string, close: string, items: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(gap, fc.boolean(), ...items.map(spaced)).map(([blank, trailing, ...parts]) => {
    if (parts.length === 0) return open + blank + close
    return open + parts.join(',') + (trailing ? `,${blank}` : '') + close
  })
}

export function commentsIn(text: string): string[] {
  const scanner = createScanner(text)
  const found: string[] = []
  for (let kind = scanner.scan(); kind !== 17; kind = scanner.scan()) {
    const offset = scanner.getTokenOffset()
    if (kind === 12 || kind === 13) found.push(text.slice(offset, offset + scanner.getTokenLength()))
  }
  return found
}

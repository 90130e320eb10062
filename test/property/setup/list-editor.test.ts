import fc from 'fast-check'
import { createScanner, type ParseError, parse } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { OPENCODE_SYNTAX } from '../../../src/hosts/hook-entries.ts'
import type { SettingsFile } from '../../../src/setup/json-document.ts'
import { appendToList, removeFromList } from '../../../src/setup/list-editor.ts'
import { holds, maybe } from '../arbitraries.ts'

/** Blanks and comments at any place, some with text that looks like the end of a comment. */
const gap = fc
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

const spaced = (text: string): fc.Arbitrary<string> =>
  fc.tuple(gap, gap).map(([before, after]) => before + text + after)

/** The text of a list or an object, from the texts of its items. */
function container(open: string, close: string, items: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(gap, fc.boolean(), ...items.map(spaced)).map(([blank, trailing, ...parts]) => {
    if (parts.length === 0) return open + blank + close
    return open + parts.join(',') + (trailing ? `,${blank}` : '') + close
  })
}

function commentsIn(text: string): string[] {
  const scanner = createScanner(text)
  const found: string[] = []
  for (let kind = scanner.scan(); kind !== 17; kind = scanner.scan()) {
    const offset = scanner.getTokenOffset()
    if (kind === 12 || kind === 13) found.push(text.slice(offset, offset + scanner.getTokenLength()))
  }
  return found
}

const FILE: SettingsFile<unknown> = { path: 'x', accepts: OPENCODE_SYNTAX, property: 'a', shape: z.unknown() }
const OURS = { ours: [1, { text: 'of us // not a comment, "x"' }] }
const isOurs = (value: unknown): boolean => JSON.stringify(value) === JSON.stringify(OURS)

const value = fc.constantFrom('1', 'null', '"// x"', '"/*"', '[]', '{}', '[1, {"a": ["]"]}]', JSON.stringify(OURS))
const list = fc.array(value, { maxLength: 4 }).chain((items) => container('[', ']', items))

/** An object with a list at "a", or deeper at "a" and "b", and with other properties. */
function holding(inner: fc.Arbitrary<string>, name: string): fc.Arbitrary<string> {
  return fc
    .tuple(maybe(fc.tuple(gap, gap, inner)), fc.subarray(['"y": 1', '"__proto__": [2]']), fc.nat(2))
    .chain(([held, others, at]) => {
      const properties = [...others]
      if (held !== undefined) properties.splice(at, 0, `"${name}"${held[0]}:${held[1]}${held[2]}`)
      return container('{', '}', properties)
    })
}

const anyCase = fc.oneof(
  fc.record({ keys: fc.constant(['a'] as string[]), text: holding(list, 'a').chain(spaced) }),
  fc.record({ keys: fc.constant(['a', 'b'] as string[]), text: holding(holding(list, 'b'), 'a').chain(spaced) }),
)

/** The value of a document, with "__proto__" renamed because the library sets the prototype for it. */
function read(text: string): Record<string, unknown> {
  const errors: ParseError[] = []
  const found = parse(text.replaceAll('__proto__', '_proto_'), errors, { allowTrailingComma: true })
  expect(errors).toEqual([])
  return found
}

function listAt(document: Record<string, unknown>, keys: readonly string[]): unknown[] {
  return (keys.reduce<unknown>((held, key) => (held as Record<string, unknown> | undefined)?.[key], document) ??
    []) as unknown[]
}

/** The document with that list, and without the list and its objects if they are empty. */
function withList(
  document: Record<string, unknown>,
  [key = '', ...keys]: readonly string[],
  items: unknown[],
): unknown {
  const { [key]: held, ...others } = document
  const inner = keys.length === 0 ? items : withList((held ?? {}) as Record<string, unknown>, keys, items)
  return Object.keys(inner as object).length === 0 ? others : { ...others, [key]: inner }
}

/** True if every character of `part` occurs in `whole` in the same order. */
function isLeftIn(part: string, whole: string): boolean {
  let at = 0
  for (const character of whole) if (part.startsWith(character, at)) at += character.length
  return at === part.length
}

describe('the list editor, for any document with comments', () => {
  it('appends the value, and keeps every other character and every comment', () => {
    holds(1000)(anyCase, ({ text, keys }) => {
      const after = appendToList(text, FILE, keys, OURS)
      const items = listAt(read(text), keys)
      expect(listAt(read(after), keys)).toEqual([...items, OURS])
      expect(withList(read(after), keys, [])).toEqual(withList(read(text), keys, []))
      expect(isLeftIn(text, after)).toBe(true)
      expect(commentsIn(after)).toEqual(commentsIn(text))
    })
  })

  it('removes only our values, inserts nothing, and keeps every comment', () => {
    holds(1000)(anyCase, ({ text, keys }) => {
      const after = removeFromList(text, FILE, keys, isOurs)
      const items = listAt(read(text), keys)
      const others = items.filter((item) => !isOurs(item))
      if (others.length === items.length) expect(after).toBe(text)
      // An empty list or object with a comment stays.
      expect(withList(read(after), keys, others)).toEqual(withList(read(text), keys, others))
      expect(listAt(read(after), keys)).toEqual(others)
      expect(isLeftIn(after, text)).toBe(true)
      expect(commentsIn(after)).toEqual(commentsIn(text))
    })
  })

  it('removes an appended value, so that the document has its old content', () => {
    holds(500)(anyCase, ({ text, keys }) => {
      const before = removeFromList(text, FILE, keys, isOurs)
      const after = removeFromList(appendToList(before, FILE, keys, OURS), FILE, keys, isOurs)
      expect(withList(read(after), keys, listAt(read(after), keys))).toEqual(
        withList(read(before), keys, listAt(read(before), keys)),
      )
      expect(commentsIn(after)).toEqual(commentsIn(before))
    })
  })
})

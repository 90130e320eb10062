import { expect, it } from 'vitest'
import { withoutComments } from '../../../src/kernel/values.ts'

const KEPT = ['"// x"', '"/* x */"', '"a\\"b\\"c // x"', '"\\\n// x"', '"open // x', '1 / 2']

it.each<readonly [string, string]>([
  ['{"a": 1} // x', '{"a": 1} '],
  ['// x "y\r\n{}', '\r\n{}'],
  ['{/* a\n * "b */"a":/**/1} /*/ c */', '{"a":1} '],
  ['/*a*/1/*b*/', '1'],
  ['/* x', ''],
  ...KEPT.map((text) => [text, text] as const),
  ['"\\\\" // x', '"\\\\" '],
])('a text without its comments: %j is %j', (text, rest) => {
  expect(withoutComments(text)).toBe(rest)
})

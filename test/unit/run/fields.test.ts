import { describe, expect, it } from 'vitest'
import {
  count,
  flag,
  listOf,
  objectOf,
  oneOf,
  optional,
  type Reader,
  text,
  WRONG,
  wrongKeys,
} from '../../../src/run/definition/fields.ts'

const VALUES = [undefined, null, '', 'a', 'b', true, false, 0, 1, -1, 1.5, '1', [], ['a'], ['a', 1], {}, { a: 'a' }]

it.each<[string, Reader<unknown>, unknown[]]>([
  ['texts', text, ['', 'a', 'b', '1']],
  ['booleans', flag, [true, false]],
  ['whole numbers from 0', count, [0, 1]],
  ['one of some texts', oneOf('a', 'c'), ['a']],
  ['texts that may be missing', optional(text), [undefined, '', 'a', 'b', '1']],
  ['lists of texts', listOf(text), [[], ['a']]],
  ['lists of at most no value', listOf(text, 0), [[]]],
])('a reader of %s takes no other value', (_what, read, taken) => {
  const results = VALUES.map((value) => read(value))
  expect(results.filter((one) => one !== WRONG)).toEqual(taken)
  expect(results).toHaveLength(VALUES.length)
})

describe('a table of fields', () => {
  const table = { name: { key: 'the_name', read: text }, isOn: { key: 'on', read: optional(flag) } }
  const read = objectOf(table)

  it('reads the values of its keys, and no others', () => {
    expect(read({ the_name: 'x', on: true, more: 1 })).toEqual({ name: 'x', isOn: true })
    expect(read({ the_name: 'x' })).toEqual({ name: 'x', isOn: undefined })
  })

  it.each([[3], [null], [['x']], [{}], [{ the_name: 3 }], [{ the_name: 'x', on: 'yes' }]])('refuses %j', (held) => {
    expect(read(held)).toBe(WRONG)
  })

  it('names the keys whose values are wrong', () => {
    expect(wrongKeys(table, { the_name: 3, on: 'yes' })).toEqual(['the_name', 'on'])
    expect(wrongKeys(table, { the_name: 'x', on: 'yes' })).toEqual(['on'])
    expect(wrongKeys(table, { the_name: 'x' })).toEqual([])
  })
})

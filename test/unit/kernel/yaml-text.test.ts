/** Texts of YAML and JSON from a hostile or careless hand: what is read of them, and where the fault is said to be. */

import { describe, expect, it } from 'vitest'
import { readYamlText } from '../../../src/kernel/yaml-text.ts'

function faultOf(text: string, isJson = false): string | undefined {
  const read = readYamlText(text, isJson)
  if ('value' in read) return undefined
  return read.faults.map(({ line, column, where, detail }) => `${line}:${column} ${where}${detail}`).join()
}

function readValue(text: string): unknown {
  const read = readYamlText(text, false)
  return 'value' in read ? read.value : read
}

/** A list in a list, as often as said. */
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('a text is read', () => {
  const MERGED = 'b: &b {x: 1}\nc: &c {y: 2}\na:\n  <<: *b\n  <<: *c\n'
  it.each<[string, string, unknown]>([
    ['with a byte order mark before it', '\ufeffa: 1\n', { a: 1 }],
    ['with that character in a string', 'a: "x\ufeffy"\n', { a: 'x\ufeffy' }],
    ['with merge keys, of which there may be several', MERGED, { b: { x: 1 }, c: { y: 2 }, a: { x: 1, y: 2 } }],
    ['with lists as keys', '? [a]\n: 1\n? [b]\n: 2\n', { '[ a ]': 1, '[ b ]': 2 }],
    ['with a hundred lists in each other', nested(100), JSON.parse(nested(100))],
  ])('%s', (_what, text, value) => {
    expect(readValue(text)).toEqual(value)
  })

  it('of JSON, with its places', () => {
    const read = readYamlText('{"a": [\n 1, {"b": 2}]}', true)
    if ('faults' in read) throw new Error('not read')
    expect(read.value).toEqual({ a: [1, { b: 2 }] })
    const paths = [['a', 1, 'b'], ['a', 0], ['a', 0, 'b'], [], ['a'], ['none'], ['a', 9, 'b']]
    const placed = read.place(paths.map((path) => ({ path, detail: 'x' })))
    const places = placed.map(({ line, column, where }) => `${line}:${column} ${where}`)
    expect(places).toEqual(['1:1 ', '1:1 none', '1:1 a.9.b', '1:2 a', '2:2 a.0', '2:2 a.0.b', '2:6 a.1.b'])
  })
})

describe('a text is refused', () => {
  const tenOf = (item: string): string => `[${Array(10).fill(item).join(', ')}]`
  const BOMB = Array.from({ length: 9 }, (_, at) => `a${at}: &a${at} ${tenOf(at === 0 ? 'x' : `*a${at - 1}`)}`)

  it.each<[string, string, RegExp | string]>([
    ['with 101 lists in each other', nested(101), '1:1 nested too deeply to be read'],
    ['with more of them than a parser takes', '{a: '.repeat(20_000), /nested too deeply to be read$/],
    ['with aliases of aliases', BOMB.join('\n'), /^1:1 Excessive alias count/],
    ['with two keys of one name', 'a: 1\nb: 2\na: 3\n', '3:1 Map keys must be unique'],
    ['with two keys of one name in quotes', '"<<": 1\n"<<": 2\n', '2:1 Map keys must be unique'],
    ['with two keys of one name in a list', '- a: 1\n- b: 1\n  b: 2\n', '3:3 Map keys must be unique'],
    ['with an alias of nothing', 'a: *b\n', /^1:1 Unresolved alias/],
    ['with two documents', 'a: 1\n---\nb: 2\n', /^2:1 the file contains several documents/],
  ])('%s', (_what, text, fault) => {
    if (typeof fault === 'string') expect(faultOf(text)).toBe(fault)
    else expect(faultOf(text)).toMatch(fault)
  })

  it('of JSON with more lists in each other than its parser takes', () => {
    expect(faultOf(`#${'['.repeat(100_000)}`, true)).toBe('1:1 nested too deeply to be read')
  })

  it('with more than a million values, counting those of aliases', () => {
    const million = `&a [${Array(9_999).fill('x')}]${', *a'.repeat(99)}`
    expect(faultOf(`[${million}]`)).toBeUndefined()
    expect(faultOf(`[${million}, x]`)).toBe('1:1 too many values to be read, counting those of aliases')
  })
})

import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { CLAUDE_SYNTAX, OPENCODE_SYNTAX } from '../../../src/hosts/hook-entries.ts'
import type { SettingsFile } from '../../../src/setup/json-document.ts'
import { appendToList, removeFromList } from '../../../src/setup/list-editor.ts'

const JSONC: SettingsFile<unknown> = { path: 'x.jsonc', accepts: OPENCODE_SYNTAX, property: 'a', shape: z.unknown() }
const JSON_ALONE: SettingsFile<unknown> = { ...JSONC, path: 'x.json', accepts: CLAUDE_SYNTAX }

const isOurs = (value: unknown): boolean => value === 'ours'
const append = (text: string, keys: string[], file = JSONC): string => appendToList(text, file, keys, 'ours')
const remove = (text: string, keys: (string | number)[], file = JSONC): string =>
  removeFromList(text, file, keys, isOurs)

describe('adding a value to a list', () => {
  it.each([
    ['makes all that leads to it', '{}', ['a', 'b'], '{\n  "a": {\n    "b": [\n      "ours"\n    ]\n  }\n}'],
    ['stays on one line', '{"a": {}}', ['a', 'b', 'c'], '{"a": {"b": {"c":["ours"]}}}'],
    ['goes to the end of a list on one line', '{\n  "a": [1, 2]\n}', ['a'], '{\n  "a": [1, 2, "ours"]\n}'],
    ['lays out an empty list by lines', '{\n "a": []\n}', ['a'], '{\n "a": [\n  "ours"\n ]\n}'],
    ['puts the bracket on a line of its own', '{"a": [\n  1]}', ['a'], '{"a": [\n  1,\n    "ours"\n  ]}'],
    ['keeps the blanks of an empty list', '{\n "a": [\n\n ]\n}', ['a'], '{\n "a": [\n  "ours"\n\n ]\n}'],
    ['goes after the only comment of a list', '{ "a": [ /* b */ ] }', ['a'], '{ "a": [ /* b */ "ours" ] }'],
    ['goes below a comment', '{\n "a": [ /* b */ ]\n}', ['a'], '{\n "a": [ /* b */\n  "ours"\n  ]\n}'],
    ['keeps comments', '{"a": [\n1 /* 1\n*/ // 1\n// 2\n]}', ['a'], '{"a": [\n1, /* 1\n*/ // 1\n    "ours"\n// 2\n]}'],
    ['keeps a trailing comma on another line', '{"a": [\n1\n, // 1\n]}', ['a'], '{"a": [\n1\n,\n    "ours", // 1\n]}'],
    ['has inherited names', '{"a": {}}', ['a', '__proto__', 'toString'], '{"a": {"__proto__": {"toString":["ours"]}}}'],
  ])('%s', (_what, before, keys, after) => expect(append(before, keys)).toBe(after))

  it.each([
    ['// only a comment', '// only a comment\n{\n  "a": [\n    "ours"\n  ]\n}\n'],
    ['/* only a comment */', '/* only a comment */\n{\n  "a": [\n    "ours"\n  ]\n}\n'],
    ['// one\r\n', '// one\r\n{\r\n  "a": [\r\n    "ours"\r\n  ]\r\n}\r\n'],
    ['\ufeff', '\ufeff{\n  "a": [\n    "ours"\n  ]\n}\n'],
  ])('adds an object to a file without one: %j', (before, after) => expect(append(before, ['a'])).toBe(after))

  it('writes no blanks between values of plain JSON on one line', () => {
    expect(append('{"a":[1]}', ['a'], JSON_ALONE)).toBe('{"a":[1,"ours"]}')
    expect(append('{"a":[1],\n"b":2}', ['a'], JSON_ALONE)).toBe('{"a":[1, "ours"],\n"b":2}')
  })
})

describe('removing values from a list', () => {
  it.each([
    ['removes empty holders of the list', '{"a": {"b": {"c": ["ours"]}}, "z": 1}', ['a', 'b', 'c'], '{"z": 1}'],
    ['keeps a holder that has more', '{"a": {"b": ["ours"], "c": []}}', ['a', 'b'], '{"a": {"c": []}}'],
    ['removes an item whose list held nothing else', '{"a": [1, ["ours"]]}', ['a', 1], '{"a": [1]}'],
    ['removes every one of them', '{"a": ["ours", 1, "ours", "ours"]}', ['a'], '{"a": [1]}'],
    ['keeps a list with a comment', '{"a": [ "ours" /* b */ ]}', ['a'], '{"a": [ /* b */ ]}'],
    ['keeps a list whose name has a comment', '{ "a" /* b */ : ["ours"] }', ['a'], '{ "a" /* b */ : [] }'],
    ['keeps an object with a comment', '{"a": { // b\n "c": ["ours"]}}', ['a', 'c'], '{"a": { // b\n}}'],
    ['removes its line, and no other', '{"a": [\n  1, // 1  \n\n  "ours"\n]}', ['a'], '{"a": [\n  1 // 1  \n\n]}'],
    ['removes the first line', '{"a": [\n  "ours",\n  1\n]}', ['a'], '{"a": [\n  1\n]}'],
    ['removes the end of a line', '{"a": [1, "ours"\n]}', ['a'], '{"a": [1\n]}'],
    ['removes blanks at the end of its line', '{"a": [\n  1,\n  "ours" \t\n]}', ['a'], '{"a": [\n  1\n]}'],
    ['removes blanks behind a comment', '{"a": [1, /* 1 */  "ours"]}', ['a'], '{"a": [1 /* 1 */]}'],
    ['keeps blanks behind a comment', '{"a": ["ours",/* b */ 1]}', ['a'], '{"a": [/* b */ 1]}'],
    ['removes a comma on the next line', '{"a": ["ours"\n , 1]}', ['a'], '{"a": [\n  1]}'],
  ])('%s', (_what, before, keys, after) => expect(remove(before, keys)).toBe(after))

  it.each([
    ['', ['a']],
    ['{"a": ["theirs"]}', ['a']],
    ['{"a": {"b": "ours"}}', ['a']],
    ['{"a": [["ours"]]}', ['a']],
    ['{"__proto__": {"a": ["ours"]}}', ['a']],
    ['{"b": ["ours"]}', ['a']],
  ])('leaves %j unchanged', (text, keys) => expect(remove(text, keys)).toBe(text))
})

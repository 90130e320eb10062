import { describe, expect, it } from 'vitest'
import { addPlugin, findPlugins, isOurPlugin, PLUGIN_FILE, removePlugin } from '../../../src/setup/opencode-plugins.ts'
import { thrownBy } from '../builders.ts'

const SPEC = 'file:///opt/postflight-guard/dist/opencode/postflight-guard.mjs'
const OLD = 'file:///old/postflight-guard-0.0.1/dist/opencode/postflight-guard.mjs'
const PATH = '/home/me/.config/opencode/opencode.json'

/** Our entry as it is laid out in lines. */
const OURS = `"plugin": [\n    "${SPEC}"\n  ]`

const add = (text: string): string => addPlugin(text, SPEC, PATH, isOurPlugin)
const remove = (text: string): string => removePlugin(text, PATH, isOurPlugin)

describe('a plugin of ours', () => {
  it.each([
    ...[SPEC, OLD, 'postflight-guard', 'postflight-guard@0.1.0'],
    './node_modules/postflight-guard/dist/opencode/postflight-guard.mjs',
    'file:///C:/my%20tools/postflight-guard/dist/opencode/postflight-guard.mjs',
    'C:\\tools\\dist\\opencode\\postflight-guard.mjs',
    'file:///home/me/clone/dist/opencode/postflight-guard.mjs',
    `file:///wherever/this/lies/${PLUGIN_FILE}`,
    [SPEC, { option: 1 }],
  ])('can be %j', (entry) => expect(isOurPlugin(entry)).toBe(true))

  it.each([
    ...['./my-plugin.js', 'opencode-postflight', 'file:///x/dist/opencode/index.mjs'],
    ...['file:///x/dist/opencode/postflight-guard.mjs.bak', 'postflight-guard-x', 'my-postflight-guard'],
    ...['./packages/postflight-guard', 7, null, [], [[SPEC]]],
  ])('cannot be %j', (entry) => expect(isOurPlugin(entry)).toBe(false))
})

describe('adding the plugin to a configuration', () => {
  it.each([
    ['an empty text', '', `{\n  "plugin": [\n    "${SPEC}"\n  ]\n}\n`],
    ['one line', '{"model":"a/b"}', `{"model":"a/b", "plugin": ["${SPEC}"]}`],
    ['tabs and CRLF', '{\r\n\t"a": 1\r\n}\r\n', `{\r\n\t"a": 1,\r\n\t"plugin": [\r\n\t\t"${SPEC}"\r\n\t]\r\n}\r\n`],
    ['a comment', '{\n  "a": 1 // b, {"c"}\n  /* 2 */\n}', `{\n  "a": 1, // b, {"c"}\n  ${OURS}\n  /* 2 */\n}`],
    ['a trailing comma', '{\n  "model": "a/b",\n}\n', `{\n  "model": "a/b",\n  ${OURS},\n}\n`],
    [
      'others, in lines',
      '{\n "plugin": [\n  "a", // a\n  "b" // b\n ]\n}',
      `{\n "plugin": [\n  "a", // a\n  "b", // b\n  "${SPEC}"\n ]\n}`,
    ],
    ['a list of a comment', '{\n  "plugin": [\n    // a\n  ]\n}', `{\n  "plugin": [\n    // a\n    "${SPEC}"\n  ]\n}`],
  ])('%s', (_name, before, after) => {
    expect(add(before)).toBe(after)
    expect(add(after)).toBe(after)
    expect(findPlugins(after, PATH, isOurPlugin)).toEqual([SPEC])
  })

  it.each([
    [`"${OLD}"`, `"${SPEC}"`],
    [`["${OLD}", {"guard": false}]`, `["${SPEC}",{"guard":false}]`],
    [`"${SPEC}", ["${OLD}", {"guard": false}]`, `["${SPEC}",{"guard":false}]`],
  ])('replaces %s of another copy of the package, and keeps its options', (before, after) => {
    expect(add(`{"plugin": [${before}, "./a.js"]}`)).toBe(`{"plugin": ["./a.js", ${after}]}`)
  })

  it('leaves an entry that is right where it is', () => {
    const text = `{"plugin": ["${SPEC}", "./a.js"]}`
    expect(add(text)).toBe(text)
  })

  it.each([
    ['[]', undefined, 'object'],
    ['{"plugin": null}', 'plugin', 'list'],
    ['{"plugin": [], "a": 1, "\\u0070lugin": []}', 'plugin', 'unique'],
  ])('refuses %s: the property %s must be of the kind %s', (text, property, expected) => {
    for (const call of [add, remove]) {
      const args = { path: PATH, property, expected }
      expect(thrownBy(() => call(text))).toMatchObject({ code: 'settings-wrong-shape', args })
    }
  })

  it.each([
    ...['', '// "plugin"\n', '{}', '{"plugin": []}'],
    ...[`{"__proto__": {"plugin": ["${SPEC}"]}}`, `{"mcp": {"plugin": ["${SPEC}"]}}`],
  ])('finds and removes nothing in %j', (text) => {
    expect(findPlugins(text, PATH, isOurPlugin)).toEqual([])
    expect(remove(text)).toBe(text)
    expect(findPlugins(add(text), PATH, isOurPlugin)).toEqual([SPEC])
  })
})

describe('removing the plugin', () => {
  it.each([
    [`{\n  "plugin": [\n    "${SPEC}"\n  ]\n}\n`, '{}\n'],
    [`{"a": 1, "plugin": ["${SPEC}"]}`, '{"a": 1}'],
    [`{"plugin": ["${SPEC}"], "a": 1}`, '{"a": 1}'],
    [`{"plugin": ["${SPEC}", "./a.js"]}`, '{"plugin": ["./a.js"]}'],
    [`{"plugin": ["./a.js", "${SPEC}"]}`, '{"plugin": ["./a.js"]}'],
    [`{"plugin": ["./a.js", ["${SPEC}", {"x": [1]}], "./b.js"]}`, '{"plugin": ["./a.js", "./b.js"]}'],
    [`{\n "plugin": [\n  "a", // a\n  "${SPEC}" // ours\n ]\n}`, '{\n "plugin": [\n  "a" // a\n // ours\n ]\n}'],
    [`{\n  "plugin": [\n    // why\n    "${SPEC}"]\n}\n`, '{\n  "plugin": [\n    // why\n]\n}\n'],
    [`{\n  // first\n  "plugin": ["${SPEC}"],\n  "a": 1, // one\n}\n`, '{\n  // first\n  "a": 1, // one\n}\n'],
  ])('%j', (before, after) => expect(remove(before)).toBe(after))
})

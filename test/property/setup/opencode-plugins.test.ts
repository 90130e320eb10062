import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { addPlugin, isOurPlugin, removePlugin } from '../../../src/setup/opencode-plugins.ts'
import { holds, maybe } from '../arbitraries.ts'
import { commentsIn, container, spaced } from './jsonc-arbitraries.ts'

const SPEC = 'file:///opt/postflight-guard/dist/opencode/postflight-guard.mjs'
const OLD = '/old/postflight-guard/dist/opencode/postflight-guard.mjs'

const plugins = fc
  .array(fc.constantFrom('"./a.js"', '["./b.js", {"x": 1}]', `"${OLD}"`, `["${SPEC}", {}]`, '7'), { maxLength: 4 })
  .chain((items) => container('[', ']', items))

const config = fc
  .tuple(maybe(plugins), fc.subarray(['"model": "a/b"', '"mcp": {"plugin": ["x"]}']), fc.nat(2))
  .chain(([list, others, at]) => {
    const properties = [...others]
    if (list !== undefined) properties.splice(at, 0, `"plugin":${list}`)
    return container('{', '}', properties)
  })
  .chain(spaced)

const read = (text: string): Record<string, unknown> => parse(text, [], { allowTrailingComma: true })
const isOurs = (entry: unknown): boolean => JSON.stringify(entry).includes('postflight-guard.mjs')

function withoutOurs(text: string): Record<string, unknown> {
  const value = { ...read(text) }
  if (!Array.isArray(value.plugin)) return value
  const others = value.plugin.filter((entry) => !isOurs(entry))
  if (others.length > 0) return { ...value, plugin: others }
  delete value.plugin
  return value
}

describe('any configuration of OpenCode', () => {
  it('lists the plugin once after install, and keeps its other content and every comment', () => {
    holds(2000)(config, (text) => {
      const after = addPlugin(text, SPEC, 'x', isOurPlugin)
      const errors: never[] = []
      parse(after, errors, { allowTrailingComma: true })
      expect(errors).toEqual([])
      const ours = ((read(after).plugin ?? []) as unknown[]).filter(isOurs)
      expect(ours.map((entry) => (Array.isArray(entry) ? entry[0] : entry))).toEqual([SPEC])
      expect(withoutOurs(after)).toEqual(withoutOurs(text))
      expect(commentsIn(after)).toEqual(commentsIn(text))
      expect(addPlugin(after, SPEC, 'x', isOurPlugin)).toBe(after)
    })
  })

  it('has its content without our entries after uninstall, and keeps every comment', () => {
    holds(2000)(config, (text) => {
      const after = removePlugin(text, 'x', isOurPlugin)
      const errors: never[] = []
      parse(after, errors, { allowTrailingComma: true })
      expect(errors).toEqual([])
      const { plugin, ...left } = read(after)
      expect(plugin === undefined || (plugin as unknown[]).length === 0 ? left : { ...left, plugin }).toEqual(
        withoutOurs(text),
      )
      expect(commentsIn(after)).toEqual(commentsIn(text))
      expect(removePlugin(after, 'x', isOurPlugin)).toBe(after)
    })
  })
})

import { expect, it } from 'vitest'
import * as z from 'zod/mini'
import { schemaFaults } from '../../../src/kernel/schema-faults.ts'
import { succeeds, valueAt } from '../../../src/kernel/values.ts'

const WORDS = {
  fieldsAt: () => ['known'],
  kinds: (kinds: readonly string[], isMissing: boolean) => `${kinds.join('|')}${isMissing ? '?' : ''}`,
  values: (values: readonly string[]) => values.join('|'),
}
const CHECK = z.union([
  z.string(),
  z.strictObject({ run: z.string() }),
  z.strictObject({ run: z.number(), times: z.number(), step: z.optional(z.string()) }),
])
const SCHEMA = z.strictObject({ list: z.array(CHECK), kind: z.enum(['a', 'b']), size: z.number().check(z.gte(3)) })
const FINE = { list: ['x'], kind: 'a', size: 3 }

it.each<[string, object, readonly string[]]>([
  ['a missing value', { ...FINE, kind: undefined, size: undefined }, ['kind: a|b', 'size: number?']],
  ['unknown fields', { ...FINE, x: 1, y: 1 }, [': unknown field "x"', ': unknown field "y"']],
  ['a slip', { ...FINE, knwon: 1 }, [': unknown field "knwon" (did you mean "known"?)']],
  ['no form of a value', { ...FINE, list: [1, []] }, ['list.0: string|object|object', 'list.1: string|object|object']],
  [
    'the nearest form',
    { ...FINE, list: [{ run: [], times: 1, z: 1 }] },
    ['list.0.run: number', 'list.0: unknown field "z"'],
  ],
  ['the first of two forms', { ...FINE, list: [{ run: [] }] }, ['list.0.run: string']],
  ['no more than three', { ...FINE, a: 1, b: 2, c: 3, d: 4 }, ['a', 'b', 'c'].map((one) => `: unknown field "${one}"`)],
  [
    'no more than three of all',
    { ...FINE, kind: 1, size: '', a: 1, b: 2 },
    ['kind: a|b', 'size: number', ': unknown field "a"'],
  ],
  ['a size, by the message of the schema', { ...FINE, size: 1 }, ['size: Invalid input']],
])('schema faults are %s', (_what, value, expected) => {
  const issues = SCHEMA.safeParse(value).error?.issues ?? []
  const faults = schemaFaults(value, issues, WORDS, 3)
  expect(faults.map(({ path, detail }) => `${path.join('.')}: ${detail}`)).toEqual(expected)
})

it('there is no value behind one that is missing', () => {
  expect(valueAt({}, ['a', 'b', 'c'])).toBeUndefined()
})

it('an action that throws does not succeed', () => {
  expect([() => undefined, () => JSON.parse('{')].map(succeeds)).toEqual([true, false])
})

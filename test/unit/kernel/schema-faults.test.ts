import { expect, it } from 'vitest'
import * as z from 'zod/mini'
import { readBy } from '../../../src/kernel/schema-faults.ts'
import { succeeds, valueAt } from '../../../src/kernel/values.ts'

const CHECK = z.union([
  z.string(),
  z.strictObject({ run: z.string() }),
  z.strictObject({ run: z.number(), times: z.number(), step: z.optional(z.string()) }),
])
const text = z.string().check(z.minLength(1), z.maxLength(2))
const SCHEMA = z.strictObject({
  list: z.array(CHECK),
  kind: z.enum(['a', 'b']),
  size: z.int().check(z.gte(3), z.lte(9)),
  known: z.optional(z.record(z.string(), z.strictObject({ all: z.optional(z.array(text).check(z.maxLength(1))) }))),
  flag: z.optional(z.union([z.boolean(), z.array(z.int()).check(z.minLength(1))])),
  only: z.optional(z.literal(true)),
})
const FINE = { list: ['x'], kind: 'a', size: 3 }
const withTexts = (all: string[]) => ({ known: { x: { all } } })

it.each<[string, object, string]>([
  ['a missing value', { kind: undefined }, 'kind: must be one of "a", "b"'],
  ['another than the only value', { only: 'true' }, 'only: must be true'],
  ['a missing number', { size: undefined }, 'size: is missing, and must be a number'],
  ['unknown fields', { x: 1, y: 1 }, ': unknown field "x"; : unknown field "y"'],
  ['a slip', { knwon: 1 }, ': unknown field "knwon" (did you mean "known"?)'],
  ['a slip in a record', { known: { x: { al: 1 } } }, 'known.x: unknown field "al" (did you mean "all"?)'],
  ['one in a list', { list: [{ run: 1, times: 2, stpe: '' }] }, 'list.0: unknown field "stpe" (did you mean "step"?)'],
  ['no form of a value', { list: ['x', []] }, 'list.1: must be a string or an object'],
  ['the nearest', { list: [{ run: [], times: 1, z: 1 }] }, 'list.0.run: must be a number; list.0: unknown field "z"'],
  ['the first of two forms', { list: [{ run: [] }] }, 'list.0.run: must be a string'],
  ['three at most', { a: 1, b: 2, c: 3, d: 4 }, ['a', 'b', 'c'].map((one) => `: unknown field "${one}"`).join('; ')],
  ['three of all', { size: '', a: 1, b: 2, c: 3 }, 'size: must be a number; : unknown field "a"; : unknown field "b"'],
  ['a small number', { size: 1 }, 'size: must be at least 3'],
  ['a large number', { size: 10 }, 'size: must be at most 9'],
  ['a short text', withTexts(['']), 'known.x.all.0: must be at least 1 character long'],
  ['a long text', withTexts(['abc']), 'known.x.all.0: must be at most 2 characters long'],
  ['a long list', withTexts(['a', 'b']), 'known.x.all: must have at most 1 entry'],
  ['a short list', { flag: [] }, 'flag: must have at least 1 entry'],
  ['two kinds', { flag: 'x' }, 'flag: must be true or false or a list'],
  ['a fraction', { flag: [1.5] }, 'flag.0: must be a whole number'],
])('schema faults are %s', (_what, changes, expected) => {
  const read = readBy(SCHEMA, { ...FINE, ...changes }, 'option', 3)
  const faults = 'faults' in read ? read.faults.map(({ path, detail }) => `${path.join('.')}: ${detail}`) : []
  expect(faults.join('; ').replaceAll(': it ', ': ')).toEqual(expected)
})

it('there is no value behind one that is missing', () => {
  expect(valueAt({}, ['a', 'b', 'c'])).toBeUndefined()
})

it('an action that throws does not succeed', () => {
  expect([() => undefined, () => JSON.parse('{')].map(succeeds)).toEqual([true, false])
})

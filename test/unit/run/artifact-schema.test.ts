import { describe, expect, it } from 'vitest'
import { findBreach, MAX_SCHEMA_DEPTH, schemaFaults } from '../../../src/run/definition/artifact-schema.ts'
import { POINTER, resolvePointer } from '../../../src/run/definition/steps.ts'

describe('the supported subset of JSON Schema', () => {
  it.each<[unknown, unknown, string | undefined]>([
    [true, 1, undefined],
    [false, 1, ''],
    [{ type: ['array', 'null'] }, null, undefined],
    [{ type: ['array', 'null'] }, 'null', ''],
    [{ type: 'string', minLength: 2 }, '😀', ''],
    [{ minLength: 2 }, 'ab', undefined],
    [{ maxLength: 1 }, '😀', undefined],
    [{ maxLength: 1 }, 'ab', ''],
    [{ minimum: 1, maximum: 2 }, 0, ''],
    [{ minimum: 1, maximum: 2 }, 1, undefined],
    [{ minimum: 1, maximum: 2 }, 2, undefined],
    [{ minimum: 1, maximum: 2 }, 3, ''],
    [{ minimum: 1 }, 'text', undefined],
    [{ minItems: 1 }, [], ''],
    [{ maxItems: 1 }, [1, 2], ''],
    [{ enum: [1, { a: [1] }] }, { a: [1] }, undefined],
    [{ enum: [1] }, 2, ''],
    [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }, undefined],
    [{ const: { a: 1 } }, 3, ''],
    [{ const: { a: 1, b: 2 } }, { a: 1, b: 3 }, ''],
    [{ const: {} }, [], ''],
    [{ const: [1] }, [1, 2], ''],
    [{ const: [1, 2] }, [1, 3], ''],
    [{ required: ['a', 'b'] }, { a: 1 }, ''],
    [{ required: ['a', 'b'] }, { a: 1, b: 1 }, undefined],
    [{ required: ['a'] }, {}, ''],
    [{ required: ['a'] }, [], undefined],
    [{ required: ['toString'] }, {}, ''],
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, '/a'],
    [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, '/b'],
    [{ additionalProperties: { type: 'string' } }, { b: 2 }, '/b'],
    [{ items: { items: { type: 'string' } } }, [['x'], [1]], '/1/0'],
    [{ title: 'x', description: 'y' }, 1, undefined],
    [{ properties: { a: { type: 'string' } } }, 3, undefined],
    [{ items: false }, 3, undefined],
    [{ minLength: 1, minItems: 1 }, {}, undefined],
    [{ const: { a: 1 } }, { a: 1, b: 2 }, ''],
    [{ const: { a: 1 } }, { b: 1 }, ''],
    [{ const: [1] }, { 0: 1 }, ''],
  ])('the schema %j and the value %j: broken at %j', (schema, value, at) => {
    expect(schemaFaults(schema)).toEqual([])
    expect(findBreach(schema, value)).toEqual(at === undefined ? undefined : expect.objectContaining({ at }))
  })

  it.each([
    ['object', [{}]],
    ['array', [[]]],
    ['string', ['x']],
    ['number', [1, 1.5]],
    ['integer', [1]],
    ['boolean', [true, false]],
    ['null', [null]],
  ])('the type %s accepts %j, and no other value', (type, expected) => {
    const all = [{}, [], 'x', 1, 1.5, true, false, null]
    expect(all.filter((value) => findBreach({ type }, value) === undefined)).toEqual(expected)
  })

  it.each<[unknown, unknown, string, string]>([
    [false, 1, 'false', ''],
    [{ type: 'string' }, 1, 'type', 'string'],
    [{ type: ['string', 'null'] }, 1, 'type', '["string","null"]'],
    [{ const: { a: 1 } }, 1, 'const', '{"a":1}'],
    [{ minLength: 2 }, 'x', 'minLength', '2'],
  ])('the schema %j and the value %j: broken is the keyword %s, %s', (schema, value, keyword, expected) => {
    expect(findBreach(schema, value)).toEqual({ at: '', keyword, expected })
  })

  it.each(['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples'])(
    'the annotation %s may have any value',
    (keyword) => {
      for (const note of ['x', 5, { pattern: 'x' }]) {
        expect(schemaFaults({ [keyword]: note })).toEqual([])
        expect(findBreach({ [keyword]: note }, 1)).toBeUndefined()
      }
    },
  )

  it.each<[unknown, string[]]>([
    [{ pattern: 'x' }, ['pattern']],
    [{ $ref: '#' }, ['$ref']],
    [{ toString: 'x' }, ['toString']],
    [{ additionalProperties: { format: 'date' } }, ['additionalProperties', 'format']],
  ])('%j: the keyword at %j is unknown', (schema, path) => {
    expect(schemaFaults(schema)).toEqual([{ path, reason: 'unknown', keyword: path.at(-1) }])
  })

  it.each<[unknown, string[], string]>([
    [{ type: 'thing' }, ['type'], 'types'],
    [{ type: ['string', 'thing'] }, ['type'], 'types'],
    [{ minimum: 'x' }, ['minimum'], 'number'],
    [{ maxItems: Number.POSITIVE_INFINITY }, ['maxItems'], 'number'],
    [{ required: 'a' }, ['required'], 'names'],
    [{ required: ['a', 3] }, ['required'], 'names'],
    [{ properties: { 'a/b': { enum: 3 } } }, ['properties', 'a/b', 'enum'], 'values'],
    [{ properties: [] }, ['properties'], 'schemas'],
  ])('%j: the value at %j must be of the kind %s', (schema, path, kind) => {
    expect(schemaFaults(schema)).toEqual([{ path, reason: 'kind', keyword: path.at(-1), kind }])
  })

  it.each<[unknown, string[]]>([
    [{ items: 3 }, ['items']],
    [{ additionalProperties: null }, ['additionalProperties']],
    [{ properties: { a: [] } }, ['properties', 'a']],
    [3, []],
  ])('%j: the value at %j is not a schema', (schema, path) => {
    expect(schemaFaults(schema)).toEqual([{ path, reason: 'not-schema' }])
  })

  /** Distinct texts of `length` characters that differ in the last ones. */
  const texts = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_, at) => String(at).padStart(length, '0'))
  const named = (names: readonly string[], value: unknown): object =>
    Object.fromEntries(names.map((name) => [name, value]))
  const many = texts(20_000, 6)

  it.each<[string, unknown, unknown, 'too-long' | undefined]>([
    ['a large enum', { items: { enum: [...texts(199, 10_000), 'x'] } }, Array(100_000).fill('x'), 'too-long'],
    [
      'long texts of one length',
      { items: { enum: [...texts(199, 10_000), 'x'.repeat(10_000)] } },
      Array(400).fill('x'.repeat(10_000)),
      'too-long',
    ],
    ['many required names', { items: { required: many } }, Array(2_000).fill(named(many, 1)), 'too-long'],
    ['many properties', { items: { properties: named(many, {}) } }, Array(2_000).fill({}), undefined],
    [
      'many values of many names',
      { items: { properties: named(many, {}) } },
      Array(2_000).fill(named(many, 1)),
      'too-long',
    ],
    ['a large const', { items: { const: named(many, 1) } }, Array(2_000).fill(named(many, 1)), 'too-long'],
    ['more values than steps', { items: true }, Array(1_000_000).fill(0), 'too-long'],
    ['a very long text', { minLength: 1, maxLength: 4_000_000 }, 'x'.repeat(4_000_000), undefined],
  ])('a check ends after a number of steps: %s', (_, schema, value, expected) => {
    const before = process.cpuUsage()
    expect(findBreach(schema, value)).toBe(expected)
    const { user, system } = process.cpuUsage(before)
    // Usually under 60 ms; without a limit of steps 10 s and more.
    expect((user + system) / 1000).toBeLessThan(1_000)
  })

  it('a check of a usual large artifact has steps enough', () => {
    const item = { id: 1, name: 'x', kind: 'a', tags: ['b'], done: false }
    const schema = {
      type: 'array',
      items: {
        type: 'object',
        required: Object.keys(item),
        properties: { id: { type: 'integer' }, name: { type: 'string' }, kind: { enum: ['a', 'b', 'c'] } },
      },
    }
    expect(findBreach(schema, Array(10_000).fill(item))).toBeUndefined()
  })

  it('`type` may list each type once', () => {
    expect(schemaFaults({ type: Array(7).fill('string') })).toEqual([])
    expect(schemaFaults({ type: Array(8).fill('string') })).toMatchObject([{ path: ['type'], reason: 'kind' }])
  })

  it('`enum` may list two hundred values, and no more', () => {
    const values = Array.from({ length: 201 }, (_, index) => index)
    expect(schemaFaults({ enum: values.slice(0, 200) })).toEqual([])
    expect(schemaFaults({ enum: values })).toMatchObject([{ path: ['enum'], reason: 'kind' }])
  })

  it.each<[string, (schema: object) => object]>([
    ['items', (schema) => ({ items: schema })],
    ['additionalProperties', (schema) => ({ additionalProperties: schema })],
    ['properties', (schema) => ({ properties: { a: schema } })],
  ])('schemas may be nested twenty levels deep in %s, and no deeper', (_, around) => {
    const nested = (depth: number): object => (depth === 0 ? {} : around(nested(depth - 1)))
    expect(schemaFaults(nested(MAX_SCHEMA_DEPTH))).toEqual([])
    expect(schemaFaults(nested(MAX_SCHEMA_DEPTH + 1))).toMatchObject([{ reason: 'not-schema' }])
    expect(MAX_SCHEMA_DEPTH).toBe(20)
  })
})

describe('a JSON pointer', () => {
  it.each<[string, unknown]>([
    ['', { a: 1 }],
    ['/a', undefined],
    ['/list/1', 'two'],
    ['/list/01', undefined],
    ['/list/-', undefined],
    ['/list/length', undefined],
    ['/x~1y/~0', 3],
    ['/toString', undefined],
    ['/list/1/0', undefined],
    ['/none/a', undefined],
  ])('%j', (pointer, expected) => {
    const value = pointer === '' ? { a: 1 } : { list: ['one', 'two'], 'x/y': { '~': 3 }, none: null }
    expect(resolvePointer(value, pointer)).toEqual(expected)
  })

  it.each([
    ['', true],
    ['/a/~0~1', true],
    ['a', false],
    ['/~2', false],
  ])('%j is valid: %s', (text, expected) => {
    expect(POINTER.test(text)).toBe(expected)
  })
})

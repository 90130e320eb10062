import { describe, expect, it } from 'vitest'
import { findBreach, MAX_SCHEMA_DEPTH, schemaFaults } from '../../../src/run/definition/artifact-schema.ts'
import { POINTER, resolvePointer } from '../../../src/run/definition/steps.ts'

describe('the supported subset of JSON Schema', () => {
  it.each<[schema: unknown, right: unknown[], broken: unknown[]]>([
    [true, [1], []],
    [false, [], [1]],
    [{ type: ['array', 'null'] }, [null], ['null']],
    [{ type: 'string', minLength: 2 }, [], ['😀']],
    [{ minLength: 2 }, ['ab', '\uffffa'], []],
    [{ maxLength: 1 }, ['😀'], ['ab']],
    [{ minimum: 1, maximum: 2 }, [1, 2], [0, 3]],
    [{ minimum: 1 }, ['text'], []],
    [{ minItems: 1 }, [], [[]]],
    [{ maxItems: 1 }, [], [[1, 2]]],
    [{ minLength: 1, minItems: 1 }, [{}], []],
    [{ enum: ['x', { a: [1] }] }, [{ a: [1] }], [null]],
    [{ const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1, b: 3 }]],
    [{ const: { a: 1 } }, [], [3, { a: 1, b: 2 }, { b: 1 }]],
    [{ const: {} }, [], [[]]],
    [{ const: JSON.parse('{"__proto__":{}}') }, [], [{ a: 1 }]],
    [{ const: [1] }, [], [[1, 2], { 0: 1, length: 1 }]],
    [{ const: [1, 2] }, [], [[1, 3]]],
    [{ required: ['a', 'b'] }, [{ a: 1, b: 1 }], [{ a: 1 }]],
    [{ required: ['a'] }, [[]], [{}]],
    [{ required: ['toString'] }, [], [{}]],
    [{ properties: { 0: { type: 'string' } } }, [[3]], []],
    [{ items: false, title: 'x', type: 'number' }, [3], ['x']],
  ])('the schema %j is right for %j, and broken by %j as a whole', (schema, right, broken) => {
    expect(schemaFaults(schema)).toEqual([])
    for (const value of right) expect(findBreach(schema, value), JSON.stringify(value)).toBeUndefined()
    for (const value of broken) expect(findBreach(schema, value), JSON.stringify(value)).toMatchObject({ at: '' })
  })

  it.each<[unknown, unknown, string]>([
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, '/a'],
    [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, '/b'],
    [{ additionalProperties: { type: 'string' } }, { b: 2 }, '/b'],
    [{ items: { items: { type: 'string' } } }, [['x'], [1]], '/1/0'],
  ])('the schema %j and the value %j: broken at %j', (schema, value, at) => {
    expect(findBreach(schema, value)).toMatchObject({ at })
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

  it.each<[unknown, string[], kind: string]>([
    [{ pattern: 'x' }, ['pattern'], 'unknown'],
    [{ $ref: '#' }, ['$ref'], 'unknown'],
    [{ toString: 'x' }, ['toString'], 'unknown'],
    [{ additionalProperties: { format: 'date' } }, ['additionalProperties', 'format'], 'unknown'],
    [{ type: 'thing' }, ['type'], 'types'],
    [{ type: ['string', 'thing'] }, ['type'], 'types'],
    [{ type: Array(8).fill('string') }, ['type'], 'types'],
    [{ minimum: 'x' }, ['minimum'], 'number'],
    [{ maxItems: Number.POSITIVE_INFINITY }, ['maxItems'], 'number'],
    [{ required: 'a' }, ['required'], 'names'],
    [{ required: ['a', 3] }, ['required'], 'names'],
    [{ properties: { 'a/b': { enum: 'x' } } }, ['properties', 'a/b', 'enum'], 'values'],
    [{ enum: Array(201).fill(1) }, ['enum'], 'values'],
    [{ properties: [] }, ['properties'], 'schemas'],
  ])('%j: the keyword at %j is wrong: %s', (schema, path, problem) => {
    expect(schemaFaults(schema)).toEqual([{ path, problem }])
  })

  it.each<[unknown, string[]]>([
    [{ items: 3 }, ['items']],
    [{ additionalProperties: null }, ['additionalProperties']],
    [{ properties: { a: [] } }, ['properties', 'a']],
    [3, []],
  ])('%j: the value at %j is not a schema', (schema, path) => {
    expect(schemaFaults(schema)).toEqual([{ path, problem: 'not-schema' }])
  })

  it.each([{ type: Array(7).fill('string') }, { enum: Array(200).fill(1) }])('%j has no fault', (schema) => {
    expect(schemaFaults(schema)).toEqual([])
  })

  /** Distinct texts of `length` characters that differ in the last ones. */
  const texts = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_, at) => String(at).padStart(length, '0'))
  const many = texts(20_000, 6)
  const named = (value: unknown): object => Object.fromEntries(many.map((name) => [name, value]))
  const long = 'x'.repeat(10_000)

  it.each<[string, unknown, unknown, 'too-long' | undefined]>([
    ['a large enum', { items: { enum: [...texts(199, 10_000), 'x'] } }, Array(100_000).fill('x'), 'too-long'],
    ['long texts', { items: { enum: [...texts(199, 10_000), long] } }, Array(400).fill(long), 'too-long'],
    ['many required names', { items: { required: many } }, Array(2_000).fill(named(1)), 'too-long'],
    ['many properties', { items: { properties: named({}) } }, Array(2_000).fill({}), undefined],
    ['many names of many values', { items: { properties: named({}) } }, Array(2_000).fill(named(1)), 'too-long'],
    ['a large const', { items: { const: named(1) } }, Array(2_000).fill(named(1)), 'too-long'],
    ['a very long text', { minLength: 1, maxLength: 4_000_000 }, 'x'.repeat(4_000_000), undefined],
  ])('a check ends after a number of steps: %s', (_, schema, value, expected) => {
    const before = process.cpuUsage()
    expect(findBreach(schema, value)).toBe(expected)
    const { user, system } = process.cpuUsage(before)
    // Usually under 60 ms; without a limit of steps 10 s and more.
    expect((user + system) / 1000).toBeLessThan(3_000)
  })

  const numbered = Object.fromEntries(Array.from({ length: 83_331 }, (_, at) => [`n${at}`, at]))
  it.each<[string, (more: number) => [schema: object, value: unknown]]>([
    ['for each value and keyword', (more) => [{ items: true }, Array(249_998 + more).fill(0)]],
    ['for each name', (more) => [{ required: Array(249_998 + more).fill('a') }, { a: 1 }]],
    ['for a hundred characters', (more) => [{ const: 'x'.repeat(24_999_700 + more) }, 'x'.repeat(24_999_700 + more)]],
    ['for a text of another length', (more) => [{ enum: [...Array(249_996 + more).fill(long), 'x'] }, 'x']],
    [
      'for each name of an object, and for it',
      (more) => [{ const: [numbered, ...Array(3 + more).fill(0)] }, [numbered, ...Array(3 + more).fill(0)]],
    ],
  ])('a check takes a step %s', (_, ofSize) => {
    expect([0, 1].map((more) => findBreach(...ofSize(more)))).toEqual([undefined, 'too-long'])
  })

  it('a check of a usual large artifact has steps enough', () => {
    const item = { id: 1, name: 'x', kind: 'a', tags: ['b'], done: false }
    const properties = { id: { type: 'integer' }, name: { type: 'string' }, kind: { enum: ['a', 'b', 'c'] } }
    const schema = { type: 'array', items: { type: 'object', required: Object.keys(item), properties } }
    expect(findBreach(schema, Array(10_000).fill(item))).toBeUndefined()
  })

  it.each<[string, (schema: object) => object]>([
    ['items', (schema) => ({ items: schema })],
    ['additionalProperties', (schema) => ({ additionalProperties: schema })],
    ['properties', (schema) => ({ properties: { a: schema } })],
  ])('schemas may be nested twenty levels deep in %s, and no deeper', (_, around) => {
    const nested = (depth: number): object => (depth === 0 ? {} : around(nested(depth - 1)))
    expect(schemaFaults(nested(MAX_SCHEMA_DEPTH))).toEqual([])
    expect(schemaFaults(nested(MAX_SCHEMA_DEPTH + 1))).toMatchObject([{ problem: 'not-schema' }])
    expect(MAX_SCHEMA_DEPTH).toBe(20)
  })
})

describe('a JSON pointer', () => {
  const VALUE = { list: ['one', 'two'], 'x/y': { '~': 3 }, none: null }

  it.each<[string, unknown]>([
    ['', VALUE],
    ['/list/1', 'two'],
    ['/x~1y/~0', 3],
  ])('%j leads to a value', (pointer, expected) => {
    expect(resolvePointer(VALUE, pointer)).toEqual(expected)
  })

  it.each(['/a', '/list/01', '/list/-', '/list/length', '/toString', '/list/1/0', '/none/a'])(
    '%j leads nowhere',
    (to) => {
      expect(resolvePointer(VALUE, to)).toBeUndefined()
    },
  )

  it('is empty or begins with "/", and escapes only "~" and "/"', () => {
    expect(['', '/a/~0~1', 'a', '/~2'].filter((text) => POINTER.test(text))).toEqual(['', '/a/~0~1'])
  })
})

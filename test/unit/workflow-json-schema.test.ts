import { describe, expect, it } from 'vitest'
import { findBreach, schemaFaults } from '../../src/core/workflow/json-schema.ts'
import { isPointer, resolvePointer } from '../../src/core/workflow/pointer.ts'

describe('the supported part of JSON Schema', () => {
  it.each<[unknown, unknown, string | undefined]>([
    [true, 1, undefined],
    [false, 1, ''],
    [{ type: 'object' }, {}, undefined],
    [{ type: 'object' }, [], ''],
    [{ type: ['array', 'null'] }, null, undefined],
    [{ type: 'integer' }, 1.5, ''],
    [{ type: 'number' }, 1.5, undefined],
    [{ type: 'boolean' }, 'true', ''],
    [{ type: 'string', minLength: 2 }, '😀', ''],
    [{ maxLength: 1 }, '😀', undefined],
    [{ minimum: 1, maximum: 2 }, 3, ''],
    [{ minimum: 1 }, 'text', undefined],
    [{ minItems: 1 }, [], ''],
    [{ maxItems: 1 }, [1, 2], ''],
    [{ enum: [1, { a: [1] }] }, { a: [1] }, undefined],
    [{ enum: [1] }, 2, ''],
    [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }, undefined],
    [{ const: { a: 1 } }, 3, ''],
    [{ const: [1] }, [1, 2], ''],
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
  ])('%j and %j: broken at %j', (schema, value, at) => {
    expect(schemaFaults(schema)).toEqual([])
    expect(findBreach(schema, value)?.at).toBe(at)
  })

  it.each<[unknown, string[], string]>([
    [{ pattern: 'x' }, ['pattern'], 'unknown'],
    [{ $ref: '#' }, ['$ref'], 'unknown'],
    [{ toString: 'x' }, ['toString'], 'unknown'],
    [{ type: 'thing' }, ['type'], 'kind'],
    [{ minimum: 'x' }, ['minimum'], 'kind'],
    [{ required: [3] }, ['required'], 'kind'],
    [{ properties: { 'a/b': { enum: 3 } } }, ['properties', 'a/b', 'enum'], 'kind'],
    [{ properties: [] }, ['properties'], 'kind'],
    [{ items: 3 }, ['items'], 'no-schema'],
    [{ additionalProperties: { format: 'date' } }, ['additionalProperties', 'format'], 'unknown'],
    [3, [], 'no-schema'],
  ])('%j is refused at %j: %s', (schema, path, reason) => {
    expect(schemaFaults(schema)).toEqual([expect.objectContaining({ path, reason })])
  })

  it('is no deeper than it can be read', () => {
    let schema: object = {}
    for (let depth = 0; depth < 30; depth++) schema = { items: schema }
    expect(schemaFaults(schema)).toHaveLength(1)
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
  ])('%j is one: %s', (text, expected) => {
    expect(isPointer(text)).toBe(expected)
  })
})

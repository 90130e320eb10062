import { isJsonObject } from '../json-object.ts'

/**
 * The subset of JSON Schema that a `check` may use. A definition may come with a cloned repository and is checked in a
 * stop hook, so the subset has no references, no regular expressions and no code made of text, and the sizes of schema
 * and value bound the time. Any other keyword is a fault of the definition; none is ignored.
 */

/** The names that `type` may use. */
export const SCHEMA_TYPES: readonly string[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

const ANNOTATIONS = ['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples']
/** The maximum number of values in an `enum`. */
export const MAX_ENUM_VALUES = 200

/** The maximum depth of a schema: `properties`, `items` and `additionalProperties` count. */
export const MAX_SCHEMA_DEPTH = 20

/** The kinds of values that keywords take. */
export type ValueKind = 'types' | 'values' | 'schemas' | 'names' | 'number'

/** True for a value of the kind. */
const IS_OF_KIND: Record<ValueKind, (value: unknown) => boolean> = {
  types: (value) => (Array.isArray(value) ? value : [value]).every((one) => SCHEMA_TYPES.includes(one as string)),
  values: (value) => Array.isArray(value) && value.length <= MAX_ENUM_VALUES,
  schemas: isJsonObject,
  names: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  number: Number.isFinite,
}

/** The kind of each keyword's value. Without one, a keyword takes any value, or a schema that is checked in its turn. */
const KEYWORDS: Readonly<Record<string, ValueKind | undefined>> = {
  type: 'types',
  enum: 'values',
  const: undefined,
  properties: 'schemas',
  required: 'names',
  additionalProperties: undefined,
  items: undefined,
  minimum: 'number',
  maximum: 'number',
  minLength: 'number',
  maxLength: 'number',
  minItems: 'number',
  maxItems: 'number',
}

/** The keywords that are checked. */
export const SCHEMA_KEYWORDS: readonly string[] = Object.keys(KEYWORDS)

/** A fault of a schema itself. `path` leads to it from the schema's top. */
export type SchemaFault =
  /** A keyword outside the subset. */
  | { readonly path: readonly string[]; readonly reason: 'unknown'; readonly keyword: string }
  /** A keyword with a value of the wrong kind. */
  | { readonly path: readonly string[]; readonly reason: 'kind'; readonly keyword: string; readonly kind: ValueKind }
  /** Neither an object nor a boolean, or nested too deeply. */
  | { readonly path: readonly string[]; readonly reason: 'not-schema' }

/** The faults of a schema; empty for one that can be used. */
export function schemaFaults(schema: unknown, path: readonly string[] = [], depth = 0): SchemaFault[] {
  if (typeof schema === 'boolean') return []
  if (!isJsonObject(schema) || depth > MAX_SCHEMA_DEPTH) return [{ path, reason: 'not-schema' }]
  return Object.entries(schema).flatMap(([keyword, value]): SchemaFault[] => {
    if (ANNOTATIONS.includes(keyword)) return []
    const here = [...path, keyword]
    if (!Object.hasOwn(KEYWORDS, keyword)) return [{ path: here, reason: 'unknown', keyword }]
    const kind = KEYWORDS[keyword]
    if (kind !== undefined && !IS_OF_KIND[kind](value)) return [{ path: here, reason: 'kind', keyword, kind }]
    if (keyword === 'properties') {
      return Object.entries(value as object).flatMap(([name, one]) => schemaFaults(one, [...here, name], depth + 1))
    }
    return keyword === 'items' || keyword === 'additionalProperties' ? schemaFaults(value, here, depth + 1) : []
  })
}

/** A place where a value breaks its schema. */
export interface Breach {
  /** A JSON pointer into the value. */
  readonly at: string
  /** The keyword that the value breaks, or `false` for the schema that allows no value. */
  readonly keyword: string
  /** The keyword's value in the schema, as JSON; empty for `false`. */
  readonly expected: string
}

/** The first place where `value` breaks `schema`, or undefined. The schema must be one without faults. */
export function findBreach(schema: unknown, value: unknown, at = ''): Breach | undefined {
  if (schema === false) return { at, keyword: 'false', expected: '' }
  // The schema `true` has no keywords.
  const keywords = schema as Readonly<Record<string, unknown>>
  for (const [keyword, rule] of Object.entries(keywords)) {
    const breach = breaks(keyword, rule, keywords, value, at)
    if (breach !== undefined) return breach
  }
  return undefined
}

function breaks(
  keyword: string,
  rule: unknown,
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  at: string,
): Breach | undefined {
  const expected = typeof rule === 'object' ? JSON.stringify(rule) : String(rule)
  const unless = (holds: boolean): Breach | undefined => (holds ? undefined : { at, keyword, expected })
  switch (keyword) {
    case 'type':
      return unless((Array.isArray(rule) ? rule : [rule]).some((one) => isOfType(one as string, value)))
    case 'enum':
      return unless((rule as unknown[]).some((one) => isSame(one, value)))
    case 'const':
      return unless(isSame(rule, value))
    case 'required':
      return unless(!isJsonObject(value) || (rule as string[]).every((name) => Object.hasOwn(value, name)))
    case 'properties':
    case 'additionalProperties':
      return isJsonObject(value) ? breachInside(keyword, rule, schema, value, at) : undefined
    case 'items':
      return Array.isArray(value) ? first(value, (one, index) => findBreach(rule, one, `${at}/${index}`)) : undefined
    case 'minLength':
    case 'maxLength':
      return unless(typeof value !== 'string' || isWithin(keyword, [...value].length, rule as number))
    case 'minItems':
    case 'maxItems':
      return unless(!Array.isArray(value) || isWithin(keyword, value.length, rule as number))
    case 'minimum':
    case 'maximum':
      return unless(typeof value !== 'number' || isWithin(keyword, value, rule as number))
    default:
      return undefined
  }
}

function breachInside(
  keyword: string,
  rule: unknown,
  schema: Readonly<Record<string, unknown>>,
  value: Record<string, unknown>,
  at: string,
): Breach | undefined {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const names = Object.keys(value).filter((name) => Object.hasOwn(properties, name) === (keyword === 'properties'))
  return first(names, (name) =>
    findBreach(keyword === 'properties' ? properties[name] : rule, value[name], `${at}/${name}`),
  )
}

function first<T>(items: readonly T[], find: (item: T, index: number) => Breach | undefined): Breach | undefined {
  for (const [index, item] of items.entries()) {
    const breach = find(item, index)
    if (breach !== undefined) return breach
  }
  return undefined
}

function isWithin(keyword: string, size: number, limit: number): boolean {
  return keyword.startsWith('min') ? size >= limit : size <= limit
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isJsonObject(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    case 'string':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    default:
      return typeof value === 'boolean'
  }
}

/** True for values that are equal as JSON, whatever the order of their keys. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  if (!isJsonObject(one)) return one === other
  if (!isJsonObject(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

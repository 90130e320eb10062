import { isJsonObject } from '../json-object.ts'

/**
 * The part of JSON Schema that a `check` may use. A subset of our own, because a definition may come with a cloned
 * repository and is checked in a stop hook: no references, no regular expressions, no code made of text, and a time
 * that is bounded by the sizes of schema and value. A keyword outside it is a fault of the definition, never ignored.
 */

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const ANNOTATIONS = ['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples']
const MAX_ENUM = 200

/** How deep (in `properties`, `items` and `additionalProperties`) a schema may go. */
export const MAX_SCHEMA_DEPTH = 20

/** What a keyword's value must be: whether it is so, and that in words. */
interface Kind {
  readonly accepts: (value: unknown) => boolean
  readonly words: string
}

const NUMBER: Kind = { accepts: Number.isFinite, words: 'a number' }

/** Each keyword; without a kind it takes any value, or a schema, which is looked into, not at. */
const KEYWORDS: Readonly<Record<string, Kind | undefined>> = {
  type: {
    accepts: (value) => (Array.isArray(value) ? value : [value]).every((one) => TYPES.includes(one as string)),
    words: `one of ${TYPES.join(', ')}, or a list of them`,
  },
  enum: {
    accepts: (value) => Array.isArray(value) && value.length <= MAX_ENUM,
    words: `a list of at most ${MAX_ENUM} values`,
  },
  const: undefined,
  properties: { accepts: isJsonObject, words: 'an object of schemas' },
  required: {
    accepts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
    words: 'a list of names',
  },
  additionalProperties: undefined,
  items: undefined,
  minimum: NUMBER,
  maximum: NUMBER,
  minLength: NUMBER,
  maxLength: NUMBER,
  minItems: NUMBER,
  maxItems: NUMBER,
}

/** The keywords that are checked. */
export const SCHEMA_KEYWORDS: readonly string[] = Object.keys(KEYWORDS)

/** What is wrong with a schema itself. */
export interface SchemaFault {
  /** Where, from the schema's top. */
  readonly path: readonly string[]
  /** `unknown`: a keyword outside the subset; `kind`: one whose value is not of its kind; `no-schema`: neither object nor boolean, or too deep. */
  readonly reason: 'unknown' | 'kind' | 'no-schema'
  readonly keyword: string
  /** What it must be, in words. */
  readonly expected: string
}

/** What is wrong with a schema; empty when it can be used. */
export function schemaFaults(schema: unknown, path: readonly string[] = [], depth = 0): SchemaFault[] {
  if (typeof schema === 'boolean') return []
  if (!isJsonObject(schema) || depth > MAX_SCHEMA_DEPTH)
    return [{ path, reason: 'no-schema', keyword: '', expected: '' }]
  return Object.entries(schema).flatMap(([keyword, value]): SchemaFault[] => {
    if (ANNOTATIONS.includes(keyword)) return []
    const here = [...path, keyword]
    if (!Object.hasOwn(KEYWORDS, keyword)) return [{ path: here, reason: 'unknown', keyword, expected: '' }]
    const kind = KEYWORDS[keyword]
    if (kind?.accepts(value) === false) return [{ path: here, reason: 'kind', keyword, expected: kind.words }]
    if (keyword === 'properties') {
      return Object.entries(value as object).flatMap(([name, one]) => schemaFaults(one, [...here, name], depth + 1))
    }
    return keyword === 'items' || keyword === 'additionalProperties' ? schemaFaults(value, here, depth + 1) : []
  })
}

/** A place where a value breaks its schema: a pointer into the value, and the keyword that it breaks. */
export interface Breach {
  readonly at: string
  readonly keyword: string
  readonly expected: string
}

/** The first place where `value` breaks `schema`, or undefined. The schema is one that `schemaFaults` found usable. */
export function findBreach(schema: unknown, value: unknown, at = ''): Breach | undefined {
  if (schema === false) return { at, keyword: 'false', expected: 'nothing' }
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

/** Equal as JSON, whatever the order of keys. */
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

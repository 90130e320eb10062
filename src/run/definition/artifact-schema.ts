import { isJsonObject } from '../../kernel/values.ts'

/**
 * The subset of JSON Schema that a `check` may use; any other keyword is a fault. A definition may come with a cloned
 * repository and is checked in a stop hook, so the subset has no references, no regular expressions and no code made
 * of text, and a check takes a bounded number of steps.
 */

const IS_OF_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isJsonObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

export const SCHEMA_TYPES: readonly string[] = Object.keys(IS_OF_TYPE)

const ANNOTATIONS = ['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples']
export const MAX_ENUM_VALUES = 200
export const MAX_SCHEMA_DEPTH = 20

export type ValueKind = 'types' | 'values' | 'schemas' | 'names' | 'number'

const IS_OF_KIND: Record<ValueKind, (value: unknown) => boolean> = {
  types: (value) => {
    const types = Array.isArray(value) ? value : [value]
    return types.length <= SCHEMA_TYPES.length && types.every((one) => SCHEMA_TYPES.includes(one as string))
  },
  values: (value) => Array.isArray(value) && value.length <= MAX_ENUM_VALUES,
  schemas: isJsonObject,
  names: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  number: Number.isFinite,
}

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

export const SCHEMA_KEYWORDS: readonly string[] = Object.keys(KEYWORDS)

/** `problem`: of the keyword at `path`; the kind of value that it must have. */
export type SchemaFault = Readonly<{ path: readonly string[]; problem: ValueKind | 'unknown' | 'not-schema' }>

export function schemaFaults(schema: unknown, path: readonly string[] = [], depth = 0): SchemaFault[] {
  if (typeof schema === 'boolean') return []
  if (!isJsonObject(schema) || depth > MAX_SCHEMA_DEPTH) return [{ path, problem: 'not-schema' }]
  return Object.entries(schema).flatMap(([keyword, value]): SchemaFault[] => {
    if (ANNOTATIONS.includes(keyword)) return []
    const here = [...path, keyword]
    if (!Object.hasOwn(KEYWORDS, keyword)) return [{ path: here, problem: 'unknown' }]
    const kind = KEYWORDS[keyword]
    if (kind !== undefined && !IS_OF_KIND[kind](value)) return [{ path: here, problem: kind }]
    if (keyword === 'properties') {
      return Object.entries(value as object).flatMap(([name, one]) => schemaFaults(one, [...here, name], depth + 1))
    }
    return keyword === 'items' || keyword === 'additionalProperties' ? schemaFaults(value, here, depth + 1) : []
  })
}

type Breach = Readonly<Record<'at' | 'keyword' | 'expected', string>>

/** Steps of one check take about 50 ms, for which OpenCode's server is blocked. */
export const MAX_SCHEMA_STEPS = 250_000
const TOO_LONG = Symbol('too long')

export function findBreach(schema: unknown, value: unknown): Breach | 'too-long' | undefined {
  try {
    return new SchemaCheck().find(schema, value, '')
  } catch (error) {
    if (error === TOO_LONG) return 'too-long'
    throw error
  }
}

type Keywords = Readonly<Record<string, unknown>>

class SchemaCheck {
  #stepsLeft = MAX_SCHEMA_STEPS

  #spend(steps: number): void {
    this.#stepsLeft -= steps
    if (this.#stepsLeft < 0) throw TOO_LONG
  }

  find(schema: unknown, value: unknown, at: string): Breach | undefined {
    this.#spend(1)
    if (schema === false) return { at, keyword: 'false', expected: '' }
    // The schema `true` has no keywords.
    const keywords = schema as Keywords
    for (const [keyword, rule] of Object.entries(keywords)) {
      this.#spend(1)
      const breach = this.#findBy(keyword, keywords, value, at)
      if (breach === true) continue
      return breach === false ? { at, keyword, expected: textOf(rule) } : breach
    }
    return undefined
  }

  #findBy(keyword: string, schema: Keywords, value: unknown, at: string): boolean | Breach {
    const rule = schema[keyword]
    switch (keyword) {
      case 'type':
        return (Array.isArray(rule) ? rule : [rule]).some((one) => IS_OF_TYPE[one as string]?.(value))
      case 'enum':
        return (rule as unknown[]).some((one) => this.#isSame(one, value))
      case 'const':
        return this.#isSame(rule, value)
      case 'required':
        return !isJsonObject(value) || (rule as string[]).every((name) => this.#has(value, name))
      case 'properties':
      case 'additionalProperties':
        return !isJsonObject(value) || this.#findInside(keyword, schema, value, at)
      case 'items':
        return !Array.isArray(value) || this.#first(value, (one, index) => this.find(rule, one, `${at}/${index}`))
      case 'minLength':
      case 'maxLength':
        return typeof value !== 'string' || isWithin(keyword, lengthOf(value), rule as number)
      case 'minItems':
      case 'maxItems':
        return !Array.isArray(value) || isWithin(keyword, value.length, rule as number)
      case 'minimum':
      case 'maximum':
        return typeof value !== 'number' || isWithin(keyword, value, rule as number)
      default:
        return true
    }
  }

  #findInside(keyword: string, schema: Keywords, value: Record<string, unknown>, at: string): true | Breach {
    const properties = isJsonObject(schema.properties) ? schema.properties : {}
    const names = Object.keys(value).filter((name) => this.#has(properties, name) === (keyword === 'properties'))
    return this.#first(names, (name) =>
      this.find(keyword === 'properties' ? properties[name] : schema[keyword], value[name], `${at}/${name}`),
    )
  }

  #first<T>(items: readonly T[], find: (item: T, index: number) => Breach | undefined): true | Breach {
    for (const [index, item] of items.entries()) {
      const breach = find(item, index)
      if (breach !== undefined) return breach
    }
    return true
  }

  #has(value: Record<string, unknown>, name: string): boolean {
    this.#spend(1)
    return Object.hasOwn(value, name)
  }

  #isSame(one: unknown, other: unknown): boolean {
    // Comparing equally long texts takes the time of a step per hundred characters.
    this.#spend(typeof one === 'string' && one.length === (other as string | null)?.length ? 1 + one.length / 100 : 1)
    if (Array.isArray(one)) {
      return (
        Array.isArray(other) &&
        one.length === other.length &&
        one.every((item, index) => this.#isSame(item, other[index]))
      )
    }
    if (!isJsonObject(one)) return one === other
    if (!isJsonObject(other)) return false
    const names = Object.keys(one)
    const count = Object.keys(other).length
    this.#spend(names.length + count)
    return (
      names.length === count &&
      names.every((name) => Object.hasOwn(other, name) && this.#isSame(one[name], other[name]))
    )
  }
}

function textOf(rule: unknown): string {
  return typeof rule === 'object' ? JSON.stringify(rule) : String(rule)
}

function lengthOf(text: string): number {
  let length = 0
  for (let at = 0; at < text.length; at += Number(text.codePointAt(at)) > 0xffff ? 2 : 1) length += 1
  return length
}

function isWithin(keyword: string, size: number, limit: number): boolean {
  return keyword.startsWith('min') ? size >= limit : size <= limit
}

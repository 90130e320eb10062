import { isJsonObject } from '../json-object.ts'

/**
 * Tables of fields: under which key a file holds each value, and how it is read from there. The type of the values
 * follows from the table, so that a field is listed once.
 */

/** The answer of a reader to a value of the wrong kind. */
export const WRONG = Symbol('wrong')

/** Reads what a file holds, undefined where the key is missing. Nothing is loaded for it: hooks read files too. */
export type Reader<T> = (held: unknown) => T | typeof WRONG

/** A field of a file. */
export interface Field<T> {
  readonly key: string
  readonly read: Reader<T>
}

type Fields = Readonly<Record<string, Field<unknown>>>

/** The values of a table's fields, by their names in the code. */
export type Values<Table extends Fields> = {
  readonly [Name in keyof Table]: Table[Name] extends Field<infer T> ? T : never
}

/** An object with the fields of a table. */
export function objectOf<Table extends Fields>(table: Table): Reader<Values<Table>> {
  const fields = Object.entries(table)
  return (held) => {
    if (!isJsonObject(held)) return WRONG
    const values: Record<string, unknown> = {}
    for (const [name, { key, read }] of fields) {
      const value = read(held[key])
      if (value === WRONG) return WRONG
      values[name] = value
    }
    return values as Values<Table>
  }
}

/** The keys of an object whose values are of the wrong kind. */
export function wrongKeys(table: Fields, held: Readonly<Record<string, unknown>>): string[] {
  return Object.values(table).flatMap(({ key, read }) => (read(held[key]) === WRONG ? [key] : []))
}

/** A list of at most so many values. */
export function listOf<T>(read: Reader<T>, most = Number.POSITIVE_INFINITY): Reader<readonly T[]> {
  return (held) => {
    if (!Array.isArray(held) || held.length > most) return WRONG
    const values: T[] = []
    for (const one of held) {
      const value = read(one)
      if (value === WRONG) return WRONG
      values.push(value)
    }
    return values
  }
}

/** A value whose key may be missing. */
export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (held) => (held === undefined ? undefined : read(held))
}

/** One of a few texts. */
export function oneOf<T extends string>(...texts: readonly T[]): Reader<T> {
  return (held) => texts.find((one) => one === held) ?? WRONG
}

export const text: Reader<string> = (held) => (typeof held === 'string' ? held : WRONG)

export const flag: Reader<boolean> = (held) => (typeof held === 'boolean' ? held : WRONG)

/** A whole number, from 0. */
export const count: Reader<number> = (held) => (Number.isInteger(held) && Number(held) >= 0 ? Number(held) : WRONG)

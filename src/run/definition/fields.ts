import { isJsonObject } from '../../kernel/json-object.ts'

/**
 * Tables of fields: the key of each value in a file, and its reader. The type of the values follows from the table, so
 * that each field is listed only once.
 */

/** The result of a reader for a value of the wrong kind. */
export const WRONG = Symbol('wrong')

/** Reads a value of a file; `held` is undefined if the key is missing. Readers load no library: hooks use them too. */
export type Reader<T> = (held: unknown) => T | typeof WRONG

/** A field of a file. */
export interface Field<T> {
  readonly key: string
  readonly read: Reader<T>
}

type Fields = Readonly<Record<string, Field<unknown>>>

/** The values of a table's fields, with their names in the code. */
export type Values<Table extends Fields> = {
  readonly [Name in keyof Table]: Table[Name] extends Field<infer T> ? T : never
}

/** A reader of objects with the fields of a table. */
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

/** The keys of an object that have values of the wrong kind. */
export function wrongKeys(table: Fields, held: Readonly<Record<string, unknown>>): string[] {
  return Object.values(table).flatMap(({ key, read }) => (read(held[key]) === WRONG ? [key] : []))
}

/** A reader of lists with at most `most` values. */
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

/** A reader of values whose key may be missing. */
export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (held) => (held === undefined ? undefined : read(held))
}

/** A reader of one of the given texts. */
export function oneOf<T extends string>(...texts: readonly T[]): Reader<T> {
  return (held) => texts.find((one) => one === held) ?? WRONG
}

/** Reads a string. */
export const text: Reader<string> = (held) => (typeof held === 'string' ? held : WRONG)

/** Reads a boolean. */
export const flag: Reader<boolean> = (held) => (typeof held === 'boolean' ? held : WRONG)

/** Reads a whole number from 0. */
export const count: Reader<number> = (held) => (Number.isInteger(held) && Number(held) >= 0 ? Number(held) : WRONG)

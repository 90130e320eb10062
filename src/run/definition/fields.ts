import { isJsonObject } from '../../kernel/values.ts'

/** The type of the values follows from the table, so each field is listed once. */

export const WRONG = Symbol('wrong')

export type Reader<T> = (held: unknown) => T | typeof WRONG

export interface Field<T> {
  readonly key: string
  readonly read: Reader<T>
}

type Fields = Readonly<Record<string, Field<unknown>>>

export type Values<Table extends Fields> = {
  readonly [Name in keyof Table]: Table[Name] extends Field<infer T> ? T : never
}

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

export function wrongKeys(table: Fields, held: Readonly<Record<string, unknown>>): string[] {
  return Object.values(table).flatMap(({ key, read }) => (read(held[key]) === WRONG ? [key] : []))
}

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

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (held) => (held === undefined ? undefined : read(held))
}

export function oneOf<T extends string>(...texts: readonly T[]): Reader<T> {
  return (held) => texts.find((one) => one === held) ?? WRONG
}

export const text: Reader<string> = (held) => (typeof held === 'string' ? held : WRONG)

export const flag: Reader<boolean> = (held) => (typeof held === 'boolean' ? held : WRONG)

export const count: Reader<number> = (held) => (Number.isInteger(held) && Number(held) >= 0 ? Number(held) : WRONG)

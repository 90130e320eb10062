import { isJsonObject } from '../../kernel/values.ts'

/** The type of the values follows from the table, so each field is listed once. */

export const WRONG = Symbol('wrong')
export type Reader<T> = (value: unknown) => T | typeof WRONG
/** A reader alone: its key is its name. */
type Field<T> = Reader<T> | { readonly key: string; readonly read: Reader<T> }
type Fields = Readonly<Record<string, Field<unknown>>>

export type Values<Table extends Fields> = {
  readonly [Name in keyof Table]: Table[Name] extends Field<infer T> ? T : never
}

export type Read<AReader> = AReader extends Reader<infer T> ? T : never

function fieldsOf(table: Fields) {
  return Object.entries(table).map(([name, field]) =>
    typeof field === 'function' ? { name, key: name, read: field } : { name, ...field },
  )
}

export function objectOf<Table extends Fields>(table: Table): Reader<Values<Table>> {
  const fields = fieldsOf(table)
  return (held) => {
    if (!isJsonObject(held)) return WRONG
    const values: Record<string, unknown> = {}
    for (const { name, key, read } of fields) {
      const value = read(held[key])
      if (value === WRONG) return WRONG
      values[name] = value
    }
    return values as Values<Table>
  }
}

/** What `objectOf` reads. */
export function keyed(table: Fields, values: object): object {
  const held = values as Readonly<Record<string, unknown>>
  return Object.fromEntries(fieldsOf(table).map(({ name, key }) => [key, held[name]]))
}

export function keysOf(table: Fields): string[] {
  return fieldsOf(table).map(({ key }) => key)
}

export function inOrder(table: Fields, held: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(keysOf(table).map((key) => [key, held[key]]))
}

export function wrongKeys(table: Fields, value: Readonly<Record<string, unknown>>): string[] {
  return fieldsOf(table).flatMap(({ key, read }) => (read(value[key]) === WRONG ? [key] : []))
}

export function listOf<T>(read: Reader<T>, most = Number.POSITIVE_INFINITY): Reader<readonly T[]> {
  return (held) => {
    if (!Array.isArray(held) || held.length > most) return WRONG
    const values = held.map((one) => read(one))
    return values.includes(WRONG) ? WRONG : (values as T[])
  }
}

export function recordOf<T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (value) =>
    isJsonObject(value) && Object.values(value).every((one) => read(one) !== WRONG)
      ? (value as Readonly<Record<string, T>>)
      : WRONG
}

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value) => (value === undefined ? undefined : read(value))
}

export function oneOf<T extends string>(...texts: readonly T[]): Reader<T> {
  return (value) => texts.find((one) => one === value) ?? WRONG
}

export const text: Reader<string> = (value) => (typeof value === 'string' ? value : WRONG)
export const number: Reader<number> = (value) => (typeof value === 'number' ? value : WRONG)
export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : WRONG)

export function within(least: number, most: number): Reader<number> {
  return (value) => (Number.isInteger(value) && least <= Number(value) && Number(value) <= most ? Number(value) : WRONG)
}

export const count = within(0, Number.POSITIVE_INFINITY)

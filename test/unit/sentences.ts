import { expect, it } from 'vitest'

/** Rows for each function of a catalogue: its arguments, and the whole text that it must return. tsc asks for missing ones. */
export type Sentences<Catalogue> = {
  readonly [Name in keyof Catalogue as Catalogue[Name] extends Says ? Name : never]: Catalogue[Name] extends Says
    ? readonly (readonly [...given: Parameters<Catalogue[Name]>, text: ReturnType<Catalogue[Name]>])[]
    : never
}

// biome-ignore lint/suspicious/noExplicitAny: only `any` stands for every function, and it is used nowhere else.
type Says = (...given: any[]) => string | readonly string[]

/** Tests each function of a catalogue by its rows. It is called inside the tests: mutation tests do not see calls outside. */
export function itSays<Catalogue extends object>(catalogue: Catalogue, sentences: Sentences<Catalogue>): void {
  const rows = Object.entries<readonly (readonly unknown[])[]>(sentences).flatMap(([name, cases]) =>
    cases.map((row) => [name, row.slice(0, -1), row.at(-1)] as const),
  )
  it.each(rows)('%s %j', (name, given, text) => {
    expect((catalogue as Readonly<Record<string, Says>>)[name]?.(...given)).toEqual(text)
  })
}

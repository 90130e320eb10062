import { describe, expect, it } from 'vitest'

/** Arguments for each function of a catalogue, once per form of its sentence. tsc asks for missing functions. */
export type Sentences<Catalogue> = {
  readonly [Name in keyof Catalogue as Catalogue[Name] extends Says ? Name : never]: Catalogue[Name] extends Says
    ? readonly Parameters<Catalogue[Name]>[]
    : never
}

// biome-ignore lint/suspicious/noExplicitAny: only `any` stands for every function, and it is used nowhere else.
type Says = (...given: any[]) => string | readonly string[]

/** The arguments of each form of a sentence, on one line. */
export function forms<Given extends readonly unknown[]>(...given: Given[]): Given[] {
  return given
}

/** Compares a whole catalogue with its snapshot, which a person reads when a sentence changes. */
export function itSays<Catalogue extends object>(catalogue: Catalogue, given: Sentences<Catalogue>): void {
  it('is as its snapshot', () => {
    const says = catalogue as Readonly<Record<string, Says>>
    const rows = Object.entries<readonly (readonly unknown[])[]>(given)
    expect(
      rows.flatMap(([name, cases]) => cases.map((one) => entry(name, one, says[name]?.(...one)))).join('\n'),
    ).toMatchSnapshot()
  })
}

/** The same, for a catalogue with a title of its own. */
export function describeSentences<Catalogue extends object>(
  title: string,
  catalogue: Catalogue,
  given: Sentences<Catalogue>,
): void {
  describe(title, () => itSays(catalogue, given))
}

/** The call, and its text below it. */
export function entry(name: string, given: readonly unknown[], text: string | readonly string[] | undefined): string {
  const call = `${name}(${given.map((one) => String(JSON.stringify(one))).join(', ')})`
  return [call, ...[text].flat().flatMap((line) => String(line).split('\n'))].join('\n  ')
}

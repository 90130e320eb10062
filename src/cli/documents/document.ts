import type * as z from 'zod/mini'

/**
 * What commands print with `--json`: one schema for each, whose type the command's data has. Commands import only the
 * types, so that none of them loads the library that the schemas are made with.
 */

/** The data of a document, as a command gives it. */
export type DocumentOf<Schema extends z.core.$ZodType> = DeepReadonly<z.core.output<Schema>>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
    : T

import type * as z from 'zod/mini'

/**
 * The documents that commands print with `--json`. Each has a schema, which gives the command's data its type. Commands
 * import only the types, so that they do not load the schema library.
 */

/** The type of a document's data. */
export type DocumentOf<Schema extends z.core.$ZodType> = DeepReadonly<z.core.output<Schema>>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
    : T

import * as z from 'zod/mini'

/** Apart from `schema-faults.ts`, because this loads zod, and no file of the hook may. */

/** The description, and what else is given, becomes part of the JSON Schema that is made of `schema`. */
export function described<Schema extends z.core.$ZodType>(schema: Schema, description: string, more = {}): Schema {
  z.globalRegistry.add(schema, { description, ...more })
  return schema
}

export function optionally<Schema extends z.core.$ZodType>(schema: Schema, description: string, more = {}) {
  return z.optional(described(schema, description, more))
}

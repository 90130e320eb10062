import * as z from 'zod/mini'

/** Apart from `schema-faults.ts`, because this loads zod, and no file of the hook may. */

/** `description` and `more` become part of the JSON Schema. */
export function described<Schema extends z.core.$ZodType>(schema: Schema, description: string, more = {}): Schema {
  z.globalRegistry.add(schema, { description, ...more })
  return schema
}

export function optionally<Schema extends z.core.$ZodType>(schema: Schema, description: string, more = {}) {
  return z.optional(described(schema, description, more))
}

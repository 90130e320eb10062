import * as z from 'zod/mini'
import { ERROR_CODES } from '../kernel/command-errors.ts'
import { described } from '../kernel/described.ts'

export type DocumentSource = z.core.$ZodType | (() => z.core.$ZodType)

export type DocumentOf<Source extends DocumentSource> = DeepReadonly<
  z.core.output<Source extends () => infer Schema ? Extract<Schema, z.core.$ZodType> : Source>
>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
    : T

export const object = z.strictObject
export const list = z.array
export const oneOf = z.enum

export { described }

export const optional = <Schema extends z.ZodMiniType>(schema: Schema, description?: string) =>
  description === undefined ? z.nullable(schema) : described(z.nullable(schema), description)

export const objects = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => list(object(shape))

export const optionalObject = <Shape extends z.core.$ZodLooseShape>(description: string, shape: Shape) =>
  optional(object(shape), description)

export const text = (description: string) => described(z.string(), description)
export const texts = (description: string) => list(text(description))
export const optionalText = (description: string) => optional(z.string(), description)
export const flag = (description: string) => described(z.boolean(), description)
const natural = () => z.int().check(z.minimum(0))
export const count = (description: string) => described(natural(), description)
export const optionalCount = (description: string) => optional(natural(), description)

export const task = text('Name of the task folder; "." for specs/ itself.')

export const owner = object({
  host_session: optionalText("The host's id for the conversation; null: unowned."),
  agent: optionalText('"main" or the id of a sub-agent; null: not known.'),
})

export const wait = () =>
  optionalObject('The wait that the agent announced.', {
    for: text('What the agent waits for.'),
    count: count('The number of waits so far.'),
  })

export const searchProblem = object({ path: text('The folder or file.'), detail: text('Why it could not be read.') })

export const failedCheck = object({
  run: text('The shell command.'),
  exit_code: optionalCount('Its exit code; null if it was killed.'),
  signal: optionalText('The signal that killed or interrupted it.'),
  timed_out: z.boolean(),
  duration_ms: count('How long it ran.'),
  output: text('The end of its output.'),
})

export const errorDetail = object({
  code: oneOf(ERROR_CODES),
  message: text('What is wrong and what to do about it, in one line.'),
})

export const ERROR_DOCUMENT = object({ error: errorDetail })
export type ErrorDocument = DocumentOf<typeof ERROR_DOCUMENT>

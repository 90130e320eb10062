import * as z from 'zod/mini'
import { type ErrorCode, EXIT_CODES } from '../kernel/errors.ts'

export type DocumentSource = z.core.$ZodType | (() => z.core.$ZodType)

export type DocumentOf<Source extends DocumentSource> = DeepReadonly<
  z.core.output<Source extends () => infer Schema ? Extract<Schema, z.core.$ZodType> : Source>
>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
    : T

export const text = (description: string) => z.string().register(z.globalRegistry, { description })

export const optionalText = (description: string) => z.nullable(z.string()).register(z.globalRegistry, { description })

export const flag = (description: string) => z.boolean().register(z.globalRegistry, { description })

export const count = (description: string) => z.int().check(z.minimum(0)).register(z.globalRegistry, { description })

export const optionalCount = (description: string) =>
  z.nullable(z.int().check(z.minimum(0))).register(z.globalRegistry, { description })

export const task = text('Name of the task folder; "." for specs/ itself.')

export const owner = z.strictObject({
  host_session: optionalText("The host's id of the conversation; null: unowned."),
  agent: optionalText('"main" or the id of a sub-agent; null: not known.'),
})

export const searchProblem = z.strictObject({
  path: text('The folder or file.'),
  detail: text('Why it could not be read.'),
})

export const failedCheck = z.strictObject({
  run: text('The shell command.'),
  exit_code: optionalCount('Its exit code; null if it was killed.'),
  signal: optionalText('The signal that killed or interrupted it.'),
  timed_out: z.boolean(),
  duration_ms: count('How long it ran.'),
  output: text('The end of its output.'),
})

export const errorDetail = z.strictObject({
  code: z.enum(Object.keys(EXIT_CODES) as ErrorCode[]),
  message: text('What is wrong and what to do about it, in one line.'),
})

export const ERROR_DOCUMENT = z.strictObject({ error: errorDetail })

export type ErrorDocument = DocumentOf<typeof ERROR_DOCUMENT>

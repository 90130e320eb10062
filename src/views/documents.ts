import * as z from 'zod/mini'
import { type ErrorCode, EXIT_CODES } from '../kernel/errors.ts'

/**
 * What the documents that commands print with `--json` are made of. The schemas give the commands' data its type, and
 * tests check what is printed. No command loads them: the build leaves out what only schemas use.
 */

/** The type of a document's data, by its schema or the function that makes it. */
export type DocumentOf<Source extends z.core.$ZodType | (() => z.core.$ZodType)> = DeepReadonly<
  z.core.output<Source extends () => infer Schema ? Extract<Schema, z.core.$ZodType> : Source>
>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
    : T

/** A text. */
export const text = (description: string) => z.string().register(z.globalRegistry, { description })

/** A text, or null if it is not known or does not exist. */
export const optionalText = (description: string) => z.nullable(z.string()).register(z.globalRegistry, { description })

/** True or false. */
export const flag = (description: string) => z.boolean().register(z.globalRegistry, { description })

/** A whole number from 0. */
export const count = (description: string) => z.int().check(z.minimum(0)).register(z.globalRegistry, { description })

/** A whole number from 0, or null if it is not known or does not exist. */
export const optionalCount = (description: string) =>
  z.nullable(z.int().check(z.minimum(0))).register(z.globalRegistry, { description })

/** The task folder's name. */
export const task = text('Name of the task folder; "." for specs/ itself.')

/** The owner of a marker. */
export const owner = z.strictObject({
  host_session: optionalText("The host's id of the conversation; null: unowned."),
  agent: optionalText('"main" or the id of a sub-agent; null: not known.'),
})

/** A folder or file that could not be read during a search. */
export const searchProblem = z.strictObject({
  path: text('The folder or file.'),
  detail: text('Why it could not be read.'),
})

/** A check that was run and failed. */
export const failedCheck = z.strictObject({
  run: text('The shell command.'),
  exit_code: optionalCount('Its exit code; null if it was killed.'),
  signal: optionalText('The signal that killed or interrupted it.'),
  timed_out: z.boolean(),
  duration_ms: count('How long it ran.'),
  output: text('The end of its output.'),
})

/** An error: a code for programs, a sentence for people. */
export const errorDetail = z.strictObject({
  code: z.enum(Object.keys(EXIT_CODES) as ErrorCode[]),
  message: text('What is wrong and what to do about it, in one line.'),
})

/** The document of a command that failed. */
export const ERROR_DOCUMENT = z.strictObject({ error: errorDetail })

export type ErrorDocument = DocumentOf<typeof ERROR_DOCUMENT>

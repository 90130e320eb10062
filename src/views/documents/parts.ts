import * as z from 'zod/mini'

/** Parts that several documents share. */

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

import * as z from 'zod/mini'

/** Options of the post-read nudge. */
export interface PostReadNudgeOptions {
  /** The number of file reads after which the nudge comes, and comes again (5). */
  readonly every?: number | undefined
  /** The agents that are nudged (all that run a main conversation). */
  readonly agents?: readonly string[] | undefined
  /** The text. */
  readonly text?: string | undefined
}

export const POST_READ_NUDGE: z.ZodMiniType<PostReadNudgeOptions> = z.strictObject({
  every: z.optional(z.int().check(z.minimum(1))),
  agents: z.optional(z.array(z.string())),
  text: z.optional(z.string()),
})

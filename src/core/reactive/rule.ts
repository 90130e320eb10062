import * as z from 'zod/mini'

/** Rules that start a sub-agent before a tool call: for OpenCode's plugin, and for hooks of Claude Code. */

/** A rule: the calls that it is about, and the sub-agent that analyses them. */
export interface ReactiveRule {
  /** The tool, by OpenCode's name: `bash`, `edit`, `webfetch`, … */
  readonly tool: string
  /** A glob (`*`, `?`) over the whole command, or over one of its parts. Without it every call of the tool matches. */
  readonly command?: string | undefined
  /** The task of the sub-agent. It is told the tool and its arguments too. */
  readonly prompt: string
  /** The sub-agent's agent (`general`). */
  readonly agent?: string | undefined
  /** The sub-agent's model, `provider/model` (the agent's own, otherwise the caller's). */
  readonly model?: string | undefined
  /** The only tools that the sub-agent may use (all of the agent's). What the user denied stays denied. */
  readonly tools?: readonly string[] | undefined
  /** The time (ms) after which the call goes on without an analysis (30,000). */
  readonly timeoutMs?: number | undefined
  /** `block` also refuses a call whose analysis begins with the word BLOCK (`context`). */
  readonly answer?: 'context' | 'block' | undefined
}

/** The time (ms) that an analysis may take where its rule names none. */
export const DEFAULT_TIMEOUT_MS = 30_000

/** The longest time (ms) that a rule may name: an hour. */
const LONGEST_TIMEOUT_MS = 3_600_000

const word = () => z.string().check(z.trim(), z.minLength(1))

const RULE = z.strictObject({
  tool: word(),
  command: z.optional(word()),
  prompt: word(),
  agent: z.optional(word()),
  model: z.optional(z.string().check(z.regex(/^[^/\s]+\/\S+$/, 'expected "provider/model"'))),
  tools: z.optional(z.array(word())),
  timeoutMs: z.optional(z.int().check(z.minimum(1), z.maximum(LONGEST_TIMEOUT_MS))),
  answer: z.optional(z.enum(['context', 'block'])),
})

/** A list of rules: the option `reactive` of OpenCode's plugin, and the file of `postflight install --reactive`. */
export const REACTIVE_RULES: z.ZodMiniType<readonly ReactiveRule[]> = z.array(RULE)

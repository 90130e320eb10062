import * as z from 'zod/mini'
import { valueAt } from '../../kernel/json-object.ts'
import { RULES_TEXT } from './reactive-messages.ts'

/** Rules that start a sub-agent before a tool call: for OpenCode's plugin, and for hooks of Claude Code. */

/** A rule: the calls that it applies to, and the sub-agent that analyses them. */
export interface ReactiveRule {
  /** The tool, by OpenCode's name: `bash`, `edit`, `webfetch`, … */
  readonly tool: string
  /** A glob (`*`, `?`) over the whole command, or over one of its parts. Without it every call of the tool matches. */
  readonly command?: string | undefined
  /** The task of the sub-agent. The tool's name and arguments are added to it. */
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

/** The longest time (ms) that an analysis may take: an hour. */
export const LONGEST_TIMEOUT_MS = 3_600_000

const OUT_OF_RANGE = RULES_TEXT.range(1, LONGEST_TIMEOUT_MS)

const word = () => z.string().check(z.trim(), z.minLength(1, RULES_TEXT.empty))

const RULE = z.strictObject({
  tool: word(),
  command: z.optional(word()),
  prompt: word(),
  agent: z.optional(word()),
  model: z.optional(z.string().check(z.regex(/^[^/\s]+\/\S+$/, RULES_TEXT.model))),
  tools: z.optional(z.array(word())),
  timeoutMs: z.optional(z.int().check(z.minimum(1, OUT_OF_RANGE), z.maximum(LONGEST_TIMEOUT_MS, OUT_OF_RANGE))),
  answer: z.optional(z.enum(['context', 'block'])),
})

/** A list of rules: the option `reactive` of OpenCode's plugin, and the file of `postflight install --reactive`. */
export const REACTIVE_RULES: z.ZodMiniType<readonly ReactiveRule[]> = z.array(RULE)

/** The first fault of a value that is not a list of rules. */
interface RuleFault {
  /** The rule's number, from 1; undefined for the whole list. */
  readonly rule: number | undefined
  /** Empty for the whole rule. */
  readonly field: string
  readonly detail: string
}

/** Reads a list of rules. */
export function readRules(value: unknown): readonly ReactiveRule[] | RuleFault {
  const read = REACTIVE_RULES.safeParse(value)
  if (read.success) return read.data
  const issue = read.error.issues[0] as z.core.$ZodIssue
  const [index, ...fields] = issue.path
  return {
    rule: typeof index === 'number' ? index + 1 : undefined,
    field: fields.join('.'),
    detail: faultWords(issue, value),
  }
}

function faultWords(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return RULES_TEXT.unknownField(issue.keys[0] as string, Object.keys(RULE.shape))
    case 'invalid_type':
      return valueAt(value, issue.path) === undefined ? RULES_TEXT.missing : RULES_TEXT.wrongType(issue.expected)
    case 'invalid_value':
      return RULES_TEXT.oneOf(issue.values.map(String))
    default:
      return issue.message
  }
}

import * as z from 'zod/mini'
import { valueAt } from '../../kernel/values.ts'
import { RULES_TEXT } from './reactive-messages.ts'

export interface ReactiveRule {
  /** OpenCode's name: `bash`, `edit`, `webfetch`, … */
  readonly tool: string
  /** A glob (`*`, `?`) over the whole command, or over one of its parts. */
  readonly command?: string | undefined
  readonly prompt: string
  readonly agent?: string | undefined
  /** `provider/model` (the agent's own, otherwise the caller's). */
  readonly model?: string | undefined
  readonly tools?: readonly string[] | undefined
  /** In ms (30,000). Then the call continues without an analysis. */
  readonly timeoutMs?: number | undefined
  /** `block` also refuses a call whose analysis begins with the word BLOCK. */
  readonly answer?: 'context' | 'block' | undefined
}

export const DEFAULT_TIMEOUT_MS = 30_000

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

/** The option `reactive` of OpenCode's plugin, and the file of `postflight install --reactive`. */
export const REACTIVE_RULES: z.ZodMiniType<readonly ReactiveRule[]> = z.array(RULE)

interface RuleFault {
  readonly rule: number | undefined
  readonly field: string
  readonly detail: string
}

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

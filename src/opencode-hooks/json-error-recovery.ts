import * as z from 'zod/mini'
import { WORKFLOW_TOOL } from '../hosts/opencode/api.ts'
import { oneLine } from '../kernel/text.ts'
import { addToResult, factory, resultText, TEXT_TAG } from './factory.ts'

/** Options of the recovery from broken JSON. */
export interface JsonErrorRecoveryOptions {
  /** Further tools whose output is never examined: it may mention JSON errors without being one. */
  readonly except?: readonly string[] | undefined
}

export const JSON_ERROR_RECOVERY: z.ZodMiniType<JsonErrorRecoveryOptions> = z.strictObject({
  except: z.optional(z.array(z.string())),
})

const SKIPPED_TOOLS: readonly string[] = [
  ...['bash', 'read', 'glob', 'grep', 'list', 'webfetch', 'websearch', 'codesearch', 'lsp', 'edit', 'write', 'patch'],
  ...['apply_patch', 'multiedit', 'task', 'skill', 'todowrite', 'todoread', 'question', WORKFLOW_TOOL],
]

/** OpenCode calls it for an unreadable call (1.18.34). */
const UNREADABLE_CALL = 'invalid'

/**
 * Creates hooks that show an agent how to repeat a tool call whose arguments were not JSON. OpenCode answers such a
 * call with its tool `invalid`; tools of MCP servers and of other plugins may answer with the same errors.
 */
export const createJsonErrorRecoveryHook = factory(
  'JSON error recovery',
  (_ports, { except = [] }: JsonErrorRecoveryOptions | undefined = {}) => {
    const skipped = new Set([...SKIPPED_TOOLS, ...except])
    return {
      async 'tool.execute.after'({ tool, args }, output) {
        const said = skipped.has(tool) ? undefined : resultText(output)
        const fault = said === undefined ? undefined : jsonFaultIn(said)
        if (fault === undefined) return
        const wanted = tool === UNREADABLE_CALL ? String(args?.tool ?? tool) : undefined
        addToResult(output, brokenJsonText(fault, wanted))
      },
    }
  },
)

const JSON_FAULTS = {
  unterminated:
    'a string without its closing quote, a quote inside a string without its backslash, or a line break that is not written as \\n',
  'cut-off': 'the end is missing, so the arguments were probably too long',
  'single-quotes': 'strings in single quotes',
  key: 'a key without double quotes, or a comma before a closing brace',
  colon: 'a key without its colon',
  'object-end': 'a missing comma or closing brace, or a key without double quotes',
  'array-end': 'a missing comma or closing bracket in a list',
  escape: 'a backslash that is not doubled: Windows paths and regular expressions need \\\\',
  'control-character': 'a line break or tab inside a string that is not written as \\n or \\t',
  'trailing-text': 'text before or after the object',
  word: 'a word that JSON does not have, such as undefined, None or True, or text around the object',
  other: 'quotes, commas and brackets',
} as const

type JsonFault = keyof typeof JSON_FAULTS

/** Most specific first: OpenCode's (JavaScriptCore), Node's (V8), others. */
const PATTERNS: readonly (readonly [JsonFault, RegExp])[] = [
  ['unterminated', /unterminated string/i],
  ['cut-off', /unexpected (?:EOF|end of (?:JSON )?(?:input|data|file))/i],
  ['single-quotes', /single quotes? .{0,10}(?:are|is) not allowed/i],
  ['key', /property name must be a string|expected (?:double-quoted )?property name|keys must be (?:strings|quoted)/i],
  ['colon', /expected ':'/i],
  ['array-end', /expected (?:',' or )?'\]'|expected ',' or '\]'/i],
  ['object-end', /expected (?:',' or )?'\}'|expected ',' or '\}'|expected ',' delimiter/i],
  ['escape', /invalid escape|bad escaped character|invalid \\escape|bad unicode escape/i],
  ['control-character', /bad control character|invalid control character/i],
  ['trailing-text', /non-whitespace character after JSON|extra data|unable to parse JSON string/i],
  ['word', /unexpected (?:identifier|token)|unrecognized token|is not valid JSON|expecting value/i],
]

const ABOUT_JSON =
  /JSON ?parse error|JSON parsing failed|JSONDecodeError|SyntaxError.{0,200}JSON|(?:invalid|malformed|not valid) JSON/is

/** From OpenCode's tool `invalid`. */
const BEFORE_ARGUMENTS = 'JSON parsing failed: Text: '
const BEFORE_MESSAGE = '\nError message: '

const MAX_LENGTH = 2_000

export function jsonFaultIn(output: string): JsonFault | undefined {
  const start = output.includes(BEFORE_ARGUMENTS) ? output.lastIndexOf(BEFORE_MESSAGE) : -1
  const said = start === -1 ? output : output.slice(start)
  if (said.length > MAX_LENGTH || !ABOUT_JSON.test(said)) return undefined
  return PATTERNS.find(([, pattern]) => pattern.test(said))?.[0] ?? 'other'
}

function brokenJsonText(fault: JsonFault, wanted: string | undefined): string {
  return [
    wanted === undefined
      ? `${TEXT_TAG} If this error is about the arguments of your call, they were not valid JSON.`
      : `${TEXT_TAG} The call of "${oneLine(wanted, 80)}" did not reach the tool, because its arguments were not valid JSON.`,
    `- What to look for: ${JSON_FAULTS[fault]}.`,
    '- Send the whole call again as one JSON object: keys and strings in double quotes, no comma before a closing bracket, no comments, no text around it.',
    '- If the arguments are long, write them in several smaller calls.',
  ].join('\n')
}

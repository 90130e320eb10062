/** The errors of JSON parsers, as OpenCode's (JavaScriptCore), Node's (V8) and other tools word them. */

/** The ways in which JSON is broken. */
export type JsonFault =
  | 'unterminated'
  | 'cut-off'
  | 'single-quotes'
  | 'key'
  | 'colon'
  | 'object-end'
  | 'array-end'
  | 'escape'
  | 'control-character'
  | 'trailing-text'
  | 'word'
  | 'other'

/** The errors of a parser, the most specific first. */
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

/** The sign that an error is about JSON at all. */
const ABOUT_JSON =
  /JSON ?parse error|JSON parsing failed|JSONDecodeError|SyntaxError.{0,200}JSON|(?:invalid|malformed|not valid) JSON/is

/** The words before the arguments, and before the parser's own message, in the error of OpenCode's tool `invalid`. */
const BEFORE_ARGUMENTS = 'JSON parsing failed: Text: '
const BEFORE_MESSAGE = '\nError message: '

/** The length above which a text is not taken for an error message. */
const MAX_LENGTH = 2_000

/** How the JSON of a call was broken; undefined for an output that is not such an error. */
export function jsonFaultIn(output: string): JsonFault | undefined {
  // The arguments themselves may hold any text.
  const start = output.includes(BEFORE_ARGUMENTS) ? output.lastIndexOf(BEFORE_MESSAGE) : -1
  const said = start === -1 ? output : output.slice(start)
  if (said.length > MAX_LENGTH || !ABOUT_JSON.test(said)) return undefined
  return PATTERNS.find(([, pattern]) => pattern.test(said))?.[0] ?? 'other'
}

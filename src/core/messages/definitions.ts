import { quote } from './phrases.ts'

/** What is wrong with a definition, and what is suspicious in it. */

/** What a definition does wrong, and what is suspicious in it. */
export const RULE_TEXT = {
  id: (id: string): string => `"${quote(id, 80)}" is no id: a letter, then letters, digits, "_" and "-", and not "end"`,
  both: (name: string): string => `give ${name} or ${name}_file, not both`,
  leavesNothing: 'a phase must leave an artifact or have steps: else nobody can tell when it is done',
  noSteps: 'a phase without an artifact needs a step: else nothing is asked for',
  noPrompt: 'a phase without steps needs a prompt or a prompt_file',
  needsSteps: (name: string): string => `${name} is for a phase with steps`,
  needsArtifact: (what: string): string => `${what} needs an artifact`,
  path: (value: string): string =>
    `"${quote(value, 80)}" is no path that stays inside: relative, with "/", without "..", none of the names that postflight-guard uses itself`,
  promptPath: (value: string): string =>
    `"${quote(value, 80)}" does not lie beside the definition or below: relative, with "/", without ".."`,
  placeholder: (name: string): string => `nobody knows {{${quote(name, 80)}}}`,
  unknownKeyword: (keyword: string, known: string): string =>
    `"${quote(keyword, 80)}" would not be checked: the keywords are ${known}`,
  keywordKind: (keyword: string, expected: string): string => `${keyword} must be ${expected}`,
  noSchema: (depth: number): string => `must be an object or a boolean, no more than ${depth} deep`,
  target: (id: string): string => `there is no phase "${quote(id, 80)}"`,
  twin: (id: string): string => `another phase is called "${quote(id, 80)}" (upper and lower case do not count)`,
  twinArtifact: (artifact: string): string =>
    `another phase leaves "${quote(artifact, 80)}" too: its file would pass for this one's`,
  belowArtifact: (artifact: string, above: string): string =>
    `"${quote(artifact, 80)}" would lie below "${quote(above, 80)}", which a phase leaves as a file`,
  unreachable: (id: string): string => `phase "${id}" cannot be reached`,
  unmade: (artifact: string): string => `no phase leaves "${quote(artifact, 80)}"`,
  unlisted: (artifact: string): string =>
    `the phase that leaves "${quote(artifact, 80)}" has no check.json_schema: without a list of steps in it the run would stall at once`,
  madeLater: (artifact: string, id: string): string =>
    `"${quote(artifact, 80)}" is left by no phase that comes before "${id}"`,
  unbounded: (id: string): string => `phase "${id}" lies on a loop and sets no max_visits: 3 is assumed`,
  promptFile: (name: string, detail: string): string => `${quote(name, 120)}: ${quote(detail, 120)}`,
  definitionTooLong: (mebibytes: number): string =>
    `with its prompt files the definition is larger than ${mebibytes} MiB, more than the state of a run may hold`,
  promptTooLong: (limit: number): string => `longer than ${limit} bytes`,
} as const

/** What to do about what the JSON parser finds; what needs no explanation is not listed. */
const JSON_HINTS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'names and texts need double quotes',
  UnexpectedEndOfString: 'the text that begins here has no closing quote',
  PropertyNameExpected: 'is there a comma too many before this?',
  ValueExpected: 'is there a comma too many before this?',
  InvalidCommentToken: 'JSON has no comments; YAML has',
}

/** What to do about what the YAML parser says. */
const YAML_HINTS: readonly (readonly [says: RegExp, hint: string])[] = [
  [/^Nested mappings/, 'a text that holds ": " needs quotes'],
  [/^Plain value cannot start|cannot be an empty string/, 'a text that begins with this character needs quotes'],
  [/scalar at node end/, 'put quotes around the whole text, other ones than those in it'],
  [/^Missing ,/, 'is a comma or a quote missing before this?'],
  [/^Implicit /, 'is ": " missing after the name of a field?'],
  [/sufficiently indented/, 'is a bracket or a quote not closed before this?'],
  [/same column|without - indicator/, 'what belongs together begins at the same column'],
  [/^Tabs/, 'use spaces'],
]

const hinted = (fault: string, hint: string | undefined): string => (hint === undefined ? fault : `${fault} (${hint})`)

/** What is wrong with the syntax of a definition's file, and what to do. */
export const SYNTAX_TEXT = {
  json: (code: string): string =>
    hinted(`no JSON here: ${code.replace(/(?!^)([A-Z])/g, ' $1').toLowerCase()}`, JSON_HINTS[code]),
  yaml: (says: string): string => hinted(says, YAML_HINTS.find(([pattern]) => pattern.test(says))?.[1]),
  openQuote: (quote: string): string => `the text that begins here has no closing quote: end it with ${quote}`,
  severalDocuments: 'holds several documents: give each definition a file of its own',
  tooDeep: 'nested too deeply to be read',
} as const

import { quote, suggestion } from '../../kernel/text.ts'
import { MAX_ENUM_VALUES, SCHEMA_KEYWORDS, SCHEMA_TYPES, type ValueKind } from './artifact-schema.ts'
import { MAX_NAME_BYTES, PLACEHOLDERS } from './definition-limits.ts'

const inBraces = (name: string): string => `{{${name}}}`

const VALUE_KINDS: Record<ValueKind, string> = {
  types: `one of ${SCHEMA_TYPES.join(', ')}, or a list of them`,
  values: `a list of at most ${MAX_ENUM_VALUES} values`,
  schemas: 'an object of schemas',
  names: 'a list of names',
  number: 'a number',
}

const NAMES_IN_PATH = `No name in it may contain \\ : * ? " < > |, begin or end with a space, end with a dot, or have more than ${MAX_NAME_BYTES} bytes`

export const RULE_TEXT = {
  id: (id: string): string =>
    `invalid id "${quote(id, 80)}": begin with a letter, then use letters, digits, "_" and "-"; "end" is reserved`,
  both: (name: string): string => `give ${name} or ${name}_file, not both`,
  leavesNothing: 'a phase needs an artifact or steps, which show that it is done',
  noSteps: 'a phase without an artifact needs at least one step',
  noPrompt: 'a phase without steps needs a prompt or a prompt_file',
  needsSteps: (name: string): string => `${name} is allowed only in a phase with steps`,
  needsArtifact: (what: string): string => `${what} needs an artifact`,
  path: (value: string): string =>
    `invalid path "${quote(value, 80)}": it must be relative, with "/", without "..", and not a name that postflight-guard uses itself. ${NAMES_IN_PATH}`,
  filesNeedRun: 'check.files is allowed only beside check.run',
  pattern: (value: string): string =>
    `invalid pattern "${quote(value, 80)}": it must be relative to the root, with "/", without ".."`,
  promptPath: (value: string): string =>
    `invalid path "${quote(value, 80)}": the file must lie beside the definition or below it: relative, with "/", without "..". ${NAMES_IN_PATH}`,
  tooManyInputs: (limit: number): string => `at most ${limit} inputs are allowed`,
  inputName: (name: string): string =>
    `invalid name "${quote(name, 80)}": begin with a letter, then use letters, digits, "_" and "-"`,
  requiredDefault: (name: string): string => `the input "${quote(name, 80)}" has a default, so it cannot be required`,
  approveAdvisory: 'a phase that needs approval cannot be advisory',
  noCases: 'give at least one case',
  tooManyCases: (limit: number): string => `give at most ${limit} cases`,
  caseLength: (most: number): string => `a case must have at most ${most} characters`,
  advisoryCases: 'an advisory phase may end without a verdict, so its cases need a default',
  stepText: (name: string): string => `the ${name} of a step must be a string`,
  placeholder: (name: string): string =>
    name.startsWith('input.')
      ? `${inBraces(quote(name, 80))} does not name an input of this workflow`
      : name.startsWith('step.')
        ? `${inBraces(quote(name, 80))} does not name a field of the phase's steps`
        : name.startsWith('artifact:')
          ? `${inBraces(quote(name, 80))} does not name a phase that has an artifact`
          : `unknown placeholder ${inBraces(quote(name, 80))}${suggestion(name, PLACEHOLDERS, inBraces)}`,
  unknownKeyword: (keyword: string): string =>
    `unknown keyword "${quote(keyword, 80)}"${suggestion(keyword, SCHEMA_KEYWORDS)}: the keywords are ${SCHEMA_KEYWORDS.join(', ')}`,
  valueKind: (keyword: string, kind: ValueKind): string => `${keyword} must be ${VALUE_KINDS[kind]}`,
  notSchema: (depth: number): string => `must be an object or a boolean, nested at most ${depth} levels deep`,
  target: (id: string, ids: readonly string[]): string =>
    `unknown phase "${quote(id, 80)}"${suggestion(id, ids.slice(0, 100))}`,
  twin: (id: string): string => `another phase has the id "${quote(id, 80)}" (upper and lower case count as the same)`,
  twinArtifact: (artifact: string): string =>
    `another phase has the artifact "${quote(artifact, 80)}" (upper and lower case count as the same): its file would count as this phase's`,
  belowArtifact: (artifact: string, above: string): string =>
    `"${quote(artifact, 80)}" would lie below "${quote(above, 80)}", which is a file: the artifact of another phase`,
  unreachable: (id: string): string => `phase "${id}" cannot be reached`,
  endless: (id: string): string =>
    `no path leads from phase "${id}" to "end": the run can only fail, when a phase has used up its visits`,
  backToChecklist: (phase: string, list: string): string =>
    `leads back to phase "${phase}", whose tasks are all ticked by then: this phase may add open tasks to "${quote(list, 80)}"; if there are none, the visit has one step, the reason for the verdict`,
  otherForm: (artifact: string): string =>
    `another phase has the artifact "${quote(artifact, 80)}" in another Unicode form: some file systems treat both names as one file`,
  unmade: (artifact: string): string => `no phase has the artifact "${quote(artifact, 80)}"`,
  unlisted: (artifact: string): string =>
    `the phase with the artifact "${quote(artifact, 80)}" has no check.json_schema: without a list of steps in the file, the run would stall at once`,
  madeLater: (artifact: string, id: string) => `no phase before "${id}" has the artifact "${quote(artifact, 80)}"`,
  unbounded: (id: string): string => `phase "${id}" is on a loop without max_visits: 3 is assumed`,
  promptFile: (name: string, detail: string): string => `${quote(name, 120)}: ${quote(detail, 120)}`,
  definitionTooLong: (mebibytes: number): string =>
    `with its prompt files, the definition is larger than ${mebibytes} MiB, the maximum for a run`,
  promptEmpty: 'empty',
  promptTooLong: (limit: number): string => `larger than ${limit} bytes`,
} as const

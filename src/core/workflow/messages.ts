import { oneLine } from '../text.ts'
import { isResumableOutcome } from './outcome.ts'

/**
 * The workflow's prose, apart from `messages.ts` because the hook loads that one at every stop and this only for a
 * workflow.
 */

/** So many of something: `1 phase`, `2 phases`. */
export function counted(count: number | bigint, one: string, several = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : several}`
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

/** What follows from a definition's size. */
export function definitionSize(phases: number, prompts: number): string {
  return `${counted(phases, 'phase')}, at most ${counted(prompts, 'prompt')}`
}

const quote = (text: string, limit = 300): string => oneLine(text, limit)

/** Why something is as it is: kept in the state, shown by `status`, told to the next attempt. */
export const WORKFLOW_TEXT = {
  noArtifact: (artifact: string): string => `${quote(artifact)} is not there`,
  noStepResult: 'step-result.json is not there',
  stepSaysFailed: 'step-result.json says that it did not succeed',
  stepExhausted: (step: number, attempts: number, why: string): string =>
    `step ${step} failed ${times(attempts)}${attempts === 1 ? '' : ', the last time'}: ${quote(why)}`,
  exhausted: (attempts: number, why: string): string =>
    `${counted(attempts, 'attempt')} came to nothing${attempts === 1 ? '' : ', the last one'}: ${quote(why)}`,
  visitsSpent: (phase: string, visits: number): string =>
    `phase "${phase}" was entered ${times(visits)} already, which is its limit (max_visits)`,
  endedOnFail: (phase: string): string => `the verdict of phase "${phase}" was "fail", which ends the workflow`,
  wentOnWithout: (count: number): string =>
    `${count === 1 ? '1 step or artifact was' : `${count} steps or artifacts were`} given up on the way (\`postflight workflow history\` says which)`,
  bypassed: 'its marker was bypassed',
  cleared: 'its marker was cleared',
  noRun: "it is a workflow's, but there is no workflow here",
  running: (name: string, place: string): string => `the workflow "${quote(name, 100)}" runs: ${place}`,
  over: (name: string, outcome: string): string => `the workflow "${quote(name, 100)}" is over (${outcome})`,
  ended: (task: string, outcome: string, why: string | undefined, resume: string): string =>
    `postflight-guard: the workflow of task ${quote(task, 80)} is ${outcome}${why === undefined ? '' : `: ${quote(why)}`}.${isResumableOutcome(outcome) ? ` \`${quote(resume)}\` goes on with it.` : ''}`,
  unusable: (path: string, detail: string): string =>
    `postflight-guard: the workflow in ${quote(path)} could not go on (${quote(detail, 600)}), so the stop was allowed.`,
  markerReason: (name: string): string => `The workflow "${quote(name, 100)}" is running here`,
  kind: (name: string, kind: string): string => `${quote(name)} is ${kind}, not a file`,
  unreadable: (name: string, detail: string): string => `${quote(name)} cannot be read (${quote(detail, 80)})`,
  tooSmall: (name: string, size: number, least: number): string =>
    `${quote(name)} has ${counted(size, 'byte')}, and must have at least ${least}`,
  tooLarge: (name: string, limit: number): string =>
    `${quote(name)} is larger than ${limit} bytes, too large to be checked`,
  notJson: (name: string, detail: string): string => `${quote(name)} is no JSON (${quote(detail, 120)})`,
  notStepResult: 'step-result.json has no "success" that is true or false',
  breach: (name: string, at: string, keyword: string, expected: string): string =>
    `${quote(name)} does not fit its schema: at "${quote(at, 100)}", ${keyword} must be ${quote(expected, 120)}`,
  noVerdict: (name: string, pointer: string): string =>
    `${quote(name)} has nothing at "${quote(pointer, 100)}" that is true, false, "pass" or "fail"`,
  noStepsFile: (name: string): string =>
    `${quote(name)} is not there to take the steps from: make it, then \`workflow resume\``,
  /** A run that stalls for want of steps asks nobody for them again. */
  mendSteps: (why: string): string => `${why}: mend the file, then \`workflow resume\``,
  noSteps: (name: string, pointer: string): string =>
    `${quote(name)} has no list at "${quote(pointer, 100)}" to take the steps from`,
  tooManySteps: (name: string, count: number, limit: number): string =>
    `${quote(name)} lists ${count} steps, more than ${limit}`,
} as const

/** Who drives a run, and how whoever reads this can. */
export const DRIVER_TEXT = {
  drives: (session: string): string => `session ${quote(session, 120)} drives it`,
  askForEach: (next: string): string => `Ask for each prompt: ${next}`,
  endTurn: (next: string): string =>
    `With the hook installed, end your turn now: the prompts come by themselves. Without it, ask for each one: ${next}`,
  takenFrom: (session: string): string => `taken over from session ${quote(session, 120)}, where it was running`,
  isElsewhere: (session: string, resume: string, asksInSession: boolean): string =>
    `session ${quote(session, 80)} drives this workflow. \`${resume}\` ${asksInSession ? 'takes it over.' : 'takes it over where a session is known: type it in the shell of that one, or give both commands the same POSTFLIGHT_HOST_SESSION.'}`,
} as const

/** Pieces of a prompt; `prompt.ts` puts them together. */
export const PROMPT_TEXT = {
  standard: (inStep: boolean): string =>
    inStep
      ? 'Do this step of the work: {{step}}'
      : 'The steps of this phase are through. Write down what came of them.',
  title: (
    workflow: string,
    task: string,
    phase: string,
    step: readonly [number, number] | undefined,
    attempt: number,
    limit: number,
  ): string =>
    `Workflow "${workflow}", task ${task}: phase "${phase}"${step === undefined ? '' : `, step ${step[0]} of ${step[1]}`}, attempt ${attempt} of ${limit}.`,
  failure: (why: string): string => `What was wrong the last time: ${why}`,
  artifact: (target: string, demands: readonly string[]): string =>
    `Leave the result of this phase as the file ${target}${demands.length === 0 ? '.' : `:\n${demands.map((one) => `- ${one}`).join('\n')}`}`,
  minBytes: (least: number): string => `it must have at least ${counted(least, 'byte')}`,
  json: 'it must be JSON',
  schema: (schema: string): string => `it must fit this JSON Schema: ${quote(schema, 4000)}`,
  verdict: (pointer: string): string =>
    `at the JSON pointer ${quote(pointer)} it must say true or "pass" when all is well, false or "fail" when it is not`,
  stepResult: (target: string): string =>
    `When the step is done, leave the file ${target} with {"success": true}. If it could not be done: {"success": false, "summary": "<what went wrong>"}.`,
  next: 'Then end your turn. What comes next is decided by that file alone; you will be told.',
  dispatch: (agent: string | undefined, model: string | undefined): string =>
    `Hand the following to a sub-agent${agent === undefined ? '' : ` of the type ${quote(agent, 80)}`}${model === undefined ? '' : ` with the model ${quote(model, 80)}`}, word for word, and wait for it. When it is through, end your turn.`,
  inFile: (file: string): string =>
    `Read ${file} and do exactly what it says. It is the next prompt of a running workflow, too long for this place.`,
} as const

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

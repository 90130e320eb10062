import { isResumableOutcome } from '../workflow/outcome.ts'
import { counted, quote } from './phrases.ts'

/** What is said of runs. The hook loads this only for a workflow. */

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

/** What follows from a definition's size. */
export function definitionSize(phases: number, prompts: number): string {
  return `${counted(phases, 'phase')}, at most ${counted(prompts, 'prompt')}`
}

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

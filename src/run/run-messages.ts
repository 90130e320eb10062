import { counted, listed, quote } from '../kernel/text.ts'

/** Prompts of a run; the hook loads them only for a workflow. */

export function stepWords(steps: readonly number[], total: number, texts: readonly string[] = []): string {
  const quoted = quote(texts.filter(Boolean).join('; '))
  return `step${steps.length === 1 ? '' : 's'} ${listed(steps)} of ${total}${quoted && `: ${quoted}`}`
}

/** `step`: from 1. */
type PromptPart = Readonly<Record<'agent' | 'model', string | undefined> & { step: number | undefined; prompt: string }>

/** The end of a prompt, if a hook sends the next one. */
export const TURN_ENDS = {
  alone: 'Then end your turn. The next prompt follows once that file is valid.',
  afterCheck: 'Then end your turn. The file and the check decide what comes next, and you will be told.',
  batch: 'When all have finished, end your turn.',
} as const

export function planningNotice(workflow: string): string {
  return `postflight-guard: ${workflow} sends no prompt in plan mode. It continues at the first stop after that.`
}

export const PROMPT_TEXT = {
  standard: (inStep: boolean): string =>
    inStep ? 'Do this step of the work: {{step}}' : 'All steps of this phase have ended. Write down their results.',
  title: (workflow: string, task: string, phase: string, step: string | undefined, attempt: number, limit: number) =>
    `Workflow "${workflow}", task ${task}: phase "${phase}"${step === undefined ? '' : `, ${step}`}, attempt ${attempt} of ${limit}.`,
  failure: (why: string): string => `Problem with the last result: ${why}`,
  earlierFailure: (why: string): string => `Problem with an earlier result: ${why}`,
  before: (why: string): string => `The file was there before this attempt, and is not valid: ${why}`,
  ledBy: (phase: string, verdict: string | undefined, reason: string | undefined, visit: number): string =>
    `${visit === 1 ? 'This phase follows' : `This is visit ${visit} of this phase. It follows`} the phase "${phase}"${verdict === undefined ? '' : `, whose verdict was "${verdict}"`}${reason === undefined ? '.' : `:\n${reason}`}`,
  previousArtifact: (path: string): string => `The previous result is now in the file ${path}.`,
  artifact: (target: string, demands: readonly string[]): string =>
    `Write the result of this phase to the file ${target}${demands.length === 0 ? '.' : `:\n${demands.map((one) => `- ${one}`).join('\n')}`}`,
  minBytes: (least: number): string => `it must have at least ${counted(least, 'byte')}`,
  json: 'it must be JSON',
  schema: (schema: string): string => `it must match this JSON Schema: ${quote(schema, 4000)}`,
  verdict: (pointer: string): string =>
    `at the JSON pointer ${quote(pointer)} it must have true or "pass" if all is well, false or "fail" if not`,
  caseVerdict: (pointer: string, cases: readonly string[], hasDefault: boolean): string =>
    `at the JSON pointer ${quote(pointer)} it must have ${hasDefault ? 'a string, such as one of these' : 'one of these strings'}: ${cases.map((one) => `"${quote(one, 60)}"`).join(', ')}`,
  batchTitle: (workflow: string, task: string, phase: string, steps: string): string =>
    `Workflow "${workflow}", task ${task}: phase "${phase}", ${steps}, at the same time.`,
  batch: (parts: readonly PromptPart[], turnEnd: string): string =>
    [
      `Start ${parts.length} sub-agents in one message, so that they work at the same time: one for each part below. Give each its part word for word, and wait for all of them. ${turnEnd}`,
      ...parts.map(
        ({ step, agent, model, prompt }) =>
          `=== step ${step}${agent === undefined ? '' : `, a sub-agent of the type ${quote(agent, 80)}`}${model === undefined ? '' : `, with the model ${quote(model, 80)}`} ===\n${prompt}`,
      ),
    ].join('\n\n'),
  stepSchema: (schema: string) => `If it succeeded, that JSON must match this JSON Schema: ${quote(schema, 4000)}`,
  stepResult: (target: string): string =>
    `When the step is done, write {"success": true} to the file ${target}. If it could not be done, write {"success": false, "summary": "<what went wrong>"}.`,
  check: (run: string, command: string): string =>
    `Then run \`${command}\`. It runs the check \`${quote(run, 200)}\`, which must succeed; give that shell call enough time. If it fails, fix what it shows, and run the command again.`,
  checkVoid: 'If that file, or a file that the check covers, changes later, run the command again.',
  dispatch: (agent: string | undefined, model: string | undefined): string =>
    `Hand the following to a sub-agent${agent === undefined ? '' : ` of the type ${quote(agent, 80)}`}${model === undefined ? '' : ` with the model ${quote(model, 80)}`}, word for word, and wait for it. When it has finished, end your turn.`,
  askToWait: (task: string, shells: readonly string[], wait: string): string =>
    `The workflow of task ${quote(task, 80)} waits for the result of its last prompt, and work that you started is running in the background: ${shells
      .slice(0, 5)
      .map((name) => `"${quote(name, 80)}"`)
      .join(
        ', ',
      )}. If you are waiting for that: ${quote(wait)} "<what>", then end your turn. Otherwise continue with the prompt, and write its result.`,
  follows: (title: string, stopNow: string) => `${title} The prompt follows. (A person ends the run with: ${stopNow})`,
  inFile: (file: string): string =>
    `Read ${file} and do exactly what it says. It is the next prompt of a running workflow, and too long to be shown here.`,
} as const

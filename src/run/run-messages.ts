import { commandLine } from '../kernel/command-line.ts'
import { approval, counted, freshStart, listed, quote } from '../kernel/text.ts'
import { failureWords, seconds } from '../marker/check-messages.ts'
import type { CheckFailure } from '../marker/marker.ts'
import { MAX_PHASE_STEPS } from './definition/definition-limits.ts'
import type { NotBound } from './machine/receipt.ts'

/** Sentences about runs; the hook loads them only for a workflow. */

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

const ofTask = (task: string): string => `postflight-guard: the workflow of task ${quote(task, 80)}`

/** The caller's project is not known here, so this has no `--root`. */
const commandOf = (word: string, task: string): string => commandLine(['workflow', word, task], undefined)

/** Begins the reason of a run that stalled because of its budget. */
export const OUT_OF_BUDGET = 'the budget is used up'

const notRenewed = (task: string): string => `. A resume does not renew it: ${freshStart(commandOf('start', task))}`

/** `steps`: undefined if the list does not exist yet. */
export function definitionSize(phases: number, steps: number | undefined, prompts: number): string {
  const known = steps === 0 || steps === undefined ? '' : `, ${counted(steps, 'step')}`
  const assumed = steps === undefined ? ` (steps not known yet count as ${MAX_PHASE_STEPS})` : ''
  return `${counted(phases, 'phase')}${known}, at most ${counted(prompts, 'prompt')}${assumed}`
}

export function stepWords(steps: readonly number[], total: number, texts: readonly string[] = []): string {
  const quoted = quote(texts.filter(Boolean).join('; '))
  return `step${steps.length === 1 ? '' : 's'} ${listed(steps)} of ${total}${quoted && `: ${quoted}`}`
}

/** Kept in the state, repeated in the next prompt. */
export const WORKFLOW_TEXT = {
  noArtifact: (artifact: string): string => `${quote(artifact)} is missing`,
  noStepResult: (file: string): string => `${file} is missing`,
  stepSaysFailed: (file: string): string => `${file} says that the step failed`,
  stepExhausted: (step: number, attempts: number, why: string): string =>
    `step ${step} failed ${times(attempts)}${attempts === 1 ? '' : ', most recently'}: ${quote(why)}`,
  tooManyFailed: (failed: number, total: number, last: string): string =>
    total === 1
      ? last
      : `${failed === total ? 'all' : `${failed} of`} ${total} steps failed${failed === total ? '' : ', more than max_skips allows'}; ${last}`,
  promptsSpent: (given: number, size: number, limit: number, task: string): string =>
    `${OUT_OF_BUDGET}: ${counted(given, 'prompt')} of at most ${limit} (max_prompts)${size === 1 ? '' : `, and ${size} more were due`}${notRenewed(task)}`,
  minutesSpent: (limit: number, task: string): string =>
    `${OUT_OF_BUDGET}: ${counted(limit, 'minute')} of work (max_minutes)${notRenewed(task)}`,
  rejected: (reason: string): string => `a person rejected it: ${reason}`,
  exhausted: (attempts: number, why: string): string =>
    `${counted(attempts, 'attempt')} failed${attempts === 1 ? '' : ', most recently'}: ${quote(why)}`,
  visitsSpent: (phase: string, visits: number): string =>
    `phase "${phase}" was already entered ${times(visits)}, its limit (max_visits)`,
  endedOnFail: (phase: string): string => `the verdict of phase "${phase}" was "fail", which ends the workflow`,
  sentBack: (phase: string, verdict: string): string =>
    `the verdict of phase "${phase}" was "${verdict}": find out why, and fix it`,
  wentOnWithout: (count: number, task: string): string =>
    `${count === 1 ? '1 step or artifact was' : `${count} steps or artifacts were`} skipped (\`${commandOf('history', task)}\` says which)`,
  heard: (task: string, stopNow: string): string =>
    `postflight-guard: you interrupted the workflow of task ${quote(task, 80)}, so this stop was allowed. The workflow continues after your next message; \`${quote(stopNow)}\` ends it.`,
  needsApproval: (task: string, file: string, approve: string, reject: string): string =>
    `${ofTask(task)} needs your approval: ${approval(file, approve, reject)}. Then tell the agent to go on.`,
  running: (name: string, location: string): string => `the workflow "${quote(name, 100)}" is running: ${location}`,
  over: (name: string, outcome: string): string => `the workflow "${quote(name, 100)}" has ended (${outcome})`,
  ended: (task: string, outcome: string, why: string | undefined, resume: string | undefined): string =>
    `${ofTask(task)} has ended (${outcome})${why === undefined ? '' : `: ${quote(why)}`}.${resume === undefined ? '' : ` \`${quote(resume)}\` continues it.`}`,
  unusable: (path: string, detail: string): string =>
    `postflight-guard: the workflow in ${quote(path)} could not continue (${quote(detail, 600)}), so the stop was allowed.`,
  unfinished: (task: string): string =>
    `${ofTask(task)} could not check all finished phases in time, so the stop was allowed. It continues at the next stop.`,
  checkNotRun: (run: string, command: string): string =>
    `the check \`${quote(run, 200)}\` was not run: \`${command}\` runs it`,
  checkVoid: (run: string, changed: string, command: string): string =>
    `${quote(changed, 200)} changed after the check \`${quote(run, 200)}\` had run, so its result no longer counts: \`${command}\` runs it again`,
  checkFailed: (run: string, failure: CheckFailure, command: string): string =>
    `the check \`${quote(run, 200)}\` failed (${failureWords(failure)}); \`${command}\` runs it again. The end of its output:`,
  kind: (name: string, kind: string): string => `${quote(name)} is ${kind}, not a file`,
  unreadable: (name: string, detail: string): string => `${quote(name)} cannot be read (${quote(detail, 80)})`,
  tooSmall: (name: string, size: number, least: number): string =>
    `${quote(name)} has ${counted(size, 'byte')}, but must have at least ${least}`,
  tooLarge: (name: string, limit: number): string =>
    `${quote(name)} is larger than ${limit} bytes, too large to be checked`,
  notJson: (name: string, detail: string): string => `${quote(name)} is not JSON (${quote(detail, 120)})`,
  notStepResult: (file: string): string => `${file} must have a "success" that is true or false`,
  breach: (name: string, at: string, keyword: string, expected: string): string =>
    `${quote(name)} does not match its schema: ${at === '' ? 'the whole value' : `the value at "${quote(at, 100)}"`} ${keyword === 'false' ? 'is not allowed' : `must satisfy ${keyword}: ${quote(expected, 120)}`}`,
  checkTooLong: (name: string, steps: number): string =>
    `${quote(name)} cannot be checked: its schema needs more than ${steps} steps for it. Make the file or the schema smaller`,
  noVerdict: (name: string, pointer: string): string =>
    `${quote(name)} has no verdict at "${quote(pointer, 100)}": it must be true, false, "pass" or "fail"`,
  noCase: (name: string, pointer: string, cases: string): string =>
    `${quote(name)} has no verdict at "${quote(pointer, 100)}": it must be one of ${quote(cases, 400)}`,
  noStepsFile: (name: string): string => `${quote(name)}, which lists the steps, is missing: create it`,
  mendSteps: (why: string): string => `${why}: fix the file`,
  /** For a stalled run: no prompt asks for the list again. */
  thenResume: (mend: string, task: string): string => `${mend}, then run \`${commandOf('resume', task)}\``,
  noSteps: (name: string, pointer: string): string => `${quote(name)} has no list of steps at "${quote(pointer, 100)}"`,
  noTasks: (name: string): string => `${quote(name)} has no task list (lines such as "- [ ] a task")`,
  tooDeep: (name: string): string => `${quote(name)} is nested too deeply to be read`,
  notUtf8: (name: string): string => `${quote(name)} is not UTF-8`,
  tooManySteps: (name: string, count: number, limit: number): string =>
    `${quote(name)} lists ${count} steps, more than the maximum of ${limit}`,
} as const

export const DRIVER_TEXT = {
  drives: (session: string): string => `session ${quote(session, 120)} drives it`,
  noSession: (resume: string): string =>
    `It has no session. For prompts from the hook, the agent runs this in its shell: ${resume}`,
  tellAgent:
    'Now tell its agent to go on: if the hook is installed, the next prompt comes when it ends its turn, and on OpenCode when it calls workflow_run. Otherwise no prompt comes automatically (`postflight init` sets the hook up).',
  askForEach: (next: string): string => `Get each prompt with: ${next}`,
  endTurn: (next: string): string =>
    `If the hook is installed, end your turn now: the prompts come automatically. Otherwise get each one with: ${next}`,
  noHook: (what: string, fix: string, next: string): string =>
    `No prompt will come automatically, because ${quote(what, 400)}: ${fix}, then start a new session and resume there. Or get each prompt with: ${next} (If the hook is installed in another way, end your turn now.)`,
  afterInit: (next: string): string =>
    `No prompt will come automatically until the hook is set up (\`postflight init\`) and a new session resumes the run. Until then, get each prompt with: ${next}`,
  inWorktree: (main: string): string =>
    `This is a linked worktree of ${quote(main, 400)}: the run is stored and removed with it, and only a session whose folder is in it gets the prompts. Settings that git does not track (settings.local.json) are not there.`,
  takenFrom: (session: string): string => `taken over from session ${quote(session, 120)}, where it was running`,
  isElsewhere: (session: string, status: string, resume: string, asksInSession: boolean): string =>
    `session ${quote(session, 80)} drives this workflow; \`${status}\` shows how far it is. ${asksInSession ? `\`${resume}\` takes it over.` : `To take it over, run \`${resume}\` in the agent's shell, or set POSTFLIGHT_HOST_SESSION for both commands.`}`,
} as const

/** Changes to a run by a person. Hooks do not load this. */
export const STEERING_TEXT = {
  passedOver: (from: string): string => `resume --from ${from}`,
  skippedByPerson: 'skipped by a person',
  stoppedNow: 'it was stopped immediately',
} as const

/** The end of a prompt, if a hook sends the next one. */
export const TURN_ENDS = {
  alone: 'Then end your turn. The next prompt follows once that file is valid.',
  afterCheck: 'Then end your turn. The file and the check decide what comes next, and you will be told.',
  batch: 'When all have finished, end your turn.',
} as const

export const PROMPT_TEXT = {
  standard: (inStep: boolean): string =>
    inStep ? 'Do this step of the work: {{step}}' : 'All steps of this phase have ended. Write down their results.',
  title: (
    workflow: string,
    task: string,
    phase: string,
    step: string | undefined,
    attempt: number,
    limit: number,
  ): string =>
    `Workflow "${workflow}", task ${task}: phase "${phase}"${step === undefined ? '' : `, ${step}`}, attempt ${attempt} of ${limit}.`,
  failure: (why: string): string => `Problem with the last result: ${why}`,
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
  batch: (
    parts: readonly {
      readonly step: number | undefined
      readonly agent: string | undefined
      readonly model: string | undefined
      readonly prompt: string
    }[],
    turnEnd: string,
  ): string =>
    [
      `Start ${parts.length} sub-agents in one message, so that they work at the same time: one for each part below. Give each its part word for word, and wait for all of them. ${turnEnd}`,
      ...parts.map(
        ({ step, agent, model, prompt }) =>
          `=== step ${step}${agent === undefined ? '' : `, a sub-agent of the type ${quote(agent, 80)}`}${model === undefined ? '' : `, with the model ${quote(model, 80)}`} ===\n${prompt}`,
      ),
    ].join('\n\n'),
  stepSchema: (schema: string): string =>
    `If it succeeded, that JSON must match this JSON Schema: ${quote(schema, 4000)}`,
  stepResult: (target: string): string =>
    `When the step is done, write {"success": true} to the file ${target}. If it could not be done, write {"success": false, "summary": "<what went wrong>"}.`,
  check: (run: string, command: string): string =>
    `Then run \`${command}\`. It runs the check \`${quote(run, 200)}\`, which must succeed; give that shell call enough time. If it fails, fix what it shows and run it again.`,
  checkVoid: 'If that file or one that the check covers changes later, run it again.',
  dispatch: (agent: string | undefined, model: string | undefined): string =>
    `Hand the following to a sub-agent${agent === undefined ? '' : ` of the type ${quote(agent, 80)}`}${model === undefined ? '' : ` with the model ${quote(model, 80)}`}, word for word, and wait for it. When it has finished, end your turn.`,
  askToWait: (task: string, shells: readonly string[], wait: string): string =>
    `The workflow of task ${quote(task, 80)} waits for the result of its last prompt, and work that you started is running in the background: ${shells
      .slice(0, 5)
      .map((name) => `"${quote(name, 80)}"`)
      .join(
        ', ',
      )}. If you are waiting for that: ${quote(wait)} "<what>", then end your turn. Otherwise continue with the prompt, and write its result.`,
  follows: (title: string, stopNow: string): string =>
    `${title} The prompt follows. (A person ends the run with: ${stopNow})`,
  inFile: (file: string): string =>
    `Read ${file} and do exactly what it says. It is the next prompt of a running workflow, and too long to be shown here.`,
} as const

export const GRAPH_TEXT = {
  steps: (count: number): string => counted(count, 'step'),
  stepsFrom: (artifact: string): string => `steps from ${artifact}`,
  atOnce: (count: number): string => `${count} at once`,
  approval: 'needs approval',
  otherwise: 'any other',
} as const

export const RUN_RECORDS = {
  started: (name: string): string => `started: ${name}`,
  heard: 'interrupted: the stop was allowed',
  prompt: (phase: string, steps: string | undefined, attempt: number | undefined, isRepeated: boolean): string =>
    `prompt${isRepeated ? ' again' : ''}: ${[phase, steps, attempt && `attempt ${attempt}`].filter(Boolean).join(', ')}`,
} as const

export const STATUS_TEXT = {
  noRuns: 'no workflows here',
  running: 'running',
  waiting: 'waiting',
  stopping: 'stopping',
  stopsAfter: (stopNow: string): string =>
    `no further prompt: it stops when its agent ends its turn; \`${stopNow}\` stops it immediately`,
  wasOver: (outcome: string): string => `this run had already ended (${outcome}), so nothing was changed`,
  wasGivenUp: (step: number): string => `step ${step} had already been given up`,
  givenUp: (steps: readonly string[], more: number, retry: string): string =>
    `given up: ${quote(steps.join(', '), 500)}${more > 0 ? ` and ${more} more` : ''}; \`${retry} --step N\` tries one again`,
  prompts: (given: number, bound: number | undefined): string =>
    `${counted(given, 'prompt')}${bound === undefined ? '' : `, at most ${bound}`}`,
  lastChange: (age: string): string => `last change ${age} ago`,
  advisory: 'advisory',
  skipped: 'skipped',
  visit: (visit: number, limit: number): string => `visit ${visit} of ${limit}`,
  attempt: (attempt: number, limit: number): string => `attempt ${attempt} of ${limit}`,
  step: (step: number, total: number, text: string, attempt: number, limit: number): string =>
    `${stepWords([step], total, [text])}, attempt ${attempt} of ${limit}`,
  steps: (steps: readonly number[], total: number, texts: readonly string[]): string =>
    `in progress: ${stepWords(steps, total, texts)}`,
  location: (phase: string, progress: string): string => `phase ${phase}, ${progress}`,
  lastFailure: (why: string, isBefore: boolean): string =>
    `${isBefore ? 'a file from before' : 'last attempt'}: ${quote(why, 500)}`,
  needsApproval: (file: string, approve: string, reject: string): string =>
    `waits for approval: ${approval(file, approve, reject)}`,
  waits: (purpose: string): string => `waits for: ${quote(purpose, 500)}`,
  resumes: (resume: string): string => `\`${resume}\` continues it`,
  shared: (remote: string, age: string | undefined, hasChanged: boolean): string =>
    `shared with ${remote}: ${age === undefined ? 'not published yet' : `published ${age} ago${hasChanged ? ', changed since' : ''}`}`,
  notPublished: (problem: string, publish: string): string =>
    `not published: ${quote(problem)}. The next command of the run tries again, or \`${publish}\``,
  movedTo: (resume: string): string => `\`${resume}\` continues it here, unless another machine holds it`,
  noRunFile: (resume: string): string => `its run file is missing, so hooks ignore it; \`${resume}\` restores it`,
} as const

export const PHASE_CHECK_TEXT = {
  passed: (run: string, durationMs: number): string =>
    `the check \`${quote(run, 200)}\` passed (${seconds(durationMs)})`,
  alreadyPassed: (run: string): string =>
    `the check \`${quote(run, 200)}\` has passed for these files, so it was not run again`,
  failed: (run: string, failure: string, durationMs: number): string =>
    `the check \`${quote(run, 200)}\` failed (${failure}; ${seconds(durationMs)}). The end of its output:`,
  running: (run: string, since: string): string =>
    `the check \`${quote(run, 200)}\` has been running since ${since}: wait for it to end, then try again`,
  tooEarly: (run: string, why: string): string =>
    `the check \`${quote(run, 200)}\` was not run, because the phase has no valid result yet: ${quote(why)}`,
  stepsOpen: 'not all of its steps have ended',
  interrupted: (run: string): string => `the check \`${quote(run, 200)}\` was interrupted, so nothing was counted`,
  notBound: (files: readonly NotBound[]): string =>
    `its result is not bound to ${listed(files.slice(0, 5).map(({ path, why }) => `${quote(path, 200)}${why === 'link' ? ' (a link)' : ' (node_modules)'}`))}${files.length > 5 ? ` and ${counted(files.length - 5, 'other')}` : ''}: a change there does not invalidate it`,
  record: (run: string, failure: string | undefined, durationMs: number): string =>
    `check ${failure === undefined ? 'passed' : 'failed'}: ${quote(run, 200)} (${failure === undefined ? '' : `${failure}; `}${seconds(durationMs)})`,
} as const

import { fallbackNote } from '../kernel/command-line.ts'
import { abandonedFix, counted, inLine, oneLine, QUOTE_LIMIT } from '../kernel/text.ts'
import { describeAge } from '../kernel/time.ts'
import { CONTINUATION_LIMIT, isSpent } from '../marker/loop-guard.ts'
import { taskLabel } from '../project/task-folder.ts'

export const REASON_TEXT = {
  where: (task: string, path: string, operation: string | undefined, skill: string | undefined): string =>
    `Task ${task}: ${operation === undefined ? 'its postflight' : `the postflight of its ${operation}`}${skill === undefined ? '' : ` (${skill})`} is still pending. Marker: ${path}`,
  unparsed: (path: string, problem: string): string => `(the marker ${path} ${problem})`,
  steps: 'Steps that remain:',
  moreSteps: (count: number): string => `  and ${count} more`,
  tick: (command: string): string => `Tick each one when it is done: ${command}`,
  unowned: 'It has no owner, so it blocks any sub-agent. `postflight create` gives it one.',
  clear: (command: string): string => `When everything is done, clear the marker: ${command}`,
  runChecks: (command: string): string => `Run the checks: ${command}`,
  fallback: fallbackNote,
  shells: (names: readonly string[], more: number, command: string): string =>
    `Running in the background: ${names.map((name) => `"${name}"`).join(', ')}${more > 0 ? ` and ${more} more` : ''}. If you are waiting for that, or for an answer: ${command} "<what>"`,
  mayWait: (command: string) => `If you are waiting for work in the background, or for an answer: ${command} "<what>"`,
  checks: 'These checks must succeed first. The command below runs them; give that shell call enough time:',
  check: (run: string, step: string | undefined, failure: string | undefined): string =>
    `  - ${run}${step === undefined ? '' : ` (step "${step}")`}${failure === undefined ? '' : `: failed the last time (${failure})`}`,
  lastOutput: 'The end of its output:',
  checking: (since: string, wait: string | undefined): string =>
    `They have been running since ${since}. ${wait === undefined ? 'Wait for them to end.' : `To wait for them: ${wait}, then end your turn.`}`,
  count: (count: number): string =>
    `Blocked stop ${count} of ${CONTINUATION_LIMIT}. ${isSpent(count) ? '(The next stop is allowed, and the marker is kept as abandoned.)' : '(After the third, you may stop.)'}`,
  report: 'Then repeat your full report as your last message: your caller receives only that message.',
  callAgain: (tool: string) => `This call of ${tool} was refused. Call it again, with your full answer, after that.`,
  more: (count: number, command: string): string =>
    `You have ${counted(count, 'more pending marker')}: ${command} lists ${count === 1 ? 'it' : 'them'}.`,
} as const

export const RECOVERY_TEXT = {
  intro: (root: string): string =>
    `postflight-guard found unfinished postflights in ${root}/specs (according to files there, which may have come with the repository):`,
  item: (task: string, operation: string | undefined, status: string, owner: string, ageMs: number): string =>
    `- ${task}${operation === undefined ? '' : `, ${operation}`}: ${status}, ${owner}, ${describeAge(ageMs)}`,
  pending: 'pending',
  workflow: {
    running: (command: string): string => `a running workflow, which \`${command}\` continues here`,
    mine: 'a running workflow, which sends its next prompt when you end your turn',
    approval: (command: string): string =>
      `a workflow that waits until a person approves a result in their own terminal; \`${command}\` continues it here`,
    lost: (command: string): string =>
      `a running workflow that hooks ignore, because its run file is missing: \`${command}\` puts it back and continues it here`,
    stalled: (command: string) => `a workflow that stalled, which \`${command}\` continues here with new attempts`,
  },
  abandoned: `abandoned (gave up after ${CONTINUATION_LIMIT} blocked stops)`,
  unchecked: 'abandoned (its checks were not run)',
  mine: 'of this session',
  other: 'of another session, which may still be running',
  unowned: 'without a session',
  more: (count: number): string => `and ${count} more.`,
  advice: (adopt: string, clear: string): string =>
    `To finish one here: ${adopt}, then do its postflight. If its postflight is done or no longer wanted: ${clear}.`,
  doneAdvice: (run: string): string => `For a definition of done of this session: ${run}.`,
  doneClear: (clear: string) => `If an abandoned definition of done of another session is no longer wanted: ${clear}.`,
  workflowAdvice: (status: string, resume: string | undefined): string =>
    `To see the state of a workflow: ${status}.${resume === undefined ? '' : ` To continue it here: ${resume}.`}`,
  doubt: 'If unsure, ask the user.',
} as const

export function cappedNotice(task: string, path: string, adopt: string, clear: string): string {
  return `postflight-guard: task ${oneLine(taskLabel(task), 80)} stopped without its postflight after ${CONTINUATION_LIMIT} blocked stops. Its marker is kept as ${oneLine(path, QUOTE_LIMIT)}; ${abandonedFix(adopt, clear)}`
}

/** `failed`: undefined if they were not run. */
export function doneGivenUp(run: string, failed: string | undefined): string {
  return `postflight-guard: stopped ${failed === undefined ? 'without the checks of specs/done.yaml,' : `although ${failed},`} after ${CONTINUATION_LIMIT} blocked stops. To run the checks: \`${run}\``
}

const subject = (task: string | undefined) => (task === undefined ? 'an agent' : `task ${oneLine(taskLabel(task), 80)}`)

/** Without a task: of a definition of done. */
export const ALERT_TEXT = {
  abandoned: (task: string | undefined): string =>
    `${subject(task)} stopped without ${task === undefined ? 'the checks of specs/done.yaml' : 'its postflight'}`,
  waits: (task: string | undefined, purpose: string): string => `${subject(task)} waits for: ${oneLine(purpose, 80)}`,
  needsApproval: (task: string, phase: string): string =>
    `task ${oneLine(task, 80)}: phase ${oneLine(phase, 80)} waits for your approval`,
  runEnded: (task: string, outcome: string): string => `the workflow of task ${oneLine(task, 80)} has ${outcome}`,
} as const

export function unreadableNotice(path: string, detail: string): string {
  return `postflight-guard: ${oneLine(path, QUOTE_LIMIT)} could not be used (${oneLine(detail, QUOTE_LIMIT)}), so the stop was allowed. \`postflight doctor\` says more.`
}

export function unsettledNotice(count: number): string {
  return `postflight-guard: out of time: ${counted(count, 'marker')} ${count === 1 ? 'was' : 'were'} not checked. \`postflight inspect\` lists every marker.`
}

export function unsettledRunsNotice(count: number): string {
  return `postflight-guard: out of time: ${counted(count, 'workflow')} did not continue. The next stop tries again.`
}

/** Indented, so that no line of the report can pass for ours. */
export function heldReport(agent: string, type: string | undefined, text: string, isCut: boolean): string {
  const who = `${oneLine(agent, 80)}${type === undefined ? '' : ` (${oneLine(type, 80)})`}`
  return `postflight-guard: this is ${isCut ? 'the first 64 KiB of ' : ''}the report of the sub-agent ${who}, from before it was asked to finish its postflight; its last message does not repeat it. The indented lines are the sub-agent's words, not the user's:\n\n${text.replace(/^/gm, '  ')}`
}

const NOT_DONE = {
  keepReport: (agent: string) => `the report of the sub-agent ${agent} was not kept`,
  handOverReport: (agent: string) => `the report of the sub-agent ${agent} was not handed to its caller`,
  noteOwner: (path: string) => `${path}: the owner was not recorded`,
  updateWait: (path: string) => `${path}: its wait was not updated`,
  listMarkers: (path: string) => `${path}: unfinished postflights there were not listed`,
  listRuns: () => 'running workflows were not listed',
} as const

export function notDone(what: keyof typeof NOT_DONE, about: string, detail: string): string {
  return `postflight-guard: ${NOT_DONE[what](inLine(about))} (${detail})`
}

export function allowedComplaint(why: string): string {
  return `postflight-guard: the stop was allowed: ${why}`
}

export function stdinComplaint(why: string, isAllowed = true): string {
  const problem = `stdin could not be read (${why})`
  return isAllowed ? allowedComplaint(problem) : `postflight-guard: ${problem}, so the agent is unknown`
}

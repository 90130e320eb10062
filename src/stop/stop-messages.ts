import { abandonedFix, counted, QUOTE_LIMIT } from '../kernel/phrases.ts'
import { inLine, oneLine } from '../kernel/text.ts'
import { formatAge } from '../kernel/time.ts'
import { CONTINUATION_LIMIT, isSpent } from '../marker/loop-guard.ts'
import type { JournalProblem } from '../project/journal-entry.ts'

/** The sentences of the hook: for an agent that is blocked, a session that starts, the user, and stderr. */

/** Parts of a block's reason; `stop/reason.ts` puts them together. */
export const REASON_TEXT = {
  where: (task: string, path: string, operation: string | undefined, skill: string | undefined): string =>
    `Task ${task}: ${operation === undefined ? 'its postflight' : `the postflight of its ${operation}`}${skill === undefined ? '' : ` (${skill})`} is still pending. Marker: ${path}`,
  specsItself: 'specs/',
  unparsed: (path: string, problem: string): string => `(the marker ${path} ${problem})`,
  steps: 'Steps that remain:',
  moreSteps: (count: number): string => `  and ${count} more`,
  tick: (command: string): string => `Tick each one when it is done: ${command}`,
  unowned: 'It has no owner, so it blocks any sub-agent. `postflight create` gives it one.',
  clear: (command: string): string => `When everything is done, clear the marker: ${command}`,
  runChecks: (command: string): string => `Run the checks: ${command}`,
  fallback: (command: string): string => `(where \`postflight\` is not on the PATH: ${command})`,
  shells: (names: readonly string[], more: number, command: string): string =>
    `Running in the background: ${names.map((name) => `"${name}"`).join(', ')}${more > 0 ? ` and ${more} more` : ''}. If you are waiting for that, or for an answer: ${command} "<what>"`,
  mayWait: (command: string): string =>
    `If you are waiting for work in the background, or for an answer: ${command} "<what>"`,
  checks: 'These checks must succeed first. The command below runs them; give that shell call enough time:',
  check: (run: string, step: string | undefined, failure: string | undefined): string =>
    `  - ${run}${step === undefined ? '' : ` (step "${step}")`}${failure === undefined ? '' : `: failed the last time (${failure})`}`,
  lastOutput: 'The end of its output:',
  checking: (since: string, wait: string | undefined): string =>
    `They have been running since ${since}. ${wait === undefined ? 'Wait for them to end.' : `To wait for them: ${wait}, then end your turn.`}`,
  count: (count: number): string =>
    `Blocked stop ${count} of ${CONTINUATION_LIMIT}. ${isSpent(count) ? '(The next stop is allowed, and the marker is kept as abandoned.)' : '(After the third, you may stop.)'}`,
  report: 'Then repeat your full report as your last message: your caller receives only that message.',
  callAgain: (tool: string): string =>
    `This call of ${tool} was refused. Call it again, with your full answer, after that.`,
  more: (count: number, command: string): string =>
    `You have ${counted(count, 'more pending marker')}: ${command} lists ${count === 1 ? 'it' : 'them'}.`,
} as const

/** Parts of the message to a starting session; `stop/recovery.ts` puts them together. */
export const RECOVERY_TEXT = {
  intro: (root: string): string =>
    `postflight-guard found unfinished postflights in ${root}/specs (according to files there, which may have come with the repository):`,
  item: (task: string, operation: string | undefined, standing: string, owner: string, ageMs: number): string =>
    `- ${task}${operation === undefined ? '' : `, ${operation}`}: ${standing}, ${owner}, ${ageMs < 0 ? 'dated in the future' : `${formatAge(ageMs)} old`}`,
  pending: 'pending',
  workflow: {
    running: (command: string): string => `a running workflow, which \`${command}\` continues here`,
    /** Of the session that starts, such as a resumed one: it needs no command. */
    mine: 'a running workflow, which sends its next prompt when you end your turn',
    approval: (command: string): string =>
      `a workflow that waits until a person approves a result in their own terminal; \`${command}\` continues it here`,
    lost: (command: string): string =>
      `a running workflow that no hook finds, because its run file is gone: \`${command}\` puts it back and continues it here`,
    stalled: (command: string): string =>
      `a workflow that stalled, which \`${command}\` continues here with new attempts`,
  },
  abandoned: `abandoned (gave up after ${CONTINUATION_LIMIT} blocked stops)`,
  unchecked: 'abandoned (its checks were not run)',
  mine: 'of this session',
  other: 'of another session, which may still be running',
  unowned: 'without a session',
  more: (count: number): string => `and ${count} more.`,
  advice: (adopt: string, clear: string): string =>
    `To finish one here: ${adopt}, then do its postflight. If its postflight is done or no longer wanted: ${clear}.`,
  workflowAdvice: (status: string, resume: string): string =>
    `To see the state of a workflow: ${status}. To continue it here: ${resume}.`,
  doubt: 'If unsure, ask the user.',
} as const

/** The notice about a marker that has blocked its last stop. */
export function cappedNotice(task: string, path: string, adopt: string, clear: string): string {
  return `postflight-guard: task ${oneLine(task, 80)} stopped without its postflight after ${CONTINUATION_LIMIT} blocked stops. Its marker is kept as ${oneLine(path, QUOTE_LIMIT)}; ${abandonedFix(adopt, clear)}`
}

/** The notice about a definition of done that has blocked its last stop. */
export function doneGivenUp(run: string): string {
  return `postflight-guard: stopped without the checks of specs/done.yaml, after ${CONTINUATION_LIMIT} blocked stops. To run them: \`${run}\``
}

/** A notification of the terminal: a few words, which must not begin with a digit (OSC 9). */
export const ALERT_TEXT = {
  abandoned: (task: string): string => `task ${oneLine(task, 80)} stopped without its postflight`,
  waits: (task: string, purpose: string): string => `task ${oneLine(task, 80)} waits for: ${oneLine(purpose, 80)}`,
  needsApproval: (task: string, phase: string): string =>
    `task ${oneLine(task, 80)}: phase ${oneLine(phase, 80)} waits for your approval`,
  runEnded: (task: string, outcome: string): string => `the workflow of task ${oneLine(task, 80)} has ${outcome}`,
} as const

/** The notice about a marker or a folder that could not be read or written. */
export function unreadableNotice(path: string, detail: string): string {
  return `postflight-guard: ${oneLine(path, QUOTE_LIMIT)} could not be used (${oneLine(detail, QUOTE_LIMIT)}), so the stop was allowed. \`postflight doctor\` says more.`
}

/** The notice about markers that a stop had no time for. */
export function unsettledNotice(count: number): string {
  return `postflight-guard: out of time: ${counted(count, 'marker')} ${count === 1 ? 'was' : 'were'} not checked. \`postflight inspect\` lists every marker.`
}

/** The notice about runs that a stop had no time for. */
export function unsettledRunsNotice(count: number): string {
  return `postflight-guard: out of time: ${counted(count, 'workflow')} did not continue. The next stop tries again.`
}

/**
 * The message to the caller of a sub-agent that returned without repeating the report from before its block. The report is
 * indented, so that no line of it can pass for one of ours.
 */
export function heldReport(agent: string, type: string | undefined, text: string): string {
  const who = `${oneLine(agent, 80)}${type === undefined ? '' : ` (${oneLine(type, 80)})`}`
  return `postflight-guard: this is the report of the sub-agent ${who}, from before it was asked to finish its postflight; its last message does not repeat it. The indented lines are the sub-agent's words, not the user's:\n\n${text.replace(/^/gm, '  ')}`
}

/** A line for stderr: the report of a blocked sub-agent could not be kept. */
export function reportNotKept(agent: string, detail: string): string {
  return `postflight-guard: the report of the sub-agent ${inLine(agent)} was not kept (${detail})`
}

/** A line for stderr: the kept report of a sub-agent could not be handed to its caller. */
export function reportNotHandedOver(agent: string, detail: string): string {
  return `postflight-guard: the report of the sub-agent ${inLine(agent)} was not handed to its caller (${detail})`
}

/** A line for stderr: the owner of a marker could not be recorded. */
export function ownerNotNoted(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: the owner was not recorded (${detail})`
}

/** A line for stderr: the wait of a marker could not be stamped or removed. */
export function waitNotNoted(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: its wait was not updated (${detail})`
}

/** A line for stderr: the unfinished postflights of a folder could not be listed when a session started. */
export function unlistedComplaint(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: unfinished postflights there were not listed (${detail})`
}

/** A line for stderr: running workflows could not be listed when a session started. */
export function runsNotListed(detail: string): string {
  return `postflight-guard: running workflows were not listed (${detail})`
}

/** For stderr: the hook allowed the stop because it failed. */
export function allowedComplaint(why: string): string {
  return `postflight-guard: the stop was allowed: ${why}`
}

/** For stderr: the payload could not be read. */
export function stdinComplaint(why: string): string {
  return allowedComplaint(`stdin could not be read (${why})`)
}

/** For stderr: a journal that could not be written or rotated. */
export function journalComplaint({ kind, detail }: JournalProblem): string {
  const what = kind === 'not-recorded' ? 'not in the journal' : 'the journal is too long and cannot be rotated'
  return `postflight-guard: ${what}: ${detail}`
}

/** Why the owner of a marker was not recorded, when no error is the cause. */
export const NO_TIME_LEFT = 'there was no time left'

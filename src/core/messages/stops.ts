import { CONTINUATION_LIMIT, isSpent } from '../loop-guard.ts'
import { inLine, oneLine } from '../text.ts'
import { QUOTE_LIMIT } from './phrases.ts'

/** What the hook says: to the agent in a reason, to a session that starts, to the user in a notice, and on stderr. */

/** Pieces of a block's reason; `reason.ts` puts them together. */
export const REASON_TEXT = {
  where: (task: string, path: string, operation: string | undefined, skill: string | undefined): string =>
    `Task ${task}: the postflight${operation === undefined ? '' : ` of its ${operation}`}${skill === undefined ? '' : ` (${skill})`} is not done, says ${path}.`,
  specsItself: 'specs/',
  unparsed: (path: string, problem: string): string => `(the marker ${path} ${problem})`,
  steps: 'Steps that remain:',
  moreSteps: (count: number): string => `  and ${count} more`,
  tick: (command: string): string => `Tick each one when it is done: ${command}`,
  clear: (command: string): string => `When everything is done, clear the marker: ${command}`,
  fallback: (command: string): string => `(where \`postflight\` is not on the PATH: ${command})`,
  count: (count: number): string =>
    `This is continuation ${count} of ${CONTINUATION_LIMIT}${isSpent(count) ? ': the next stop goes through and the marker is kept as abandoned' : ''}.`,
  report: 'Then repeat your full report as your last message: your caller receives only the last one.',
  more: (count: number, command: string): string =>
    count === 1
      ? `And 1 more pending marker of yours: ${command} lists it.`
      : `And ${count} more pending markers of yours: ${command} lists them.`,
} as const

/** Pieces of what a session is told when it starts; `recovery.ts` puts them together. */
export const RECOVERY_TEXT = {
  intro: (root: string): string =>
    `postflight-guard found unfinished postflights in ${root}/specs (said by files there, which may have come with the repository):`,
  pending: 'pending',
  workflow: (command: string): string => `a running workflow, which goes on here with \`${command}\``,
  abandoned: 'abandoned (its continuations were spent)',
  mine: 'of this session',
  other: 'of another session, which may still be running',
  unowned: 'of no session',
  more: (count: number): string => `and ${count} more.`,
  advice: (adopt: string, clear: string): string =>
    `To finish one here: ${adopt}, then do its postflight. If its postflight is done or no longer wanted: ${clear}.`,
  workflowAdvice: (status: string, resume: string): string =>
    `To see how a workflow stands: ${status}. To go on with it here: ${resume}.`,
  doubt: 'Ask the user when in doubt.',
} as const

/** The note to the user when a marker ran into the limit. */
export function cappedNotice(task: string, path: string, command: string): string {
  return `postflight-guard: task ${oneLine(task, 80)} stopped without its postflight after ${CONTINUATION_LIMIT} continuations. The promise is kept in ${oneLine(path, QUOTE_LIMIT)}; look with \`${command}\`.`
}

/** The note to the user when a marker's state could not be read or written. */
export function unreadableNotice(path: string, detail: string): string {
  return `postflight-guard: ${oneLine(path, QUOTE_LIMIT)} could not be used (${oneLine(detail, QUOTE_LIMIT)}), so the stop was allowed. \`postflight doctor\` says more.`
}

/** How much was left, when there was more than a stop has time for. */
export function unsettledNotice(count: number): string {
  return `postflight-guard: ${count === 1 ? '1 more marker than a stop has time for: it holds' : `${count} more markers than a stop has time for: they hold`} nobody this time. \`postflight inspect\` lists every one.`
}

/** For stderr: the owner of a marker could not be noted. */
export function ownerNotNoted(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: the owner was not noted (${detail})`
}

/** For stderr: unfinished postflights that could not be listed when a session started. */
export function unlistedComplaint(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: what is unfinished there was not told (${detail})`
}

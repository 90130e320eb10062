import { commandLine } from './command-line.ts'
import type { ErrorArguments, ErrorCode } from './errors.ts'
import { SPECS_FOLDER } from './files.ts'
import { CONTINUATION_LIMIT, isSpent } from './loop-guard.ts'
import type { MarkerProblem } from './marker.ts'
import type { Rule } from './stop/rules.ts'
import { inLine, oneLine } from './text.ts'

/** The one place for prose: codes and data come in, sentences go out. Nothing here decides anything. */

/** Longest value that is quoted inside a sentence, in characters. */
const QUOTE_LIMIT = 200

/** Longest part of a name that is quoted where its length is what is wrong with it, in characters. */
const NAME_QUOTE_LIMIT = 40

/** What is wrong with a workflow's state file, as the end of "the file …". */
const STATE_PROBLEMS: Record<ErrorArguments['workflow-state']['problem'], (detail: string) => string> = {
  'not-json': (detail) => `is no whole JSON (${detail})`,
  version: (detail) => `is of version ${detail}, which this postflight-guard does not know`,
  shape: (detail) => `is no state of a workflow (wrong: ${detail})`,
  unreadable: (detail) => `cannot be read (${detail})`,
}

/** What a file system says where a folder should be, and something else is. */
const IN_THE_WAY: readonly string[] = ['EEXIST', 'ENOTDIR']

const workflowCommand = (command: string, task: string): string => commandLine(['workflow', command, task], undefined)
const markerCommand = (command: string, task: string): string => commandLine([command, task], undefined)

const ERROR_SENTENCES: { readonly [Code in ErrorCode]: (args: ErrorArguments[Code]) => string } = {
  usage: (a) => a.detail,
  'task-invalid': (a) => {
    if (a.largest !== undefined) {
      return `the task number ${oneLine(a.task, NAME_QUOTE_LIMIT)} is too large: the largest is ${a.largest}.`
    }
    if (a.longest !== undefined) {
      return `the task "${oneLine(a.task, NAME_QUOTE_LIMIT)}" is too long: a name has at most ${a.longest} characters.`
    }
    return `"${a.task}" is no task: give its number (259) or its folder's name (259_prove_completeness), without "/", ".." or a leading "-".`
  },
  'slug-invalid': (a) =>
    a.longest !== undefined
      ? `the slug "${oneLine(a.slug, NAME_QUOTE_LIMIT)}" is too long: at most ${a.longest} characters.`
      : `"${a.slug}" is no slug: it must not hold "/", "\\", "..", <>:"|?* or control characters, nor begin with "-" or ".".`,
  'slug-missing': (a) =>
    `task ${a.task} has no folder in ${a.specs} yet: give a slug after its number, as in \`${a.task} my_slug\`.`,
  'task-ambiguous': (a) => `task ${a.task} has several folders (${a.folders}): give one of these.`,
  'task-unknown': (a) =>
    `no folder for task ${a.task} in ${a.specs}: ${a.wanted === 'workflow' ? '`postflight workflow status` lists the tasks that have a workflow' : '`postflight inspect` lists the tasks that have a marker'}.`,
  'task-has-other-folder': (a) =>
    `task ${a.task} already has the folder ${a.folder}: leave the slug out, or take another number.`,
  'target-missing': (a) => `say which: a <task>, or ${a.options}.`,
  'target-twice': (a) => `give only one of: a <task>, ${a.options}.`,
  'value-invalid': (a) => `${a.option} ${a.expected}, not "${a.value}".`,
  'root-missing': (a) => `${a.path} is no folder (from ${a.from}).`,
  'root-none': (a) =>
    `no specs/ folder at or above ${a.start}: go into the project, or give --root (\`postflight create\` makes the first one).`,
  'root-unlikely': (a) => `${a.start} is no project: go into one, or give --root ${a.start} if you mean it.`,
  'marker-none': (a) =>
    a.folder === SPECS_FOLDER
      ? `no marker in ${SPECS_FOLDER}/ itself, where nothing new is made: give a <task>.`
      : `no marker in ${a.folder}: \`postflight create\` makes one.`,
  'marker-of-other-session': (a) =>
    `${a.path} is ${a.whose}: finish or clear it there, \`${markerCommand('adopt', a.task)}\`, or \`create --force\` to replace it.`,
  'marker-of-workflow': (a) =>
    `${a.path} is a workflow's: \`${workflowCommand('status', a.task)}\` shows it, \`stop\` ends it when its phase is through, \`abort\` at once, \`resume\` takes it over; when it is over, \`${markerCommand('clear', a.task)}\`.`,
  'marker-unreadable': (a) => `${a.path} cannot be read (${a.detail}): mend or remove it by hand.`,
  'marker-unparsed': (a) =>
    `${a.path} ${a.detail}: mend it by hand, or replace it with \`create --force\` (its text is kept).`,
  'marker-vanished': (a) => `${a.path} went away meanwhile: nothing was changed.`,
  'marker-too-large': (a) =>
    `the marker would be larger than ${a.limit} bytes, which nobody reads: shorten its reason or its steps.`,
  locked: (a) => `${a.path} is being changed by another process: try again, or remove ${a.lock} if none is running.`,
  'step-unknown': (a) => `no step "${a.step}" in ${a.path}: it has ${a.steps}.`,
  'steps-none': (a) => `${a.path} has no checklist: \`create --step NAME\` gives it one.`,
  'session-unknown': () =>
    "no host session known here: run this in the agent's shell, or give --host-session (or POSTFLIGHT_HOST_SESSION).",
  'payload-not-json': (a) => `the payload is no JSON (${a.detail}).`,
  'payload-not-object': () => 'the payload is JSON, but no object.',
  'file-unreadable': (a) =>
    a.detail === 'ENOENT'
      ? `${a.path} is not there: give the path of a file that is.`
      : `${a.path} cannot be read (${a.detail}): mend or replace it by hand.`,
  'settings-not-json': (a) => `${a.path}:${a.line}:${a.column}: no valid JSON (${a.detail}).`,
  'settings-wrong-shape': (a) => `${a.path}: ${a.where} must be ${a.expected}.`,
  'workflow-definition': (a) =>
    `${a.path}${a.place}: ${a.detail}${a.more === 0 ? '.' : ` (and ${a.more} more: \`postflight workflow validate\` lists them).`}`,
  'workflow-none': (a) =>
    `no workflow in task ${a.task}: \`postflight workflow start <task> --definition <file>\` begins one.`,
  'workflow-there': (a) =>
    a.outcome === 'running'
      ? `task ${a.task} runs the workflow "${a.name}" already: \`${workflowCommand('status', a.task)}\` shows it, \`abort\` ends it.`
      : `task ${a.task} has a workflow already ("${a.name}", ${a.outcome}): ${a.resumable ? `\`${workflowCommand('resume', a.task)}\` goes on with it, ` : ''}\`start --fresh\` puts it aside and begins anew.`,
  'workflow-over': (a) =>
    `the workflow of task ${a.task} is over (${a.outcome}): \`postflight workflow start --fresh\` begins anew.`,
  'workflow-marker': (a) =>
    `${a.path} promises another postflight: finish it, or \`${markerCommand('clear', a.task)}\`, then try again.`,
  'workflow-state': (a) =>
    `${a.path} ${STATE_PROBLEMS[a.problem](a.detail)}: it was left as it is. Mend it, or move it away and start again (artifacts that are there count as done).`,
  'host-unknown': (a) => `unknown host "${a.host}": ${a.known}.`,
  'scope-unknown': (a) => `unknown scope "${a.scope}": user, project or local.`,
  'scope-not-of-host': (a) => `${a.host} has no settings of the scope "${a.scope}": user or project.`,
  'not-a-folder': (a) => `${inPlaceOfFolder(a.path, a.kind)}: nothing is written there. Remove or rename it.`,
  'cannot-write': (a) =>
    IN_THE_WAY.includes(a.detail)
      ? `cannot write ${a.path} (${a.detail}): something that is no folder is in the way. Move it elsewhere.`
      : `cannot write ${a.path} (${a.detail}): check its rights and the space left.`,
  internal: (a) => `a fault of postflight-guard (${a.detail}). Please report it, with the command you ran.`,
}

/** What a command that was to write adds to what is wrong with a file; who only looks leaves it out. */
const NOTHING_WRITTEN = ' Nothing was written: mend the file, then try again.'

/** The sentence for an error, with what to do about it. */
export function errorMessage<Code extends ErrorCode>(code: Code, args: ErrorArguments[Code]): string {
  const isSettings = code === 'settings-not-json' || code === 'settings-wrong-shape'
  return `${errorFault(code, args)}${isSettings ? NOTHING_WRITTEN : ''}`
}

/** What is wrong, without what a command would have written. */
export function errorFault<Code extends ErrorCode>(code: Code, args: ErrorArguments[Code]): string {
  return ERROR_SENTENCES[code](cleaned(args))
}

/** The same arguments with texts cleaned and cut, so that a hostile one cannot paint the terminal. */
function cleaned<Arguments extends object>(args: Arguments): Arguments {
  const clean = (value: unknown): unknown => (typeof value === 'string' ? oneLine(value, QUOTE_LIMIT * 5) : value)
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, clean(value)])) as Arguments
}

/** What is wrong with a marker's text, as the end of "the file …". */
export function markerProblem(problem: MarkerProblem): string {
  switch (problem.code) {
    case 'empty':
      return 'is empty'
    case 'too-large':
      return 'is too large to be read'
    case 'not-object':
      return 'is JSON, but no object'
    case 'not-json':
      return `is no JSON (${oneLine(problem.detail, QUOTE_LIMIT)})`
    case 'field':
      return `has a ${oneLine(problem.field, 40)} that is not ${problem.expected}`
  }
}

/** Why a rule of DESIGN section 5 answers as it does. */
export const RULE_SENTENCES: Record<Rule, string> = {
  workflow: "a running workflow's: its driver answers for it",
  bypassed: 'stop_hook_active is true in the marker: let go, marker and loop guard are removed',
  'other-session': 'it belongs to another host session',
  'unowned-stop': "unowned, and unowned markers hold sub-agents' stops only",
  expired: 'unowned and older than 24 h: it blocks no stop any more',
  'before-session': 'unowned and from before this session: a clone, an archive or an earlier session left it there',
  'other-agent': 'it belongs to another agent of this session',
  background: 'a sub-agent is still running in the background: the host asks again when it ends',
  capped: `${CONTINUATION_LIMIT} continuations are spent: let go, the marker is kept as abandoned`,
  block: 'held: the postflight is pending',
}

/** What a running workflow's driver does at a stop, as the end of a sentence. */
export const WORKFLOW_RULES = {
  other: 'another session drives it, or none',
  asked: 'it looks at what was left, then gives out the next prompt, or lets go when the run has ended',
  looks: 'it looks at what was left, and lets go',
  unless: "unless the workflow's driver gives out a prompt",
} as const

/** What `explain` says beside the rules. */
export const EXPLAIN_TEXT = {
  noPayload: 'No payload is given (--payload FILE, or - for stdin). The hook reads an empty one as:',
  whose: (session: string | undefined, agent: string | undefined): string =>
    `of session ${inLine(session ?? 'not known')}, agent ${inLine(agent ?? 'not known')}`,
  noRoot: 'no root: no start folder leads to a specs/ folder',
  roots: (roots: readonly string[]): string => inLine(`roots: ${roots.join(', ')}`),
  noMarkers: 'no pending markers',
  marker: (path: string, row: number | string | null, rule: string | null, why: string): string =>
    `${path}: ${rule === null ? '' : `row ${row}, ${rule}: `}${why}`,
  unreadable: (detail: string): string => `cannot be read (${detail}): the stop is allowed`,
  answer: 'answer:',
  told: (notice: string): string => `the user is told: ${inLine(notice)}`,
  disabled: 'POSTFLIGHT_DISABLE=1: the hook allows everything',
  notAStop: (event: string): string => `"${event}" is not a stop event, so nothing is blocked`,
  ignored: (host: string): string => `${host} ignores the answer to this stop, so nothing is counted`,
} as const

/** The note to the user when a marker ran into the limit. */
export function cappedNotice(task: string, path: string, command: string): string {
  return `postflight-guard: task ${oneLine(task, 80)} stopped without its postflight after ${CONTINUATION_LIMIT} continuations. The promise is kept in ${oneLine(path, QUOTE_LIMIT)}; look with \`${command}\`.`
}

/** The note to the user when a marker's state could not be read or written. */
export function unreadableNotice(path: string, detail: string): string {
  return `postflight-guard: ${oneLine(path, QUOTE_LIMIT)} could not be used (${oneLine(detail, QUOTE_LIMIT)}), so the stop was allowed. \`postflight doctor\` says more.`
}

/** For stderr: the owner of a marker could not be noted. */
export function ownerNotNoted(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: the owner was not noted (${detail})`
}

/** For stderr: unfinished postflights that could not be listed when a session started. */
export function unlistedComplaint(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: what is unfinished there was not told (${detail})`
}

/** A folder that nobody may look into: a marker in there holds nobody. */
export function unsearchable(path: string, detail: string): string {
  return `${path} cannot be looked into (${detail}): a marker in it would hold nobody`
}

/** A folder in which nothing can be made: no stop can be counted there. */
export function unwritable(path: string, detail: string): string {
  return `${path} cannot be written (${detail})`
}

/** Something that lies where a folder of our own should be. */
export function inPlaceOfFolder(path: string, kind: string): string {
  return `${path} is ${kind === 'file' ? 'a file' : kind}, not a folder of its own`
}

/** That of a journal which grew far beyond its limit only the end was read. */
export function journalCut(bytes: number): string {
  return `the journal is very long: only its last ${bytes / 1_048_576} MiB were read`
}

/** How much was left, when there was more than a stop has time for. */
export function unsettledNotice(count: number): string {
  return `postflight-guard: ${count === 1 ? '1 more marker than a stop has time for: it holds' : `${count} more markers than a stop has time for: they hold`} nobody this time. \`postflight inspect\` lists every one.`
}

/** What `create` adds for people to its one line. */
export const CREATE_NOTES = {
  newRoot: (root: string): string => `made specs/ in ${oneLine(root, QUOTE_LIMIT)}`,
  unowned:
    "no host session is known here: it holds any sub-agent's stop, and no main conversation's (--host-session names one)",
  holdsNobody:
    'no host session is known here: a promise of a main conversation holds nobody without one (--host-session names it)',
} as const

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

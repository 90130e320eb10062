import { commandLine } from '../command-line.ts'
import type { ErrorArguments, ErrorCode } from '../errors.ts'
import { SPECS_FOLDER } from '../files.ts'
import { oneLine } from '../text.ts'
import { inPlaceOfFolder } from './files.ts'
import { QUOTE_LIMIT } from './phrases.ts'

/** The sentences of errors: a code and its arguments come in, what is wrong and what to do goes out. */

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

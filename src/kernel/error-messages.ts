import { commandLine } from './command-line.ts'
import type { ErrorArguments, ErrorCode } from './errors.ts'
import { PostflightError } from './errors.ts'
import { inPlaceOfFolder } from './file-messages.ts'
import { SPECS_FOLDER } from './files.ts'
import { MAX_CHECKS, MAX_INPUT_LENGTH, WAIT_LIMIT } from './limits.ts'
import { counted, jsonFaultWords, QUOTE_LIMIT, UNNAMED_FILE } from './phrases.ts'
import { oneLine } from './text.ts'

/** The sentences of errors. Each one says what is wrong and what to do about it. */

/** The longest part of a name (characters) that is quoted in a message about its length. */
const NAME_QUOTE_LIMIT = 40

/** The commands that list tasks, by what is wanted in them. */
const LISTS: Record<ErrorArguments['task-unknown']['wanted'], string> = {
  marker: '`postflight inspect` lists the tasks that have a marker',
  workflow: '`postflight workflow status` lists the tasks that have a workflow',
  story: '`postflight report` shows all tasks, also removed ones',
}

/** Problems of a workflow's state file, as the end of "the file …". */
const STATE_PROBLEMS: Record<ErrorArguments['workflow-state']['problem'], (detail: string) => string> = {
  'not-json': (detail) => `is not complete JSON (${detail})`,
  version: (detail) => `has version ${detail}, which this postflight-guard does not support`,
  shape: (detail) => `is not a valid workflow state (invalid: ${detail})`,
  unreadable: (detail) => `cannot be read (${detail})`,
}

/** The errors of a file system where a folder is needed and something else has its name. */
const IN_THE_WAY: readonly string[] = ['EEXIST', 'ENOTDIR']

/** The shapes that a settings file may lack, as the end of "… must". */
const SETTINGS_SHAPES: Record<ErrorArguments['settings-wrong-shape']['expected'], string> = {
  object: 'be an object',
  list: 'be a list',
  unique: 'occur only once',
}

/** Why a marker or a run may not wait, as the end of "the marker …" or "the state …". */
const WAIT_REFUSALS: Record<ErrorArguments['wait-refused']['why'], (task: string) => string> = {
  unowned: (task) =>
    `has no host session, so it does not block the main conversation: \`${markerCommand('adopt', task)}\` binds it to your session.`,
  'other-session': (task) =>
    `belongs to another host session, and only that session can wait: \`${markerCommand('adopt', task)}\` takes it over.`,
  'by-sub-agent': () =>
    'cannot wait here: a sub-agent ends when it stops. Finish the postflight, or report what is missing.',
  'sub-agent': () => 'is for a sub-agent, which cannot wait: finish its postflight, or report what is missing.',
  limit: (task) =>
    `has waited at ${WAIT_LIMIT} prompts, the limit: finish its postflight, or \`${markerCommand('clear', task)}\`.`,
  'run-of-other-session': (task) =>
    `belongs to a workflow that this session does not drive: \`${workflowCommand('resume', task)}\` takes it over.`,
  'run-by-sub-agent': () =>
    'belongs to a workflow, where only the main conversation can wait: write your result, or report what is missing.',
  'run-limit': () => `has waited at ${WAIT_LIMIT} prompts in this phase, the limit: do what its prompt says.`,
}

/** Where the hook is already. */
const WIRED: Record<ErrorArguments['already-wired']['wiredBy'], (where: string) => string> = {
  settings: (where) => `the hook is already in ${where}, with another command`,
  'same-command': (where) => `the hook is already in ${where}, and some hosts would run it twice`,
  scope: (where) => `the hook is already in ${where}`,
  plugin: (where) => `the plugin ${where} already brings the hook`,
}

/** Why a marker's checks were not run, as the end of "the marker …". */
const CHECK_REFUSALS: Record<
  ErrorArguments['checks-refused']['refusal'],
  (args: ErrorArguments['checks-refused']) => string
> = {
  'other-session': ({ commands, unchecked }) =>
    `has checks of another session (${commands}), which must succeed first: \`--run-checks\` runs them here.${unchecked ? UNCHECKED_ADVICE : ''}`,
  unowned: ({ commands, unchecked }) =>
    `has checks (${commands}) but no host session, so they are never run.${unchecked ? UNCHECKED_ADVICE : ''}`,
  running: ({ commands, since }) => `has checks running since ${since} (${commands}): wait, then try again.`,
  replaced: () => 'was replaced while its checks ran, so the new marker stays.',
  unreadable: ({ unchecked }) =>
    `has a field "checks" that cannot be read (it takes a list of at most ${MAX_CHECKS} objects {"run": "COMMAND"}), so nothing can be proven: correct it.${unchecked ? UNCHECKED_ADVICE : ''}`,
  removed: ({ commands, unchecked }) =>
    `was removed by hand, and its checks (${commands}) have not passed since: create it again with them and clear it. ${unchecked ? '`--unchecked` settles it.' : 'The user can clear it in a terminal.'}`,
}

/** Why a step of a run was not retried or skipped, as the end of "step 3 of task 7 …". */
const STEP_REFUSALS: Record<ErrorArguments['run-step']['standing'], (args: ErrorArguments['run-step']) => string> = {
  'no-steps': ({ phase }) => `cannot be changed: phase "${phase}" is not working on steps now`,
  unknown: ({ phase, count }) => `does not exist: phase "${phase}" has ${counted(count, 'step')}`,
  done: () => 'is done',
  'not-ended': () => 'still has attempts left',
}

const UNCHECKED_ADVICE = ' `--unchecked` skips them and keeps the marker as abandoned.'

const workflowCommand = (command: string, task: string): string => commandLine(['workflow', command, task], undefined)
const markerCommand = (command: string, task: string): string => commandLine([command, task], undefined)

const ERROR_SENTENCES: { readonly [Code in ErrorCode]: (args: ErrorArguments[Code]) => string } = {
  usage: (a) => a.detail,
  'task-invalid': (a) => {
    if (a.largest !== undefined) {
      return `the task number ${oneLine(a.task, NAME_QUOTE_LIMIT)} is too large: the maximum is ${a.largest}.`
    }
    if (a.longest !== undefined) {
      return `the task "${oneLine(a.task, NAME_QUOTE_LIMIT)}" is too long: the maximum is ${a.longest} characters.`
    }
    return `invalid task "${a.task}": use its number (259) or its folder's name (259_prove_completeness), without "/", ".." or a leading "-".`
  },
  'slug-invalid': (a) =>
    a.longest !== undefined
      ? `the slug "${oneLine(a.slug, NAME_QUOTE_LIMIT)}" is too long: the maximum is ${a.longest} characters.`
      : `invalid slug "${a.slug}": use only letters, digits, "_", "-" and "."; it must not contain "..", begin with "-" or ".", or end with ".".`,
  'slug-missing': (a) =>
    `task ${a.task} has no folder in ${a.specs} yet: give a slug after the number, to name the folder: \`${a.command}\`.`,
  'task-ambiguous': (a) => `task ${a.task} has several folders (${a.folders}): use one of these names.`,
  'task-unknown': (a) => `task ${a.task} has no folder in ${a.specs}: ${LISTS[a.wanted]}.`,
  'task-has-other-folder': (a) =>
    `task ${a.task} already has the folder ${a.folder}: omit the slug, or use another number.`,
  'target-missing': (a) => `no target: give one of <task>, ${a.options}.`,
  'target-twice': (a) => `too many targets: give only one of <task>, ${a.options}.`,
  'value-invalid': (a) => `${a.option} ${a.expected}, not "${a.value}".`,
  'current-folder-lost': () =>
    'the current folder was removed, or its name is not UTF-8: change to another folder, or give --root with an absolute path.',
  'root-missing': (a) => `${a.path} (from ${a.from}) is not a folder: give an existing one.`,
  'root-none': (a) =>
    `no specs/ folder in ${a.start} or above it: change to the project's folder, or give --root (\`postflight create\` makes the first specs/).`,
  'root-unlikely': (a) =>
    `${a.start} does not look like a project: change to the project's folder, or give --root ${a.start} to use it anyway.`,
  'marker-none': (a) =>
    a.folder === SPECS_FOLDER
      ? `no marker in ${SPECS_FOLDER}/ itself, and new ones are made only in task folders: give a <task>.`
      : `no marker in ${a.folder}: \`postflight create\` makes one.`,
  'bypass-no-room': (a) =>
    `cannot write in ${a.path} (${a.detail}): the disk is full. Stops cannot be counted there, so none is blocked anyway; \`${a.clear}\` removes the marker.`,
  'bypass-none': (a) => `nothing to bypass: no marker in ${a.folder}.`,
  'marker-of-other-session': (a) =>
    `${a.path} is ${a.whose}: finish or clear it there, take it over with \`${markerCommand('adopt', a.task)}\`, or replace it with \`create --force\`.`,
  'marker-of-other-agent': (a) =>
    `${a.path} is pending for ${a.agent === 'main' ? 'the main conversation' : `sub-agent ${a.agent}`}${a.operation === undefined ? '' : ` (${a.operation})`}: finish and clear it first. If it is yours, add \`--agent ${a.agent}\`; to replace it anyway, add \`--force\`.`,
  'wait-refused': (a) => `${a.path} ${WAIT_REFUSALS[a.why](a.task)}`,
  'checks-refused': (a) => `${a.path} ${CHECK_REFUSALS[a.refusal](a)}`,
  'commands-untrusted': (a) =>
    `the workflow of task ${a.task} runs commands (${a.commands}) that you have not started on this machine: they may have come with the repository. Read them, then run \`${workflowCommand('resume', a.task)} --trust\`.`,
  'check-files': (a) =>
    `check.files names more than ${a.limit} files, or takes more than ${a.seconds} s to search: use narrower patterns.`,
  'check-patterns': (a) =>
    `check.files of phase "${a.phase}" has a pattern that is not allowed, as \`postflight workflow validate\` says of its definition: correct it, then \`${workflowCommand('start', a.task)} --definition FILE --fresh\`.`,
  'check-none': (a) => `no check to run: phase "${a.phase}" of task ${a.task} has no check.run.`,
  'shell-missing': (a) =>
    `checks need a POSIX shell, and \`sh\` could not be started (${a.detail}): put it on the PATH (Git for Windows brings one).`,
  'marker-unreadable': (a) => `${a.path} cannot be read (${a.detail}): fix or remove it by hand.`,
  'marker-unparsed': (a) =>
    `${a.path} ${a.detail}: fix it by hand, or replace it with \`create --force\` (its text is kept).`,
  'marker-vanished': (a) => `${a.path} is gone, so nothing was changed.`,
  'marker-too-large': (a) =>
    `the marker would be larger than ${a.limit} bytes, the maximum: shorten its reason or its steps.`,
  locked: (a) => `${a.path} is being changed by another process: try again. If no such process runs, remove ${a.lock}.`,
  'step-unknown': (a) => `no step "${a.step}" in ${a.path}. Its steps: ${a.steps}.`,
  'steps-none': (a) => `${a.path} has no checklist: \`postflight create --step NAME\` adds one.`,
  'session-unknown': () =>
    "unknown host session: run this in the agent's shell, or give --host-session (or set POSTFLIGHT_HOST_SESSION).",
  'payload-not-json': (a) => `the payload is not JSON (${a.detail}).`,
  'payload-not-object': () => 'the payload is JSON, but not an object.',
  'file-unreadable': (a) =>
    a.detail === 'ENOENT'
      ? `${a.path} does not exist: check the path.`
      : `${a.path} cannot be read (${a.detail}): fix or replace it by hand.`,
  'settings-not-json': (a) => `${a.path}:${a.line}:${a.column}: invalid JSON (${jsonFaultWords(a.fault)}).`,
  'settings-too-deep': (a) => `${a.path}: its JSON is nested more than ${a.limit} levels deep.`,
  'settings-wrong-shape': (a) =>
    `${a.path}: ${a.property === undefined ? 'the whole file' : `"${a.property}"`} must ${SETTINGS_SHAPES[a.expected]}.`,
  'already-wired': (a) =>
    `${WIRED[a.wiredBy](a.where)}: each stop would then count twice. Remove that one with \`${a.command}\`, or use --force. Nothing was written.`,
  'rules-invalid': (a) => `${a.path}${a.place}: ${a.detail}. Nothing was written.`,
  'rules-not-of-host': (a) =>
    `--reactive is for Claude Code, not for --host ${a.host}. OpenCode's plugin takes the rules as its option "reactive". Nothing was written.`,
  'needs-answer': () =>
    'init asks before it writes, and this is not a terminal: give --yes, or --dry-run to see what it would write.',
  'definition-missing': (a) =>
    `${a.path} does not exist: check the path${a.examples === '' ? '' : `, or name one of the shipped examples: ${a.examples}`}.`,
  'workflow-definition': (a) =>
    `${a.path}${a.place}: ${a.detail}${a.more === 0 ? '.' : ` (and ${a.more} more: \`postflight workflow validate\` lists them).`}`,
  'done-invalid': (a) =>
    `${a.path}${a.place}: ${a.detail}${a.more === 0 ? '.' : ` (and ${counted(a.more, 'more fault')}).`}`,
  'done-none': (a) => `${a.path} does not exist: write it first (docs/done.md shows how).`,
  'done-untrusted': (a) =>
    `${a.path} is not trusted on this machine: read it, then run \`${a.trust}\` in your own terminal.`,
  'done-running': (a) => `the checks have been running since ${a.since}: wait for them to end.`,
  'trust-agent': () => 'only a person may trust: run this in your own terminal.',
  'trust-needs-answer': () => 'this is not a terminal: read the file, then give --yes.',
  'workflow-input': (a) => {
    const inputs = a.known === '' ? 'it has none' : `its inputs are ${a.known}`
    if (a.problem === 'missing') return `the workflow needs a value for its input "${a.name}": --set '${a.name}=VALUE'.`
    return a.problem === 'unknown'
      ? `the workflow has no input "${a.name}": ${inputs}.`
      : `the value of the input "${a.name}" is too long: at most ${MAX_INPUT_LENGTH} characters are allowed.`
  },
  'workflow-none': (a) =>
    `task ${a.task} has no workflow: \`postflight workflow start <task> --definition <file>\` starts one.`,
  'workflow-there': (a) =>
    a.outcome === 'running'
      ? `task ${a.task} is already running the workflow "${a.name}": \`${workflowCommand('status', a.task)}\` shows it. Start another one after it has ended.`
      : `task ${a.task} already has the workflow "${a.name}" (${a.outcome}): ${a.resumable ? `\`${workflowCommand('resume', a.task)}\` continues it, ` : ''}\`${workflowCommand('start', a.task)} --definition FILE --fresh\` sets it aside and starts a new run.`,
  'approval-none': (a) =>
    `the workflow of task ${a.task} is not waiting for approval: it is in phase "${a.phase}" (\`${workflowCommand('status', a.task)}\` shows it).`,
  'approval-agent': (a) =>
    `only a person may approve or reject: run this for task ${a.task} in your own terminal, not in an agent's shell.`,
  'approval-artifact': (a) =>
    `the result that you would approve has become invalid (${a.detail}): \`${workflowCommand('reject', a.task)} --reason TEXT\` asks for another one.`,
  'phase-not-entered': (a) =>
    `the workflow of task ${a.task} has not reached phase "${a.phase}" yet: --from takes a phase that was entered before (${a.known}).`,
  'phase-approval': (a) =>
    `the workflow of task ${a.task} cannot pass over phase "${a.phase}": a person must approve its result first.`,
  'phase-unknown': (a) => `the workflow of task ${a.task} has no phase "${a.phase}": its phases are ${a.known}.`,
  'run-step': (a) =>
    `step ${a.step} of task ${a.task} ${STEP_REFUSALS[a.standing](a)} (\`${workflowCommand('status', a.task)}\` shows the run).`,
  'workflow-over': (a) =>
    `the workflow of task ${a.task} has ended (${a.outcome}): \`${workflowCommand('start', a.task)} --definition FILE --fresh\` starts a new run.`,
  'workflow-state': (a) =>
    `${a.path} ${STATE_PROBLEMS[a.problem](a.detail)}, so it was left unchanged. Fix it, or move it away and start again (existing artifacts count as done).`,
  'host-unknown': (a) => `unknown host "${a.host}": use one of ${a.known}.`,
  'scope-unknown': (a) => `unknown scope "${a.scope}": use user, project or local.`,
  'scope-not-of-host': (a) => `${a.host} has no settings for the scope "${a.scope}": use user or project.`,
  'home-unknown': () =>
    'the home folder of this user is unknown: set HOME to the full path of a folder, because the user database has no entry.',
  'not-a-folder': (a) => `${inPlaceOfFolder(a.path, a.kind)}: remove or rename it. Nothing was written there.`,
  'cannot-write': (a) =>
    IN_THE_WAY.includes(a.detail)
      ? `cannot write ${a.path} (${a.detail}): a folder is needed there, but something else has its name: move or rename that.`
      : `cannot write ${a.path} (${a.detail}): ${a.detail === 'ENOENT' ? 'its folder does not exist' : 'check its permissions and the free space'}.`,
  'init-unfinished': (a) =>
    `${a.fault} Already written: ${a.written}. Mend that, and run the same command again: it writes what is missing.`,
  'output-unwritable': (a) =>
    `the output could not be written (${a.detail}): the command ran, but its result was not printed.`,
  internal: (a) => `internal error (${a.detail}). Please report it, with the command that you ran.`,
}

/** The end of a message from a command that writes files. Commands that only read leave it out. */
const NOTHING_WRITTEN = ' Nothing was written: fix the file, then try again.'

/** The message of an error: what is wrong, and what to do about it. */
export function errorMessage<Code extends ErrorCode>(code: Code, args: ErrorArguments[Code]): string {
  return `${errorFault(code, args)}${code.startsWith('settings-') ? NOTHING_WRITTEN : ''}`
}

/** The same message for a command that only reads: it does not say that nothing was written. */
export function errorFault<Code extends ErrorCode>(code: Code, args: ErrorArguments[Code]): string {
  return ERROR_SENTENCES[code](cleaned(args))
}

/** The same arguments with every text cleaned and cut, so that a hostile one cannot control the terminal. */
function cleaned<Arguments extends object>(args: Arguments): Arguments {
  const clean = (value: unknown): unknown => (typeof value === 'string' ? oneLine(value, QUOTE_LIMIT * 5) : value)
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, clean(value)])) as Arguments
}

/** The sentence that tells of an error. */
export function messageOf(error: unknown): string {
  const { code, args } = asPostflightError(error)
  return errorMessage(code, args)
}

/** Any error as a PostflightError: a file-system error names its file, everything else is an internal error. */
export function asPostflightError(error: unknown): PostflightError {
  if (error instanceof PostflightError) return error
  const { code, path, message } = error as NodeJS.ErrnoException
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) {
    return new PostflightError('cannot-write', { path: path ?? UNNAMED_FILE, detail: code }, error)
  }
  return new PostflightError('internal', { detail: message ?? String(error) }, error)
}

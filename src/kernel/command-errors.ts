import { commandLine, resumeSharedLine } from './command-line.ts'
import { HOOK_SENTENCES, inPlaceOfFolder } from './error-messages.ts'
import { JOURNAL_PATH, type PathKind, SPECS_FOLDER } from './files.ts'
import { counted, jsonFaultWords, oneLine, shellWord } from './text.ts'
import { MAX_CHECKS, MAX_INPUT_LENGTH, WAIT_LIMIT } from './values.ts'

/** The errors by exit code (docs/design.md, "Commands"). */

export const EXIT = { done: 0, no: 1, usage: 64, data: 65, internal: 70, write: 73 } as const

const NAME_QUOTE_LIMIT = 40

const LISTS = {
  marker: (root?: string) => `\`${commandLine(['inspect'], root)}\` lists the tasks that have a marker`,
  workflow: (root?: string) => `\`${commandLine(['workflow', 'status'], root)}\` lists the tasks that have a workflow`,
  story: (root?: string) => `\`${commandLine(['report'], root)}\` shows all tasks, also removed ones`,
}

const SETTINGS_SHAPES = {
  object: 'be an object',
  list: 'be a list',
  boolean: 'be true or false',
  unique: 'occur only once',
}

const WAIT_REFUSALS = {
  unowned: (task: string, root?: string) =>
    `has no host session, so it does not block the main conversation: \`${markerCommand('adopt', task, root)}\` binds it to your session.`,
  'other-session': (task: string, root?: string) =>
    `belongs to another host session, and only that session can wait: \`${markerCommand('adopt', task, root)}\` takes it over.`,
  'by-sub-agent': () =>
    'cannot wait here: a sub-agent ends when it stops. Finish the postflight, or report what is missing.',
  'sub-agent': () => 'is for a sub-agent, which cannot wait: finish its postflight, or report what is missing.',
  limit: (task: string, root?: string) =>
    `has waited at ${WAIT_LIMIT} prompts, the limit: finish its postflight, or \`${markerCommand('clear', task, root)}\`.`,
  'run-of-other-session': (task: string, root?: string) =>
    `belongs to a workflow that this session does not drive: \`${workflowCommand('resume', task, root)}\` takes it over.`,
  'run-by-sub-agent': () =>
    'belongs to a workflow, where only the main conversation can wait: write your result, or report what is missing.',
  'run-limit': () => `has waited at ${WAIT_LIMIT} prompts in this phase, the limit: do what its prompt says.`,
}

const WIRED = {
  settings: (where: string) => `the hook is already in ${where}, with another command`,
  'same-command': (where: string) => `the hook is already in ${where}, and some hosts would run it twice`,
  scope: (where: string) => `the hook is already in ${where}`,
  plugin: (where: string) => `the plugin ${where} already brings the hook`,
}

type RefusedChecks = Readonly<{ path: string; commands: string; since?: string | undefined; unchecked?: boolean }>

const CHECK_REFUSALS = {
  'other-session': ({ commands, unchecked }: RefusedChecks) =>
    `has checks of another session (${commands}), which must succeed first: \`--run-checks\` runs them here.${unchecked ? UNCHECKED_ADVICE : ''}`,
  unowned: ({ commands, unchecked }: RefusedChecks) =>
    `has checks (${commands}) but no host session, so they are never run: create it again with \`create --force\`, in an agent's shell or with POSTFLIGHT_HOST_SESSION set for both commands.${unchecked ? UNCHECKED_ADVICE : ''}`,
  running: ({ commands, since }: RefusedChecks) =>
    `has checks running since ${since} (${commands}): wait, then try again.`,
  replaced: () => 'was replaced while its checks ran, so the new marker stays.',
  unreadable: ({ unchecked }: RefusedChecks) =>
    `has a field "checks" that cannot be read (it takes a list of at most ${MAX_CHECKS} objects {"run": "COMMAND"}), so nothing can be proven: correct it.${unchecked ? UNCHECKED_ADVICE : ''}`,
  done: ({ commands, unchecked }: RefusedChecks) =>
    `holds checks of specs/done.yaml (${commands}), which \`postflight done\` runs.${unchecked ? UNCHECKED_ADVICE : ''}`,
  removed: ({ path, commands, unchecked }: RefusedChecks) =>
    `was removed by hand, and its checks (${commands}) have not passed since${path.startsWith(`${JOURNAL_PATH}/`) ? '' : ': create it again with them and clear it'}. ${unchecked ? '`--unchecked` settles it.' : 'The user can clear it in a terminal.'}`,
}

type RefusedStep = Readonly<{ phase: string; count: number }>

const STEP_REFUSALS = {
  'no-steps': ({ phase }: RefusedStep) => `cannot be changed: phase "${phase}" is not working on steps now`,
  unknown: ({ phase, count }: RefusedStep) => `does not exist: phase "${phase}" has ${counted(count, 'step')}`,
  done: () => 'is done',
  'not-ended': () => 'still has attempts left',
  'too-many': ({ phase }: RefusedStep) =>
    `cannot be skipped: phase "${phase}" may not skip all its steps, or more than max_skips`,
}

const UNCHECKED_ADVICE = ' `--unchecked` skips them and keeps the marker as abandoned.'

const workflowCommand = (command: string, task: string, root?: string) => commandLine(['workflow', command, task], root)
const markerCommand = (command: string, task: string, root?: string): string => commandLine([command, task], root)

type Sentences = Readonly<Record<string, (args: never, root?: string) => string>>

const USAGE = {
  usage: (a: { detail: string }) => a.detail,
  'task-invalid': (a: { task: string; longest?: number; largest?: number; slug?: string }) => {
    if (a.largest !== undefined) {
      return `the task number ${oneLine(a.task, NAME_QUOTE_LIMIT)} is too large: the maximum is ${a.largest}.`
    }
    if (a.longest !== undefined) {
      return `the task "${oneLine(a.task, NAME_QUOTE_LIMIT)}" is too long: the maximum is ${a.longest} characters.`
    }
    if (a.slug !== undefined) {
      return `the task "${a.task}" already contains a slug: omit "${oneLine(a.slug, NAME_QUOTE_LIMIT)}", or give the number alone.`
    }
    return `invalid task "${a.task}": use its number (259) or its folder's name (259_prove_completeness), without "/", ".." or a leading "-".`
  },
  'slug-invalid': (a: { slug: string; longest?: number }) =>
    a.longest !== undefined
      ? `the slug "${oneLine(a.slug, NAME_QUOTE_LIMIT)}" is too long: the maximum is ${a.longest} characters.`
      : `invalid slug "${a.slug}": use only letters, digits, "_", "-" and "."; it must not contain "..", begin with "-" or ".", or end with ".".`,
  'slug-missing': (a: { task: string; specs: string; command: string }) =>
    `task ${a.task} has no folder in ${a.specs} yet: give a slug after the number, to name the folder: \`${a.command}\`.`,
  'task-ambiguous': (a: { task: string; folders: string }) =>
    `task ${a.task} has several folders (${a.folders}): use one of these names.`,
  'target-missing': (a: { options: string }) => `no target: give one of <task>, ${a.options}.`,
  'target-twice': (a: { options: string }) => `too many targets: give only one of <task>, ${a.options}.`,
  'value-invalid': (a: { option: string; expected: string; value: string }) =>
    `${a.option} ${a.expected}, not "${a.value}".`,
  'root-missing': (a: { path: string; from: string }) =>
    `${a.path} (from ${a.from}) is not a folder: give an existing one.`,
  'root-unlikely': (a: { start: string }) =>
    `${a.start} does not look like a project: change to the project's folder, or give --root ${a.start} to use it anyway.`,
  'step-unknown': (a: { step: string; path: string; steps: string }) =>
    `no step "${a.step}" in ${a.path}. Its steps: ${a.steps}.`,
  'session-unknown': () =>
    "unknown host session: run this in the agent's shell, or give --host-session (or set POSTFLIGHT_HOST_SESSION).",
  'rules-not-of-host': (a: { host: string }) =>
    `--reactive is for Claude Code, not for --host ${a.host}. OpenCode's plugin takes the rules as its option "reactive". Nothing was written.`,
  'needs-answer': () =>
    'init asks before it writes, and this is not a terminal: give --yes, or --dry-run to see what it would write.',
  'trust-needs-answer': () =>
    'this is not a terminal: read the file (if it is gone, make sure that you removed it yourself), then give --yes.',
  'workflow-input': (a: { problem: 'unknown' | 'missing' | 'too-long'; name: string; known: string }) => {
    if (a.problem === 'missing') return `the workflow needs a value for its input "${a.name}": --set '${a.name}=VALUE'.`
    if (a.problem !== 'unknown') {
      return `the value of the input "${a.name}" is too long: at most ${MAX_INPUT_LENGTH} characters are allowed.`
    }
    if (a.known === '') return `the workflow takes no inputs: leave out "${a.name}".`
    return `the workflow has no input "${a.name}": its inputs are ${a.known}.`
  },
  'phase-not-entered': (a: { task: string; phase: string; known: string }) =>
    `the workflow of task ${a.task} has not reached phase "${a.phase}" yet: --from takes a phase that was entered before (${a.known}).`,
  'phase-unknown': (a: { task: string; phase: string; known: string }) =>
    `the workflow of task ${a.task} has no phase "${a.phase}": its phases are ${a.known}.`,
  'shared-run-id': (a: { run: string }, root) =>
    `"${a.run}" is not the id of a run: \`${commandLine(['status'], root)} --shared\` prints the ids.`,
  'shared-elsewhere': (a: { task: string; remote: string }, root) =>
    `the run of task ${a.task} is shared with "${a.remote}": release it there first (\`${workflowCommand('release', a.task, root)}\`).`,
  'shared-ambiguous': (a: { task: string; runs: string }) =>
    `task ${a.task} has several shared runs: name one by its id (${a.runs}).`,
  'shared-alone': (a: { option: string }) =>
    `${a.option} does not go with --shared, which shows the runs in a remote: leave one of them out.`,
  'take-alone': () => '--take needs --shared: a run is taken from a remote.',
  'remote-unknown': (a: { remote: string }) =>
    `"${a.remote}" is not a configured remote: name one that \`git remote\` lists (a URL is not accepted).`,
  'host-unknown': (a: { host: string; known: string }) => `unknown host "${a.host}": use one of ${a.known}.`,
  'scope-unknown': (a: { scope: string }) => `unknown scope "${a.scope}": use user, project or local.`,
  'scope-not-here': (a: { host: string; folder: string; path: string }) =>
    `in a linked worktree, ${a.host} reads the hooks of the main checkout ${a.path}, and only if the worktree has a folder ${a.folder} too: run this there, or add --scope user.`,
  'scope-not-of-host': (a: { scope: string; host: string }) =>
    `${a.host} has no settings for the scope "${a.scope}": use user or project.`,
} satisfies Sentences

const NO = {
  'task-unknown': (a: { task: string; specs: string; wanted: keyof typeof LISTS }, root) =>
    `task ${a.task} has no folder in ${a.specs}: ${LISTS[a.wanted](root)}.`,
  'task-has-other-folder': (a: { task: string; folder: string }) =>
    `task ${a.task} already has the folder ${a.folder}: omit the slug, or use another number.`,
  'root-none': (a: { start: string; kind?: PathKind | undefined }) =>
    a.kind === undefined
      ? `no specs/ folder in ${a.start} or above it: change to the project's folder, or give --root (\`postflight create\` makes the first specs/).`
      : `${inPlaceOfFolder(`${a.start}/${SPECS_FOLDER}`, a.kind)}: remove or rename it.`,
  'adopt-done': (a: { folder: string }) =>
    `${a.folder} belongs to its own session: \`postflight done\` runs the checks of specs/done.yaml for yours.`,
  'bypass-none': (a: { folder: string }) => `nothing to bypass: no marker in ${a.folder}.`,
  'marker-of-other-session': (a: { path: string; whose: string; task: string }, root) =>
    `${a.path} is ${a.whose}: finish or clear it first, take it over with \`${markerCommand('adopt', a.task, root)}\`, or replace it with \`create --force\`.`,
  'marker-of-other-agent': (a: { path: string; agent: string; operation: string | undefined }) =>
    `${a.path} is pending for ${a.agent === 'main' ? 'the main conversation' : `sub-agent ${a.agent}`}${a.operation === undefined ? '' : ` (${a.operation})`}: finish and clear it first. If it is yours, add \`--agent ${shellWord(a.agent)}\`; to replace it anyway, add \`--force\`.`,
  'wait-refused': (a: { path: string; task: string; why: keyof typeof WAIT_REFUSALS }, root) =>
    `${a.path} ${WAIT_REFUSALS[a.why](a.task, root)}`,
  'checks-refused': (a: RefusedChecks & { refusal: keyof typeof CHECK_REFUSALS }) =>
    `${a.path} ${CHECK_REFUSALS[a.refusal](a)}`,
  'commands-untrusted': (a: { task: string; commands: string; from?: string; prompts?: string }, root) =>
    `${a.from === undefined ? `the workflow of task ${a.task}` : `the shared run ${a.task}`} runs commands (${a.commands}) that you have not started on this machine: they may have come with the repository.${a.prompts === undefined ? '' : ` Its prompts are not those of this checkout either (\`git show ${a.prompts.slice(0, 12)}:state.json\`).`} Read them, then run \`${workflowCommand('resume', a.task, root)}${a.from === undefined ? '' : ` --shared ${a.from}`} --trust\`.`,
  'check-none': (a: { task: string; phase: string }) =>
    `no check to run: phase "${a.phase}" of task ${a.task} has no check.run.`,
  'shell-missing': (a: { detail: string }) =>
    `checks need a POSIX shell, and \`sh\` could not be started (${a.detail}): ${/^E(?:AGAIN|MFILE|NFILE|NOMEM)$/.test(a.detail) ? 'try again when fewer programs run, or with a higher limit of processes and open files' : 'put it on the PATH (Git for Windows brings one)'}.`,
  'steps-none': (a: { path: string }) => `${a.path} has no checklist: \`postflight create --step NAME\` adds one.`,
  'already-wired': (a: { where: string; wiredBy: keyof typeof WIRED; command: string | undefined }) =>
    `${WIRED[a.wiredBy](a.where)}: each stop would then count twice. ${a.command === undefined ? 'Keep that one' : `Remove that one with \`${a.command}\``}, or use --force. Nothing was written.`,
  'done-none': (a: { path: string }) =>
    `${a.path} does not exist: write it first, for example \`done: [{ when: "src/**", check: npm test }]\` (\`postflight init\` proposes rules for your project).`,
  'done-untrusted': (a: { path: string; trust: string }) =>
    `${a.path} is not trusted on this machine: read it, then run \`${a.trust}\` in your own terminal.`,
  'done-running': (a: { since: string }) => `the checks have been running since ${a.since}: wait for them to end.`,
  'trust-agent': () => 'only a person may trust: run this in your own terminal.',
  'workflow-there': (a: { task: string; name: string; outcome: string; resumable: boolean }, root) =>
    a.outcome === 'running'
      ? `task ${a.task} is already running the workflow "${a.name}": \`${workflowCommand('status', a.task, root)}\` shows it. Start another one after it has ended.`
      : `task ${a.task} already has the workflow "${a.name}" (${a.outcome}): ${a.resumable ? `\`${workflowCommand('resume', a.task, root)}\` continues it, ` : ''}\`${workflowCommand('start', a.task, root)} --definition FILE --fresh\` sets it aside and starts a new run.`,
  'approval-none': (a: { task: string; phase: string }, root) =>
    `the workflow of task ${a.task} is not waiting for approval: it is in phase "${a.phase}" (\`${workflowCommand('status', a.task, root)}\` shows it).`,
  'approval-agent': (a: { task: string }) =>
    `only a person may approve or reject: run this for task ${a.task} in your own terminal, not in an agent's shell.`,
  'approval-artifact': (a: { task: string; detail: string }, root) =>
    `the result cannot be approved, because it is not valid any more (${a.detail}): to have the agent do it again, run \`${workflowCommand('reject', a.task, root)} --reason TEXT\`.`,
  'phase-approval': (a: { task: string; phase: string }) =>
    `the workflow of task ${a.task} cannot pass over phase "${a.phase}": a person must approve its result first.`,
  'run-step': (a: RefusedStep & { task: string; step: string; status: keyof typeof STEP_REFUSALS }, root) =>
    `step ${a.step} of task ${a.task} ${STEP_REFUSALS[a.status](a)} (\`${workflowCommand('status', a.task, root)}\` shows the run).`,
  'workflow-over': (a: { task: string; outcome: string; resumable?: boolean }, root) =>
    `the workflow of task ${a.task} has ended (${a.outcome}): ${a.resumable ? `\`${workflowCommand('resume', a.task, root)}\` continues it` : `\`${workflowCommand('start', a.task, root)} --definition FILE --fresh\` starts a new run`}.`,
  'shared-differs': (a: { folder: string; files: string }) =>
    `these files in ${a.folder} differ from those of the shared run, and would be overwritten: ${a.files}. Move them away, then try again.`,
  'shared-none': (a: { remote: string; task: string }, root) =>
    `"${a.remote}" has no shared run of task ${a.task}: \`${commandLine(['status'], root)} --shared ${shellWord(a.remote)}\` lists its runs.`,
  'shared-held': (
    a: { run: string; remote: string; machine: string; session: string | undefined; age: string },
    root,
  ) =>
    a.machine === ''
      ? `${a.run} was changed by another machine or command at the same moment: try again.`
      : `${a.run} is held by ${a.machine}${a.session === undefined ? '' : ` (session ${a.session})`} for ${a.age}: run \`postflight workflow release TASK\` there. To take it anyway, and end it there: \`${resumeSharedLine(a.run, a.remote, root)} --take\`.`,
  'workflow-in-way': (a: { task: string; name: string; run: string }, root) =>
    `task ${a.task} has another run of "${a.name}", which has not ended: end it with \`${workflowCommand('abort', a.task, root)}\`, then fetch ${a.run} again.`,
  'not-shared': (a: { task: string }, root) =>
    `the run of task ${a.task} is not shared: \`${workflowCommand('share', a.task, root)}\` publishes it to a remote.`,
  /** `advice`: empty, or a colon and what helps the run that is in the folder now. */
  'not-published': (a: { task: string; remote: string; detail: string; advice: string }, root) =>
    `the run of task ${a.task} was not published to "${a.remote}": ${a.detail}${a.advice}. It goes on here; \`${workflowCommand('publish', a.task, root)}\` tries again.`,
  'not-taken': (a: { run: string; remote: string; detail: string; claim: 'refused' | 'unanswered' | 'unplaced' }) =>
    ({
      refused: `${a.run} was not taken over from "${a.remote}": ${a.detail}.`,
      unanswered: `it is not known whether ${a.run} was taken over from "${a.remote}" (${a.detail}): run the same command again.`,
      unplaced: `${a.run} was taken over from "${a.remote}", but its files could not be written here (${a.detail}): fix that, then run the same command again. Until then, no machine continues it.`,
    })[a.claim],
  'take-agent': (a: { run: string }) =>
    `only a person may take ${a.run} from the machine that holds it: run this in your own terminal, not in an agent's shell.`,
  'prompts-untrusted': (a: { run: string; remote: string; commit: string }) =>
    `${a.run} has prompts that are not those of this checkout: they may come from anyone who can push to "${a.remote}". Read them (\`git show ${a.commit.slice(0, 12)}:state.json\`), then add --trust.`,
  'workflow-moved': (a: { task: string; run: string; remote: string; why: string }, root) =>
    `the run of task ${a.task} has ended here: ${a.why}. \`${resumeSharedLine(a.run, a.remote, root)}\` continues it here, unless another machine holds it.`,
  'git-failed': (a: { command: string; detail: string }) =>
    `\`git ${a.command}\` failed: ${a.detail} (shared runs need git, and a repository).`,
  'remote-unreachable': (a: { remote: string; detail: string }) =>
    `the remote "${a.remote}" cannot be read: ${a.detail}.`,
} satisfies Sentences

const DATA = {
  'current-folder-lost': () =>
    'the current folder was removed, or its name is not UTF-8: change to another folder, or give --root with an absolute path.',
  'check-files': (a: { limit: number; seconds: number }) =>
    `check.files names more than ${a.limit} files, or takes more than ${a.seconds} s to search: use narrower patterns.`,
  'check-patterns': (a: { task: string; phase: string }, root) =>
    `check.files of phase "${a.phase}" has a pattern that is not allowed (\`postflight workflow validate\` names it): correct it, then \`${workflowCommand('start', a.task, root)} --definition FILE --fresh\`.`,
  'settings-not-json': (a: { path: string; line: number; column: number; fault: string }) =>
    `${a.path}:${a.line}:${a.column}: invalid JSON (${jsonFaultWords(a.fault)}).`,
  'settings-too-deep': (a: { path: string; limit: number }) =>
    `${a.path}: its JSON is nested more than ${a.limit} levels deep.`,
  'settings-wrong-shape': (a: { path: string; property: string | undefined; expected: keyof typeof SETTINGS_SHAPES }) =>
    `${a.path}: ${a.property === undefined ? 'the whole file' : `"${a.property}"`} must ${SETTINGS_SHAPES[a.expected]}.`,
  'rules-invalid': (a: { path: string; location: string; detail: string }) =>
    `${a.path}${a.location}: ${a.detail}. Nothing was written.`,
  'definition-missing': (a: { path: string; examples: string }) =>
    `${a.path} does not exist: check the path${a.examples === '' ? '' : `, or name one of the shipped examples: ${a.examples}`}.`,
  'workflow-definition': (a: { path: string; location: string; detail: string; more: number }) =>
    `${a.path}${a.location}: ${a.detail}${a.more === 0 ? '.' : ` (and ${a.more} more: \`postflight workflow validate ${shellWord(a.path)}\` lists them).`}`,
  'done-invalid': (a: { path: string; location: string; detail: string; more: number }) =>
    `${a.path}${a.location}: ${a.detail}${a.more === 0 ? '.' : ` (and ${counted(a.more, 'more fault')}).`}`,
  'shared-tree': (a: { detail: string }) => `the shared run was refused: ${a.detail}.`,
  'shared-many': (a: { remote: string; limit: number }) =>
    `"${a.remote}" has more than ${a.limit} shared runs: name one by its id, or remove finished ones (\`git push ${shellWord(a.remote)} --delete refs/postflight/ID\`).`,
  'share-unreadable': (a: { path: string }) =>
    `${a.path}, which says where the run is shared, is not valid: fix it. To stop sharing the run, remove the file.`,
  'shared-too-large': (a: { files: number; megabytes: number }) =>
    `the run has more than ${a.files} files, or more than ${a.megabytes} MB, its state included: make its artifacts smaller. Nothing was published.`,
} satisfies Sentences

const WRITE = {
  'bypass-no-room': (a: { path: string; detail: string; clear: string }) =>
    `cannot write in ${a.path} (${a.detail}): the disk is full. Stops cannot be counted there, so none is blocked anyway; \`${a.clear}\` removes the marker.`,
  'init-unfinished': (a: { written: string; fault: string }) =>
    `${a.fault} Already written: ${a.written}. Fix that, and run the same command again: it writes what is missing.`,
  'file-changed': (a: { path: string }) =>
    `${a.path} was changed by another program meanwhile, so it was left as it is: run the command again.`,
  'output-unwritable': (a: { detail: string }) =>
    `the output could not be written (${a.detail}): the command ran, but its result was not printed.`,
} satisfies Sentences

export const COMMAND_SENTENCES = { ...USAGE, ...NO, ...DATA, ...WRITE }

const SENTENCES = { ...HOOK_SENTENCES, ...COMMAND_SENTENCES }
export const ERROR_CODES = Object.keys(SENTENCES) as (keyof typeof SENTENCES)[]

const codes = (sentences: object, ...ofHook: (keyof typeof HOOK_SENTENCES)[]) => [...Object.keys(sentences), ...ofHook]

/** The other errors are about data. */
const CODES: Readonly<Record<number, readonly string[]>> = {
  [EXIT.usage]: codes(USAGE, 'home-unknown'),
  [EXIT.no]: codes(NO, 'marker-none', 'marker-vanished', 'workflow-none'),
  [EXIT.internal]: codes({}, 'internal'),
  [EXIT.write]: codes(WRITE, 'locked', 'not-a-folder', 'cannot-write'),
}

export function exitCodeOf(code: string): number {
  const [exit] = Object.entries(CODES).find(([, listed]) => listed.includes(code)) ?? []
  return Number(exit ?? EXIT.data)
}

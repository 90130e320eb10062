import { commandLine, resumeSharedLine } from './command-line.ts'
import type { HOOK_SENTENCES, Sentences } from './error-messages.ts'
import { type ErrorArguments, MAX_CHECKS, MAX_INPUT_LENGTH, WAIT_LIMIT } from './errors.ts'
import { JOURNAL_PATH } from './files.ts'
import { counted, jsonFaultWords, oneLine, shellWord } from './text.ts'

const NAME_QUOTE_LIMIT = 40

const LISTS: Record<ErrorArguments['task-unknown']['wanted'], (root?: string) => string> = {
  marker: (root) => `\`${commandLine(['inspect'], root)}\` lists the tasks that have a marker`,
  workflow: (root) => `\`${commandLine(['workflow', 'status'], root)}\` lists the tasks that have a workflow`,
  story: (root) => `\`${commandLine(['report'], root)}\` shows all tasks, also removed ones`,
}

const SETTINGS_SHAPES: Record<ErrorArguments['settings-wrong-shape']['expected'], string> = {
  object: 'be an object',
  list: 'be a list',
  unique: 'occur only once',
}

const WAIT_REFUSALS: Record<ErrorArguments['wait-refused']['why'], (task: string, root?: string) => string> = {
  unowned: (task, root) =>
    `has no host session, so it does not block the main conversation: \`${markerCommand('adopt', task, root)}\` binds it to your session.`,
  'other-session': (task, root) =>
    `belongs to another host session, and only that session can wait: \`${markerCommand('adopt', task, root)}\` takes it over.`,
  'by-sub-agent': () =>
    'cannot wait here: a sub-agent ends when it stops. Finish the postflight, or report what is missing.',
  'sub-agent': () => 'is for a sub-agent, which cannot wait: finish its postflight, or report what is missing.',
  limit: (task, root) =>
    `has waited at ${WAIT_LIMIT} prompts, the limit: finish its postflight, or \`${markerCommand('clear', task, root)}\`.`,
  'run-of-other-session': (task, root) =>
    `belongs to a workflow that this session does not drive: \`${workflowCommand('resume', task, root)}\` takes it over.`,
  'run-by-sub-agent': () =>
    'belongs to a workflow, where only the main conversation can wait: write your result, or report what is missing.',
  'run-limit': () => `has waited at ${WAIT_LIMIT} prompts in this phase, the limit: do what its prompt says.`,
}

const WIRED: Record<ErrorArguments['already-wired']['wiredBy'], (where: string) => string> = {
  settings: (where) => `the hook is already in ${where}, with another command`,
  'same-command': (where) => `the hook is already in ${where}, and some hosts would run it twice`,
  scope: (where) => `the hook is already in ${where}`,
  plugin: (where) => `the plugin ${where} already brings the hook`,
}

const CHECK_REFUSALS: Record<
  ErrorArguments['checks-refused']['refusal'],
  (args: ErrorArguments['checks-refused']) => string
> = {
  'other-session': ({ commands, unchecked }) =>
    `has checks of another session (${commands}), which must succeed first: \`--run-checks\` runs them here.${unchecked ? UNCHECKED_ADVICE : ''}`,
  unowned: ({ commands, unchecked }) =>
    `has checks (${commands}) but no host session, so they are never run: create it again with \`create --force\`, in an agent's shell or with POSTFLIGHT_HOST_SESSION set for both commands.${unchecked ? UNCHECKED_ADVICE : ''}`,
  running: ({ commands, since }) => `has checks running since ${since} (${commands}): wait, then try again.`,
  replaced: () => 'was replaced while its checks ran, so the new marker stays.',
  unreadable: ({ unchecked }) =>
    `has a field "checks" that cannot be read (it takes a list of at most ${MAX_CHECKS} objects {"run": "COMMAND"}), so nothing can be proven: correct it.${unchecked ? UNCHECKED_ADVICE : ''}`,
  done: ({ commands, unchecked }) =>
    `holds checks of specs/done.yaml (${commands}), which \`postflight done\` runs.${unchecked ? UNCHECKED_ADVICE : ''}`,
  removed: ({ path, commands, unchecked }) =>
    `was removed by hand, and its checks (${commands}) have not passed since${path.startsWith(`${JOURNAL_PATH}/`) ? '' : ': create it again with them and clear it'}. ${unchecked ? '`--unchecked` settles it.' : 'The user can clear it in a terminal.'}`,
}

const STEP_REFUSALS: Record<ErrorArguments['run-step']['status'], (args: ErrorArguments['run-step']) => string> = {
  'no-steps': ({ phase }) => `cannot be changed: phase "${phase}" is not working on steps now`,
  unknown: ({ phase, count }) => `does not exist: phase "${phase}" has ${counted(count, 'step')}`,
  done: () => 'is done',
  'not-ended': () => 'still has attempts left',
  'too-many': ({ phase }) => `cannot be skipped: phase "${phase}" may not skip all its steps, or more than max_skips`,
}

const UNCHECKED_ADVICE = ' `--unchecked` skips them and keeps the marker as abandoned.'

const workflowCommand = (command: string, task: string, root?: string) => commandLine(['workflow', command, task], root)
const markerCommand = (command: string, task: string, root?: string): string => commandLine([command, task], root)

export const COMMAND_SENTENCES: Omit<Sentences, keyof typeof HOOK_SENTENCES> = {
  usage: (a) => a.detail,
  'task-invalid': (a) => {
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
  'slug-invalid': (a) =>
    a.longest !== undefined
      ? `the slug "${oneLine(a.slug, NAME_QUOTE_LIMIT)}" is too long: the maximum is ${a.longest} characters.`
      : `invalid slug "${a.slug}": use only letters, digits, "_", "-" and "."; it must not contain "..", begin with "-" or ".", or end with ".".`,
  'slug-missing': (a) =>
    `task ${a.task} has no folder in ${a.specs} yet: give a slug after the number, to name the folder: \`${a.command}\`.`,
  'task-ambiguous': (a) => `task ${a.task} has several folders (${a.folders}): use one of these names.`,
  'task-unknown': (a, root) => `task ${a.task} has no folder in ${a.specs}: ${LISTS[a.wanted](root)}.`,
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
  'bypass-no-room': (a) =>
    `cannot write in ${a.path} (${a.detail}): the disk is full. Stops cannot be counted there, so none is blocked anyway; \`${a.clear}\` removes the marker.`,
  'adopt-done': (a) =>
    `${a.folder} belongs to its own session: \`postflight done\` runs the checks of specs/done.yaml for yours.`,
  'bypass-none': (a) => `nothing to bypass: no marker in ${a.folder}.`,
  'marker-of-other-session': (a, root) =>
    `${a.path} is ${a.whose}: finish or clear it first, take it over with \`${markerCommand('adopt', a.task, root)}\`, or replace it with \`create --force\`.`,
  'marker-of-other-agent': (a) =>
    `${a.path} is pending for ${a.agent === 'main' ? 'the main conversation' : `sub-agent ${a.agent}`}${a.operation === undefined ? '' : ` (${a.operation})`}: finish and clear it first. If it is yours, add \`--agent ${shellWord(a.agent)}\`; to replace it anyway, add \`--force\`.`,
  'wait-refused': (a, root) => `${a.path} ${WAIT_REFUSALS[a.why](a.task, root)}`,
  'checks-refused': (a) => `${a.path} ${CHECK_REFUSALS[a.refusal](a)}`,
  'commands-untrusted': (a, root) =>
    `${a.from === undefined ? `the workflow of task ${a.task}` : `the shared run ${a.task}`} runs commands (${a.commands}) that you have not started on this machine: they may have come with the repository.${a.prompts === undefined ? '' : ` Its prompts are not those of this checkout either (\`git show ${a.prompts.slice(0, 12)}:state.json\`).`} Read them, then run \`${workflowCommand('resume', a.task, root)}${a.from === undefined ? '' : ` --shared ${a.from}`} --trust\`.`,
  'check-files': (a) =>
    `check.files names more than ${a.limit} files, or takes more than ${a.seconds} s to search: use narrower patterns.`,
  'check-patterns': (a, root) =>
    `check.files of phase "${a.phase}" has a pattern that is not allowed (\`postflight workflow validate\` names it): correct it, then \`${workflowCommand('start', a.task, root)} --definition FILE --fresh\`.`,
  'check-none': (a) => `no check to run: phase "${a.phase}" of task ${a.task} has no check.run.`,
  'shell-missing': (a) =>
    `checks need a POSIX shell, and \`sh\` could not be started (${a.detail}): put it on the PATH (Git for Windows brings one).`,
  'step-unknown': (a) => `no step "${a.step}" in ${a.path}. Its steps: ${a.steps}.`,
  'steps-none': (a) => `${a.path} has no checklist: \`postflight create --step NAME\` adds one.`,
  'session-unknown': () =>
    "unknown host session: run this in the agent's shell, or give --host-session (or set POSTFLIGHT_HOST_SESSION).",
  'settings-not-json': (a) => `${a.path}:${a.line}:${a.column}: invalid JSON (${jsonFaultWords(a.fault)}).`,
  'settings-too-deep': (a) => `${a.path}: its JSON is nested more than ${a.limit} levels deep.`,
  'settings-wrong-shape': (a) =>
    `${a.path}: ${a.property === undefined ? 'the whole file' : `"${a.property}"`} must ${SETTINGS_SHAPES[a.expected]}.`,
  'already-wired': (a) =>
    `${WIRED[a.wiredBy](a.where)}: each stop would then count twice. Remove that one with \`${a.command}\`, or use --force. Nothing was written.`,
  'rules-invalid': (a) => `${a.path}${a.location}: ${a.detail}. Nothing was written.`,
  'rules-not-of-host': (a) =>
    `--reactive is for Claude Code, not for --host ${a.host}. OpenCode's plugin takes the rules as its option "reactive". Nothing was written.`,
  'needs-answer': () =>
    'init asks before it writes, and this is not a terminal: give --yes, or --dry-run to see what it would write.',
  'definition-missing': (a) =>
    `${a.path} does not exist: check the path${a.examples === '' ? '' : `, or name one of the shipped examples: ${a.examples}`}.`,
  'workflow-definition': (a) =>
    `${a.path}${a.location}: ${a.detail}${a.more === 0 ? '.' : ` (and ${a.more} more: \`postflight workflow validate ${shellWord(a.path)}\` lists them).`}`,
  'done-invalid': (a) =>
    `${a.path}${a.location}: ${a.detail}${a.more === 0 ? '.' : ` (and ${counted(a.more, 'more fault')}).`}`,
  'done-none': (a) =>
    `${a.path} does not exist: write it first, for example \`done: [{ when: "src/**", check: npm test }]\` (\`postflight init\` proposes rules for your project).`,
  'done-untrusted': (a) =>
    `${a.path} is not trusted on this machine: read it, then run \`${a.trust}\` in your own terminal.`,
  'done-running': (a) => `the checks have been running since ${a.since}: wait for them to end.`,
  'trust-agent': () => 'only a person may trust: run this in your own terminal.',
  'trust-needs-answer': () =>
    'this is not a terminal: read the file (if it is gone, make sure that you removed it yourself), then give --yes.',
  'workflow-input': (a) => {
    if (a.problem === 'missing') return `the workflow needs a value for its input "${a.name}": --set '${a.name}=VALUE'.`
    if (a.problem !== 'unknown') {
      return `the value of the input "${a.name}" is too long: at most ${MAX_INPUT_LENGTH} characters are allowed.`
    }
    return a.known === ''
      ? `the workflow takes no inputs: leave out "${a.name}".`
      : `the workflow has no input "${a.name}": its inputs are ${a.known}.`
  },
  'workflow-there': (a, root) =>
    a.outcome === 'running'
      ? `task ${a.task} is already running the workflow "${a.name}": \`${workflowCommand('status', a.task, root)}\` shows it. Start another one after it has ended.`
      : `task ${a.task} already has the workflow "${a.name}" (${a.outcome}): ${a.resumable ? `\`${workflowCommand('resume', a.task, root)}\` continues it, ` : ''}\`${workflowCommand('start', a.task, root)} --definition FILE --fresh\` sets it aside and starts a new run.`,
  'approval-none': (a, root) =>
    `the workflow of task ${a.task} is not waiting for approval: it is in phase "${a.phase}" (\`${workflowCommand('status', a.task, root)}\` shows it).`,
  'approval-agent': (a) =>
    `only a person may approve or reject: run this for task ${a.task} in your own terminal, not in an agent's shell.`,
  'approval-artifact': (a, root) =>
    `the result cannot be approved, because it is not valid any more (${a.detail}): to have the agent do it again, run \`${workflowCommand('reject', a.task, root)} --reason TEXT\`.`,
  'phase-not-entered': (a) =>
    `the workflow of task ${a.task} has not reached phase "${a.phase}" yet: --from takes a phase that was entered before (${a.known}).`,
  'phase-approval': (a) =>
    `the workflow of task ${a.task} cannot pass over phase "${a.phase}": a person must approve its result first.`,
  'phase-unknown': (a) => `the workflow of task ${a.task} has no phase "${a.phase}": its phases are ${a.known}.`,
  'run-step': (a, root) =>
    `step ${a.step} of task ${a.task} ${STEP_REFUSALS[a.status](a)} (\`${workflowCommand('status', a.task, root)}\` shows the run).`,
  'workflow-over': (a, root) =>
    `the workflow of task ${a.task} has ended (${a.outcome}): ${a.resumable ? `\`${workflowCommand('resume', a.task, root)}\` continues it` : `\`${workflowCommand('start', a.task, root)} --definition FILE --fresh\` starts a new run`}.`,
  'shared-run-id': (a, root) =>
    `"${a.run}" is not the id of a run: \`${commandLine(['status'], root)} --shared\` prints the ids.`,
  'shared-tree': (a) => `the shared run was refused: ${a.detail}.`,
  'shared-many': (a) =>
    `"${a.remote}" has more than ${a.limit} shared runs: name one by its id, or remove finished ones (\`git push ${shellWord(a.remote)} --delete refs/postflight/ID\`).`,
  'share-unreadable': (a) =>
    `${a.path}, which says where the run is shared, is not valid: fix it. To stop sharing the run, remove the file.`,
  'shared-too-large': (a) =>
    `the run has more than ${a.files} files, or more than ${a.megabytes} MB, its state included: make its artifacts smaller. Nothing was published.`,
  'shared-differs': (a) =>
    `these files in ${a.folder} differ from those of the shared run, and would be overwritten: ${a.files}. Move them away, then try again.`,
  'shared-elsewhere': (a, root) =>
    `the run of task ${a.task} is shared with "${a.remote}": release it there first (\`${workflowCommand('release', a.task, root)}\`).`,
  'shared-none': (a, root) =>
    `"${a.remote}" has no shared run of task ${a.task}: \`${commandLine(['status'], root)} --shared ${shellWord(a.remote)}\` lists its runs.`,
  'shared-ambiguous': (a) => `task ${a.task} has several shared runs: name one by its id (${a.runs}).`,
  'shared-held': (a, root) =>
    a.machine === ''
      ? `${a.run} was changed by another machine or command at the same moment: try again.`
      : `${a.run} is held by ${a.machine}${a.session === undefined ? '' : ` (session ${a.session})`} for ${a.age}: run \`postflight workflow release TASK\` there. To take it anyway, and end it there: \`${resumeSharedLine(a.run, a.remote, root)} --take\`.`,
  'workflow-in-way': (a, root) =>
    `task ${a.task} has another run of "${a.name}", which has not ended: end it with \`${workflowCommand('abort', a.task, root)}\`, then fetch ${a.run} again.`,
  'not-shared': (a, root) =>
    `the run of task ${a.task} is not shared: \`${workflowCommand('share', a.task, root)}\` publishes it to a remote.`,
  'not-published': (a, root) =>
    `the run of task ${a.task} was not published to "${a.remote}": ${a.detail}. It goes on here; \`${workflowCommand('publish', a.task, root)}\` tries again.`,
  'not-taken': (a) =>
    ({
      refused: `${a.run} was not taken over from "${a.remote}": ${a.detail}.`,
      unanswered: `it is not known whether ${a.run} was taken over from "${a.remote}" (${a.detail}): run the same command again.`,
      unplaced: `${a.run} was taken over from "${a.remote}", but its files could not be written here (${a.detail}): fix that, then run the same command again. Until then, no machine continues it.`,
    })[a.claim],
  'take-agent': (a) =>
    `only a person may take ${a.run} from the machine that holds it: run this in your own terminal, not in an agent's shell.`,
  'shared-alone': (a) =>
    `${a.option} does not go with --shared, which shows the runs in a remote: leave one of them out.`,
  'take-alone': () => '--take needs --shared: a run is taken from a remote.',
  'prompts-untrusted': (a) =>
    `${a.run} has prompts that are not those of this checkout: they may come from anyone who can push to "${a.remote}". Read them (\`git show ${a.commit.slice(0, 12)}:state.json\`), then add --trust.`,
  'workflow-moved': (a, root) =>
    `the run of task ${a.task} has ended here: ${a.why}. \`${resumeSharedLine(a.run, a.remote, root)}\` continues it here, unless another machine holds it.`,
  'git-failed': (a) => `\`git ${a.command}\` failed: ${a.detail} (shared runs need git, and a repository).`,
  'remote-unreachable': (a) => `the remote "${a.remote}" cannot be read: ${a.detail}.`,
  'remote-unknown': (a) =>
    `"${a.remote}" is not a configured remote: name one that \`git remote\` lists (a URL is not accepted).`,
  'host-unknown': (a) => `unknown host "${a.host}": use one of ${a.known}.`,
  'scope-unknown': (a) => `unknown scope "${a.scope}": use user, project or local.`,
  'scope-not-here': (a) =>
    `in a linked worktree, ${a.host} reads the hooks of the main checkout ${a.path}, and only if the worktree has a folder ${a.folder} too: run this there, or add --scope user.`,
  'scope-not-of-host': (a) => `${a.host} has no settings for the scope "${a.scope}": use user or project.`,
  'init-unfinished': (a) =>
    `${a.fault} Already written: ${a.written}. Fix that, and run the same command again: it writes what is missing.`,
  'output-unwritable': (a) =>
    `the output could not be written (${a.detail}): the command ran, but its result was not printed.`,
}

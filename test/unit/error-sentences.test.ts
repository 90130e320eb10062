import { describe, expect, it } from 'vitest'
import { asPostflightError, errorFault } from '../../src/kernel/error-messages.ts'
import { type ErrorArguments, type ErrorCode, PostflightError } from '../../src/kernel/errors.ts'

/** The sentence of each code for some arguments. tsc asks for missing codes. */
type Sentences = {
  readonly [Code in ErrorCode]: readonly (readonly [given: ErrorArguments[Code], sentence: string])[]
}

describe('each error says what is wrong and what to do about it', () => {
  const SENTENCES: Sentences = {
    usage: [[{ detail: 'Missing command.' }, 'Missing command.']],
    'task-invalid': [
      [
        { task: 'a/b' },
        'invalid task "a/b": use its number (259) or its folder\'s name (259_prove_completeness), without "/", ".." or a leading "-".',
      ],
      [
        { task: 'x'.repeat(130), longest: 120 },
        'the task "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is too long: the maximum is 120 characters.',
      ],
      [{ task: '1000000', largest: 999999 }, 'the task number 1000000 is too large: the maximum is 999999.'],
    ],
    'slug-invalid': [
      [
        { slug: 'a b' },
        'invalid slug "a b": use only letters, digits, "_", "-" and "."; it must not contain "..", begin with "-" or ".", or end with ".".',
      ],
      [
        { slug: 'x'.repeat(130), longest: 120 },
        'the slug "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is too long: the maximum is 120 characters.',
      ],
    ],
    'slug-missing': [
      [
        { task: '7', specs: '/p/specs', command: 'postflight create 7 my_slug' },
        'task 7 has no folder in /p/specs yet: give a slug after the number, to name the folder: `postflight create 7 my_slug`.',
      ],
    ],
    'task-ambiguous': [
      [{ task: '7', folders: '7_x, 7_y' }, 'task 7 has several folders (7_x, 7_y): use one of these names.'],
    ],
    'task-unknown': [
      [
        { task: '7', specs: '/p/specs', wanted: 'marker' },
        'task 7 has no folder in /p/specs: `postflight inspect` lists the tasks that have a marker.',
      ],
      [
        { task: '7', specs: '/p/specs', wanted: 'workflow' },
        'task 7 has no folder in /p/specs: `postflight workflow status` lists the tasks that have a workflow.',
      ],
    ],
    'task-has-other-folder': [
      [
        { task: '7', folder: 'specs/7_x' },
        'task 7 already has the folder specs/7_x: omit the slug, or use another number.',
      ],
    ],
    'target-missing': [[{ options: '--all' }, 'no target: give one of <task>, --all.']],
    'target-twice': [[{ options: '--all' }, 'too many targets: give only one of <task>, --all.']],
    'value-invalid': [
      [
        { option: '--for', expected: 'must be one line of text', value: 'x' },
        '--for must be one line of text, not "x".',
      ],
    ],
    'current-folder-lost': [
      [
        {},
        'the current folder was removed, or its name is not UTF-8: change to another folder, or give --root with an absolute path.',
      ],
    ],
    'root-missing': [[{ path: '/p', from: '--root' }, '/p (from --root) is not a folder: give an existing one.']],
    'root-none': [
      [
        { start: '/p' },
        "no specs/ folder in /p or above it: change to the project's folder, or give --root (`postflight create` makes the first specs/).",
      ],
    ],
    'root-unlikely': [
      [
        { start: '/p' },
        "/p does not look like a project: change to the project's folder, or give --root /p to use it anyway.",
      ],
    ],
    'marker-none': [
      [{ folder: 'specs' }, 'no marker in specs/ itself, and new ones are made only in task folders: give a <task>.'],
      [{ folder: 'specs/7_x' }, 'no marker in specs/7_x: `postflight create` makes one.'],
    ],
    'bypass-no-room': [
      [
        { path: 'specs/7_x', detail: 'ENOSPC', clear: 'postflight clear 7' },
        'cannot write in specs/7_x (ENOSPC): the disk is full. Stops cannot be counted there, so none is blocked anyway; `postflight clear 7` removes the marker.',
      ],
    ],
    'bypass-none': [[{ folder: 'specs/7_x' }, 'nothing to bypass: no marker in specs/7_x.']],
    'marker-of-other-session': [
      [
        { path: 'specs/7_x/.postflight-pending', whose: 'pending for host session s1', task: '7' },
        'specs/7_x/.postflight-pending is pending for host session s1: finish or clear it there, take it over with `postflight adopt 7`, or replace it with `create --force`.',
      ],
    ],
    'marker-of-other-agent': [
      [
        { path: 'specs/7_x/.postflight-pending', agent: 'main', operation: undefined },
        'specs/7_x/.postflight-pending is pending for the main conversation: finish and clear it first. If it is yours, add `--agent main`; to replace it anyway, add `--force`.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', agent: 'a7', operation: 'research' },
        'specs/7_x/.postflight-pending is pending for sub-agent a7 (research): finish and clear it first. If it is yours, add `--agent a7`; to replace it anyway, add `--force`.',
      ],
    ],
    'wait-refused': [
      [
        { path: 'specs/7_x/.postflight-pending', task: '7', why: 'unowned' },
        'specs/7_x/.postflight-pending has no host session, so it does not block the main conversation: `postflight adopt 7` binds it to your session.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', task: '7', why: 'other-session' },
        'specs/7_x/.postflight-pending belongs to another host session, and only that session can wait: `postflight adopt 7` takes it over.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', task: '7', why: 'by-sub-agent' },
        'specs/7_x/.postflight-pending cannot wait here: a sub-agent ends when it stops. Finish the postflight, or report what is missing.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', task: '7', why: 'sub-agent' },
        'specs/7_x/.postflight-pending is for a sub-agent, which cannot wait: finish its postflight, or report what is missing.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', task: '7', why: 'limit' },
        'specs/7_x/.postflight-pending has waited at 10 prompts, the limit: finish its postflight, or `postflight clear 7`.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', task: '7', why: 'run-of-other-session' },
        'specs/7_x/.postflight-pending belongs to a workflow that this session does not drive: `postflight workflow resume 7` takes it over.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', task: '7', why: 'run-by-sub-agent' },
        'specs/7_x/.postflight-pending belongs to a workflow, where only the main conversation can wait: write your result, or report what is missing.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', task: '7', why: 'run-limit' },
        'specs/7_x/.postflight-pending has waited at 10 prompts in this phase, the limit: do what its prompt says.',
      ],
    ],
    'checks-refused': [
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'unreadable', commands: '', unchecked: true },
        'specs/7_x/.postflight-pending has a field "checks" that cannot be read (it takes a list of at most 20 objects {"run": "COMMAND"}), so nothing can be proven: correct it. `--unchecked` skips them and keeps the marker as abandoned.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'unreadable', commands: '', unchecked: false },
        'specs/7_x/.postflight-pending has a field "checks" that cannot be read (it takes a list of at most 20 objects {"run": "COMMAND"}), so nothing can be proven: correct it.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'removed', commands: '`npm test`', unchecked: false },
        'specs/7_x/.postflight-pending was removed by hand, and its checks (`npm test`) have not passed since: create it again with them and clear it. The user can clear it in a terminal.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'removed', commands: '`npm test`', unchecked: true },
        'specs/7_x/.postflight-pending was removed by hand, and its checks (`npm test`) have not passed since: create it again with them and clear it. `--unchecked` settles it.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'other-session', commands: '`npm test`', unchecked: true },
        'specs/7_x/.postflight-pending has checks of another session (`npm test`), which must succeed first: `--run-checks` runs them here. `--unchecked` skips them and keeps the marker as abandoned.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'other-session', commands: '`npm test`', unchecked: false },
        'specs/7_x/.postflight-pending has checks of another session (`npm test`), which must succeed first: `--run-checks` runs them here.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'unowned', commands: '`npm test`', unchecked: true },
        'specs/7_x/.postflight-pending has checks (`npm test`) but no host session, so they are never run. `--unchecked` skips them and keeps the marker as abandoned.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'unowned', commands: '`npm test`', unchecked: false },
        'specs/7_x/.postflight-pending has checks (`npm test`) but no host session, so they are never run.',
      ],
      [
        {
          path: 'specs/7_x/.postflight-pending',
          refusal: 'running',
          commands: '`npm test`',
          since: '12:00:00Z',
          unchecked: true,
        },
        'specs/7_x/.postflight-pending has checks running since 12:00:00Z (`npm test`): wait, then try again.',
      ],
      [
        { path: 'specs/7_x/.postflight-pending', refusal: 'replaced', commands: '`npm test`', unchecked: true },
        'specs/7_x/.postflight-pending was replaced while its checks ran, so the new marker stays.',
      ],
    ],
    'commands-untrusted': [
      [
        { task: '7', commands: '`npm test`' },
        'the workflow of task 7 runs commands (`npm test`) that you have not started on this machine: they may have come with the repository. Read them, then run `postflight workflow resume 7 --trust`.',
      ],
    ],
    'check-files': [
      [
        { limit: 1000, seconds: 10 },
        'check.files names more than 1000 files, or takes more than 10 s to search: use narrower patterns.',
      ],
    ],
    'check-patterns': [
      [
        { task: '7', phase: 'build' },
        'check.files of phase "build" has a pattern that is not allowed, as `postflight workflow validate` says of its definition: correct it, then `postflight workflow start 7 --definition FILE --fresh`.',
      ],
    ],
    'check-none': [[{ task: '7', phase: 'plan' }, 'no check to run: phase "plan" of task 7 has no check.run.']],
    'shell-missing': [
      [
        { detail: 'ENOENT' },
        'checks need a POSIX shell, and `sh` could not be started (ENOENT): put it on the PATH (Git for Windows brings one).',
      ],
    ],
    'marker-unreadable': [
      [
        { path: 'specs/7_x/.postflight-pending', detail: 'EACCES' },
        'specs/7_x/.postflight-pending cannot be read (EACCES): fix or remove it by hand.',
      ],
    ],
    'marker-unparsed': [
      [
        { path: 'specs/7_x/.postflight-pending', detail: 'is empty' },
        'specs/7_x/.postflight-pending is empty: fix it by hand, or replace it with `create --force` (its text is kept).',
      ],
    ],
    'marker-vanished': [
      [{ path: 'specs/7_x/.postflight-pending' }, 'specs/7_x/.postflight-pending is gone, so nothing was changed.'],
    ],
    'marker-too-large': [
      [{ limit: 65536 }, 'the marker would be larger than 65536 bytes, the maximum: shorten its reason or its steps.'],
    ],
    locked: [
      [
        { path: 'specs/7_x/.postflight-pending', lock: 'specs/7_x/.postflight-pending.lock' },
        'specs/7_x/.postflight-pending is being changed by another process: try again. If no such process runs, remove specs/7_x/.postflight-pending.lock.',
      ],
    ],
    'step-unknown': [
      [
        { step: '3', path: 'specs/7_x/.postflight-pending', steps: '1 "a", 2 "b"' },
        'no step "3" in specs/7_x/.postflight-pending. Its steps: 1 "a", 2 "b".',
      ],
    ],
    'steps-none': [
      [
        { path: 'specs/7_x/.postflight-pending' },
        'specs/7_x/.postflight-pending has no checklist: `postflight create --step NAME` adds one.',
      ],
    ],
    'session-unknown': [
      [
        {},
        "unknown host session: run this in the agent's shell, or give --host-session (or set POSTFLIGHT_HOST_SESSION).",
      ],
    ],
    'payload-not-json': [[{ detail: 'Unexpected token' }, 'the payload is not JSON (Unexpected token).']],
    'payload-not-object': [[{}, 'the payload is JSON, but not an object.']],
    'file-unreadable': [
      [{ path: '/f', detail: 'ENOENT' }, '/f does not exist: check the path.'],
      [{ path: '/f', detail: 'EACCES' }, '/f cannot be read (EACCES): fix or replace it by hand.'],
    ],
    'definition-missing': [
      [
        { path: '/f', examples: 'one, two' },
        '/f does not exist: check the path, or name one of the shipped examples: one, two.',
      ],
      [{ path: '/f', examples: '' }, '/f does not exist: check the path.'],
    ],
    'settings-not-json': [
      [{ path: '/s', line: 3, column: 5, fault: 'CommaExpected' }, '/s:3:5: invalid JSON (comma expected).'],
    ],
    'settings-too-deep': [[{ path: '/s', limit: 500 }, '/s: its JSON is nested more than 500 levels deep.']],
    'settings-wrong-shape': [
      [{ path: '/s', property: undefined, expected: 'object' }, '/s: the whole file must be an object.'],
      [{ path: '/s', property: 'hooks.Stop', expected: 'list' }, '/s: "hooks.Stop" must be a list.'],
      [{ path: '/s', property: 'hooks', expected: 'unique' }, '/s: "hooks" must occur only once.'],
    ],
    'already-wired': [
      [
        { where: 'PLACE', wiredBy: 'settings', command: 'postflight uninstall' },
        'the hook is already in PLACE, with another command: each stop would then count twice. Remove that one with `postflight uninstall`, or use --force. Nothing was written.',
      ],
      [
        { where: 'PLACE', wiredBy: 'same-command', command: 'postflight uninstall' },
        'the hook is already in PLACE, and some hosts would run it twice: each stop would then count twice. Remove that one with `postflight uninstall`, or use --force. Nothing was written.',
      ],
      [
        { where: 'PLACE', wiredBy: 'scope', command: 'postflight uninstall' },
        'the hook is already in PLACE: each stop would then count twice. Remove that one with `postflight uninstall`, or use --force. Nothing was written.',
      ],
      [
        { where: 'PLACE', wiredBy: 'plugin', command: 'postflight uninstall' },
        'the plugin PLACE already brings the hook: each stop would then count twice. Remove that one with `postflight uninstall`, or use --force. Nothing was written.',
      ],
    ],
    'rules-invalid': [
      [
        { path: 'rules.json', place: ', rule 1', detail: 'it is missing' },
        'rules.json, rule 1: it is missing. Nothing was written.',
      ],
    ],
    'rules-not-of-host': [
      [
        { host: 'codex' },
        '--reactive is for Claude Code, not for --host codex. OpenCode\'s plugin takes the rules as its option "reactive". Nothing was written.',
      ],
    ],
    'needs-answer': [
      [
        {},
        'init asks before it writes, and this is not a terminal: give --yes, or --dry-run to see what it would write.',
      ],
    ],
    'workflow-definition': [
      [{ path: 'flow.yaml', place: ':3:5', detail: 'no phase', more: 0 }, 'flow.yaml:3:5: no phase.'],
      [
        { path: 'flow.yaml', place: ':3:5', detail: 'no phase', more: 2 },
        'flow.yaml:3:5: no phase (and 2 more: `postflight workflow validate` lists them).',
      ],
    ],
    'done-invalid': [
      [
        { path: 'specs/done.yaml', place: ':3:5', detail: 'unknown field "whne"', more: 0 },
        'specs/done.yaml:3:5: unknown field "whne".',
      ],
      [
        { path: 'specs/done.yaml', place: ':3:5', detail: 'is missing', more: 2 },
        'specs/done.yaml:3:5: is missing (and 2 more faults).',
      ],
    ],
    'done-none': [
      [{ path: 'specs/done.yaml' }, 'specs/done.yaml does not exist: write it first (docs/done.md shows how).'],
    ],
    'done-untrusted': [
      [
        { path: 'specs/done.yaml', trust: 'postflight trust' },
        'specs/done.yaml is not trusted on this machine: read it, then run `postflight trust` in your own terminal.',
      ],
    ],
    'done-running': [
      [
        { since: '2026-11-20T12:00:00Z (3 min)' },
        'the checks have been running since 2026-11-20T12:00:00Z (3 min): wait for them to end.',
      ],
    ],
    'trust-agent': [[{}, 'only a person may trust: run this in your own terminal.']],
    'trust-needs-answer': [[{}, 'this is not a terminal: read the file, then give --yes.']],
    'workflow-input': [
      [
        { problem: 'missing', name: 'who', known: '' },
        'the workflow needs a value for its input "who": --set \'who=VALUE\'.',
      ],
      [{ problem: 'unknown', name: 'who', known: '' }, 'the workflow has no input "who": it has none.'],
      [
        { problem: 'unknown', name: 'who', known: '"what", "why"' },
        'the workflow has no input "who": its inputs are "what", "why".',
      ],
      [
        { problem: 'too-long', name: 'who', known: '"who"' },
        'the value of the input "who" is too long: at most 5000 characters are allowed.',
      ],
    ],
    'workflow-none': [
      [{ task: '7' }, 'task 7 has no workflow: `postflight workflow start <task> --definition <file>` starts one.'],
    ],
    'workflow-there': [
      [
        { task: '7', name: 'flow', outcome: 'running', resumable: true },
        'task 7 is already running the workflow "flow": `postflight workflow status 7` shows it. Start another one after it has ended.',
      ],
      [
        { task: '7', name: 'flow', outcome: 'stalled', resumable: true },
        'task 7 already has the workflow "flow" (stalled): `postflight workflow resume 7` continues it, `postflight workflow start 7 --definition FILE --fresh` sets it aside and starts a new run.',
      ],
      [
        { task: '7', name: 'flow', outcome: 'completed', resumable: false },
        'task 7 already has the workflow "flow" (completed): `postflight workflow start 7 --definition FILE --fresh` sets it aside and starts a new run.',
      ],
    ],
    'approval-none': [
      [
        { task: '7', phase: 'plan' },
        'the workflow of task 7 is not waiting for approval: it is in phase "plan" (`postflight workflow status 7` shows it).',
      ],
    ],
    'approval-agent': [
      [
        { task: '7' },
        "only a person may approve or reject: run this for task 7 in your own terminal, not in an agent's shell.",
      ],
    ],
    'approval-artifact': [
      [
        { task: '7', detail: 'plan.md is missing' },
        'the result that you would approve has become invalid (plan.md is missing): `postflight workflow reject 7 --reason TEXT` asks for another one.',
      ],
    ],
    'phase-not-entered': [
      [
        { task: '7', phase: 'report', known: 'plan, make' },
        'the workflow of task 7 has not reached phase "report" yet: --from takes a phase that was entered before (plan, make).',
      ],
    ],
    'phase-approval': [
      [
        { task: '7', phase: 'plan' },
        'the workflow of task 7 cannot pass over phase "plan": a person must approve its result first.',
      ],
    ],
    'phase-unknown': [
      [
        { task: '7', phase: 'pla', known: 'plan, make' },
        'the workflow of task 7 has no phase "pla": its phases are plan, make.',
      ],
    ],
    'run-step': [
      [
        { task: '7', phase: 'make', step: '3', count: 0, standing: 'no-steps' },
        'step 3 of task 7 cannot be changed: phase "make" is not working on steps now (`postflight workflow status 7` shows the run).',
      ],
      [
        { task: '7', phase: 'make', step: '3', count: 1, standing: 'unknown' },
        'step 3 of task 7 does not exist: phase "make" has 1 step (`postflight workflow status 7` shows the run).',
      ],
      [
        { task: '7', phase: 'make', step: '3', count: 2, standing: 'unknown' },
        'step 3 of task 7 does not exist: phase "make" has 2 steps (`postflight workflow status 7` shows the run).',
      ],
      [
        { task: '7', phase: 'make', step: '3', count: 3, standing: 'done' },
        'step 3 of task 7 is done (`postflight workflow status 7` shows the run).',
      ],
      [
        { task: '7', phase: 'make', step: '3', count: 3, standing: 'not-ended' },
        'step 3 of task 7 still has attempts left (`postflight workflow status 7` shows the run).',
      ],
    ],
    'workflow-over': [
      [
        { task: '7', outcome: 'completed' },
        'the workflow of task 7 has ended (completed): `postflight workflow start 7 --definition FILE --fresh` starts a new run.',
      ],
    ],
    'workflow-state': [
      [
        { path: '/s', problem: 'not-json', detail: 'DETAIL' },
        '/s is not complete JSON (DETAIL), so it was left unchanged. Fix it, or move it away and start again (existing artifacts count as done).',
      ],
      [
        { path: '/s', problem: 'version', detail: 'DETAIL' },
        '/s has version DETAIL, which this postflight-guard does not support, so it was left unchanged. Fix it, or move it away and start again (existing artifacts count as done).',
      ],
      [
        { path: '/s', problem: 'shape', detail: 'DETAIL' },
        '/s is not a valid workflow state (invalid: DETAIL), so it was left unchanged. Fix it, or move it away and start again (existing artifacts count as done).',
      ],
      [
        { path: '/s', problem: 'unreadable', detail: 'DETAIL' },
        '/s cannot be read (DETAIL), so it was left unchanged. Fix it, or move it away and start again (existing artifacts count as done).',
      ],
    ],
    'host-unknown': [[{ host: 'vim', known: 'claude, codex' }, 'unknown host "vim": use one of claude, codex.']],
    'scope-unknown': [[{ scope: 'all' }, 'unknown scope "all": use user, project or local.']],
    'scope-not-of-host': [
      [{ host: 'Codex CLI', scope: 'local' }, 'Codex CLI has no settings for the scope "local": use user or project.'],
    ],
    'not-a-folder': [
      [
        { path: '/p', kind: 'file' },
        '/p is a file, but must be a real folder: remove or rename it. Nothing was written there.',
      ],
      [
        { path: '/p', kind: 'link' },
        '/p is a link, but must be a real folder: remove or rename it. Nothing was written there.',
      ],
    ],
    'home-unknown': [
      [
        {},
        'the home folder of this user is unknown: set HOME to the full path of a folder, because the user database has no entry.',
      ],
    ],
    'cannot-write': [
      [
        { path: '/p', detail: 'EEXIST' },
        'cannot write /p (EEXIST): a folder is needed there, but something else has its name: move or rename that.',
      ],
      [
        { path: '/p', detail: 'ENOTDIR' },
        'cannot write /p (ENOTDIR): a folder is needed there, but something else has its name: move or rename that.',
      ],
      [{ path: '/p', detail: 'EACCES' }, 'cannot write /p (EACCES): check its permissions and the free space.'],
    ],
    'init-unfinished': [
      [
        { written: '.claude/settings.json, .gitignore', fault: 'cannot write /p (EACCES): check its permissions.' },
        'cannot write /p (EACCES): check its permissions. Already written: .claude/settings.json, .gitignore. Mend that, and run the same command again: it writes what is missing.',
      ],
    ],
    'output-unwritable': [
      [
        { detail: 'EPIPE' },
        'the output could not be written (EPIPE): the command ran, but its result was not printed.',
      ],
    ],
    internal: [[{ detail: 'boom' }, 'internal error (boom). Please report it, with the command that you ran.']],
  }

  it.each(Object.entries(SENTENCES).flatMap(([code, rows]) => rows.map((row) => [code as ErrorCode, ...row] as const)))(
    '%s %j',
    (code, given, sentence) => {
      expect(errorFault(code, given)).toBe(sentence)
    },
  )
})

describe('an error of another kind', () => {
  const systemError = (fields: object): Error => Object.assign(new Error('boom'), fields)

  it.each([
    [
      'of the file system names its file',
      systemError({ code: 'ENOSPC', path: '/p' }),
      'cannot-write',
      { path: '/p', detail: 'ENOSPC' },
    ],
    [
      'of the file system without a path',
      systemError({ code: 'EIO' }),
      'cannot-write',
      { path: 'a file', detail: 'EIO' },
    ],
    ['of another system', systemError({ code: 'ERR_INVALID_ARG_TYPE' }), 'internal', { detail: 'boom' }],
    ['of our own code', new TypeError('boom'), 'internal', { detail: 'boom' }],
    ['that is none', 'boom', 'internal', { detail: 'boom' }],
  ])('%s', (_, error, code, args) => {
    expect(asPostflightError(error)).toMatchObject({ code, args })
  })

  it('that is ours stays', () => {
    const ours = new PostflightError('internal', { detail: 'boom' })
    expect(asPostflightError(ours)).toBe(ours)
  })
})

import { describe, expect, it } from 'vitest'
import { COMMAND_SENTENCES } from '../../../src/kernel/command-errors.ts'
import { addSentences, asPostflightError, errorFault } from '../../../src/kernel/error-messages.ts'
import { type ErrorArguments, type ErrorCode, PostflightError } from '../../../src/kernel/errors.ts'
import { entry } from '../sentences.ts'

addSentences(COMMAND_SENTENCES)

describe('each error says what is wrong and what to do about it', () => {
  /** Arguments of each code, once per form of its sentence. tsc asks for missing codes. */
  const GIVEN: { readonly [Code in ErrorCode]: readonly ErrorArguments[Code][] } = {
    usage: [{ detail: 'Missing command.' }],
    'task-invalid': [{ task: 'a/b' }, { task: 'x'.repeat(130), longest: 120 }, { task: '1000000', largest: 999999 }],
    'slug-invalid': [{ slug: 'a b' }, { slug: 'x'.repeat(130), longest: 120 }],
    'slug-missing': [{ task: '7', specs: '/p/specs', command: 'postflight create 7 my_slug' }],
    'task-ambiguous': [{ task: '7', folders: '7_x, 7_y' }],
    'task-unknown': [
      { task: '7', specs: '/p/specs', wanted: 'marker' },
      { task: '7', specs: '/p/specs', wanted: 'workflow' },
    ],
    'task-has-other-folder': [{ task: '7', folder: 'specs/7_x' }],
    'target-missing': [{ options: '--all' }],
    'target-twice': [{ options: '--all' }],
    'value-invalid': [{ option: '--for', expected: 'must be one line of text', value: 'x' }],
    'current-folder-lost': [{}],
    'root-missing': [{ path: '/p', from: '--root' }],
    'root-none': [{ start: '/p' }],
    'root-unlikely': [{ start: '/p' }],
    'marker-none': [
      { folder: 'specs' },
      { folder: 'specs/7_x' },
      { folder: 'specs/.postflight/done-0123456789abcdef' },
    ],
    'bypass-no-room': [{ path: 'specs/7_x', detail: 'ENOSPC', clear: 'postflight clear 7' }],
    'adopt-done': [{ folder: 'specs/.postflight/done-0123456789abcdef' }],
    'bypass-none': [{ folder: 'specs/7_x' }],
    'marker-of-other-session': [
      { path: 'specs/7_x/.postflight-pending', whose: 'pending for host session s1', task: '7' },
    ],
    'marker-of-other-agent': [
      { path: 'specs/7_x/.postflight-pending', agent: 'main', operation: undefined },
      { path: 'specs/7_x/.postflight-pending', agent: 'a7', operation: 'research' },
    ],
    'wait-refused': [
      { path: 'specs/7_x/.postflight-pending', task: '7', why: 'unowned' },
      { path: 'specs/7_x/.postflight-pending', task: '7', why: 'other-session' },
      { path: 'specs/7_x/.postflight-pending', task: '7', why: 'by-sub-agent' },
      { path: 'specs/7_x/.postflight-pending', task: '7', why: 'sub-agent' },
      { path: 'specs/7_x/.postflight-pending', task: '7', why: 'limit' },
      { path: 'specs/7_x/.postflight-pending', task: '7', why: 'run-of-other-session' },
      { path: 'specs/7_x/.postflight-pending', task: '7', why: 'run-by-sub-agent' },
      { path: 'specs/7_x/.postflight-pending', task: '7', why: 'run-limit' },
    ],
    'checks-refused': [
      { path: 'specs/7_x/.postflight-pending', refusal: 'unreadable', commands: '', unchecked: true },
      { path: 'specs/7_x/.postflight-pending', refusal: 'unreadable', commands: '', unchecked: false },
      { path: 'specs/7_x/.postflight-pending', refusal: 'removed', commands: '`npm test`', unchecked: false },
      { path: 'specs/7_x/.postflight-pending', refusal: 'removed', commands: '`npm test`', unchecked: true },
      { path: 'specs/7_x/.postflight-pending', refusal: 'other-session', commands: '`npm test`', unchecked: true },
      { path: 'specs/7_x/.postflight-pending', refusal: 'other-session', commands: '`npm test`', unchecked: false },
      { path: 'specs/7_x/.postflight-pending', refusal: 'unowned', commands: '`npm test`', unchecked: true },
      { path: 'specs/7_x/.postflight-pending', refusal: 'unowned', commands: '`npm test`', unchecked: false },
      {
        path: 'specs/7_x/.postflight-pending',
        refusal: 'running',
        commands: '`npm test`',
        since: '12:00:00Z',
        unchecked: true,
      },
      { path: 'specs/7_x/.postflight-pending', refusal: 'replaced', commands: '`npm test`', unchecked: true },
    ],
    'commands-untrusted': [
      { task: '7', commands: '`npm test`' },
      { task: '7', commands: '`npm test`', from: 'up' },
      { task: '7', commands: '`npm test`', from: 'up', prompts: '0123456789abcdef' },
    ],
    'check-files': [{ limit: 1000, seconds: 10 }],
    'check-patterns': [{ task: '7', phase: 'build' }],
    'check-none': [{ task: '7', phase: 'plan' }],
    'shell-missing': [{ detail: 'ENOENT' }],
    'marker-unreadable': [{ path: 'specs/7_x/.postflight-pending', detail: 'EACCES' }],
    'marker-unparsed': [{ path: 'specs/7_x/.postflight-pending', detail: 'is empty' }],
    'marker-vanished': [{ path: 'specs/7_x/.postflight-pending' }],
    'marker-too-large': [{ limit: 65536 }],
    locked: [{ path: 'specs/7_x/.postflight-pending', lock: 'specs/7_x/.postflight-pending.lock' }],
    'step-unknown': [{ step: '3', path: 'specs/7_x/.postflight-pending', steps: '1 "a", 2 "b"' }],
    'steps-none': [{ path: 'specs/7_x/.postflight-pending' }],
    'session-unknown': [{}],
    'payload-not-json': [{ detail: 'Unexpected token' }],
    'payload-not-object': [{}],
    'file-unreadable': [
      { path: '/f', detail: 'ENOENT' },
      { path: '/f', detail: 'EACCES' },
    ],
    'definition-missing': [
      { path: '/f', examples: 'one, two' },
      { path: '/f', examples: '' },
    ],
    'settings-not-json': [{ path: '/s', line: 3, column: 5, fault: 'CommaExpected' }],
    'settings-too-deep': [{ path: '/s', limit: 500 }],
    'settings-wrong-shape': [
      { path: '/s', property: undefined, expected: 'object' },
      { path: '/s', property: 'hooks.Stop', expected: 'list' },
      { path: '/s', property: 'hooks', expected: 'unique' },
    ],
    'already-wired': [
      { where: 'PLACE', wiredBy: 'settings', command: 'postflight uninstall' },
      { where: 'PLACE', wiredBy: 'same-command', command: 'postflight uninstall' },
      { where: 'PLACE', wiredBy: 'scope', command: 'postflight uninstall' },
      { where: 'PLACE', wiredBy: 'plugin', command: 'postflight uninstall' },
    ],
    'rules-invalid': [{ path: 'rules.json', location: ', rule 1', detail: 'it is missing' }],
    'rules-not-of-host': [{ host: 'codex' }],
    'needs-answer': [{}],
    'workflow-definition': [
      { path: 'flow.yaml', location: ':3:5', detail: 'no phase', more: 0 },
      { path: 'flow.yaml', location: ':3:5', detail: 'no phase', more: 2 },
    ],
    'done-invalid': [
      { path: 'specs/done.yaml', location: ':3:5', detail: 'unknown field "whne"', more: 0 },
      { path: 'specs/done.yaml', location: ':3:5', detail: 'is missing', more: 2 },
    ],
    'done-none': [{ path: 'specs/done.yaml' }],
    'done-untrusted': [{ path: 'specs/done.yaml', trust: 'postflight trust' }],
    'done-running': [{ since: '2026-11-20T12:00:00Z (3 min)' }],
    'trust-agent': [{}],
    'trust-needs-answer': [{}],
    'workflow-input': [
      { problem: 'missing', name: 'who', known: '' },
      { problem: 'unknown', name: 'who', known: '' },
      { problem: 'unknown', name: 'who', known: '"what", "why"' },
      { problem: 'too-long', name: 'who', known: '"who"' },
    ],
    'workflow-none': [{ task: '7' }],
    'workflow-there': [
      { task: '7', name: 'flow', outcome: 'running', resumable: true },
      { task: '7', name: 'flow', outcome: 'stalled', resumable: true },
      { task: '7', name: 'flow', outcome: 'completed', resumable: false },
    ],
    'approval-none': [{ task: '7', phase: 'plan' }],
    'approval-agent': [{ task: '7' }],
    'approval-artifact': [{ task: '7', detail: 'plan.md is missing' }],
    'phase-not-entered': [{ task: '7', phase: 'report', known: 'plan, make' }],
    'phase-approval': [{ task: '7', phase: 'plan' }],
    'phase-unknown': [{ task: '7', phase: 'pla', known: 'plan, make' }],
    'run-step': [
      { task: '7', phase: 'make', step: '3', count: 0, status: 'no-steps' },
      { task: '7', phase: 'make', step: '3', count: 1, status: 'unknown' },
      { task: '7', phase: 'make', step: '3', count: 2, status: 'unknown' },
      { task: '7', phase: 'make', step: '3', count: 3, status: 'done' },
      { task: '7', phase: 'make', step: '3', count: 3, status: 'not-ended' },
    ],
    'workflow-over': [{ task: '7', outcome: 'completed' }],
    'workflow-state': [
      { path: '/s', problem: 'not-json', detail: 'DETAIL' },
      { path: '/s', problem: 'version', detail: 'DETAIL' },
      { path: '/s', problem: 'shape', detail: 'DETAIL' },
      { path: '/s', problem: 'unreadable', detail: 'DETAIL' },
    ],
    'shared-run-id': [{ run: 'a/b' }],
    'shared-tree': [{ detail: 'it is larger than 20 MB' }],
    'shared-many': [{ remote: 'up', limit: 500 }],
    'share-unreadable': [{ path: 'specs/007_x/workflow/shared.json' }],
    'workflow-in-way': [{ task: '7', name: 'flow', run: 'wf_1' }],
    'shared-too-large': [{ files: 1000, megabytes: 20 }],
    'shared-differs': [{ folder: 'specs/7_x', files: 'plan.md' }],
    'shared-elsewhere': [{ task: '7', remote: 'up' }],
    'shared-none': [{ remote: 'up', task: '7' }],
    'shared-ambiguous': [{ task: '7', runs: 'wf_a, wf_b' }],
    'shared-held': [
      { run: 'wf_a', remote: 'up', machine: 'laptop', session: 's1', age: '3 h' },
      { run: 'wf_a', remote: 'up', machine: 'laptop', session: undefined, age: '3 h' },
      { run: 'wf_a', remote: 'up', machine: '', session: undefined, age: '' },
    ],
    'not-shared': [{ task: '7' }],
    'not-published': [{ task: '7', remote: 'up', detail: 'DETAIL' }],
    'not-taken': [
      { run: 'wf_a', remote: 'up', detail: 'DETAIL', claim: 'refused' },
      { run: 'wf_a', remote: 'up', detail: 'DETAIL', claim: 'unanswered' },
      { run: 'wf_a', remote: 'up', detail: 'DETAIL', claim: 'unplaced' },
    ],
    'take-agent': [{ run: 'wf_a' }],
    'take-alone': [{}],
    'shared-alone': [{ option: '--watch' }],
    'prompts-untrusted': [{ run: 'wf_a', remote: 'up', commit: '0123456789abcdef' }],
    'workflow-moved': [{ run: 'wf_a', task: '7', remote: 'up', why: 'it goes on at laptop' }],
    'git-failed': [{ command: 'remote', detail: 'DETAIL' }],
    'remote-unreachable': [{ remote: 'up', detail: 'DETAIL' }],
    'remote-unknown': [{ remote: 'up' }],
    'host-unknown': [{ host: 'vim', known: 'claude, codex' }],
    'scope-unknown': [{ scope: 'all' }],
    'scope-not-of-host': [{ host: 'Codex CLI', scope: 'local' }],
    'not-a-folder': [
      { path: '/p', kind: 'file' },
      { path: '/p', kind: 'link' },
    ],
    'home-unknown': [{}],
    'cannot-write': [
      { path: '/p', detail: 'EEXIST' },
      { path: '/p', detail: 'ENOTDIR' },
      { path: '/p', detail: 'EACCES' },
      { path: '/p', detail: 'ENOENT' },
    ],
    'init-unfinished': [
      { written: '.claude/settings.json, .gitignore', fault: 'cannot write /p (EACCES): check its permissions.' },
    ],
    'output-unwritable': [{ detail: 'EPIPE' }],
    internal: [{ detail: 'boom' }],
  }

  it('as in the snapshot', () => {
    const errors = Object.entries(GIVEN) as [ErrorCode, readonly ErrorArguments[ErrorCode][]][]
    expect(
      errors.flatMap(([code, rows]) => rows.map((given) => entry(code, [given], errorFault(code, given)))).join('\n'),
    ).toMatchSnapshot()
  })
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

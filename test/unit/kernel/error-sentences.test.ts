import { describe, expect, it } from 'vitest'
import { COMMAND_SENTENCES } from '../../../src/kernel/command-errors.ts'
import { FILE_DETAILS } from '../../../src/kernel/error-messages.ts'
import { addSentences, asPostflightError, type ErrorArguments, errorFault } from '../../../src/kernel/errors.ts'
import { entry } from '../sentences.ts'

addSentences(COMMAND_SENTENCES)

/** The same arguments with each of these values of one more. */
const CODES = ['EEXIST', 'ENOTDIR', 'EISDIR', 'EACCES', 'ENOENT', 'EROFS']

const each = <Name extends string, const Value, Base extends object>(
  name: Name,
  values: readonly Value[],
  base: Base,
) => values.map((value) => ({ ...base, [name]: value }) as Base & Readonly<Record<Name, Value>>)

const path = 'specs/7_x/.postflight-pending'
const task = '7'
const commands = '`npm test`'
const command = 'postflight uninstall'
const DONE_FOLDER = 'specs/.postflight/done-0123456789abcdef'

describe('each error says what is wrong and what to do about it', () => {
  /** Arguments of each code, once per form of its sentence. tsc asks for missing codes. */
  const GIVEN: { readonly [Code in keyof ErrorArguments]: readonly ErrorArguments[Code][] } = {
    usage: [{ detail: 'Missing command.' }],
    'task-invalid': [
      ...[{ task: 'a/b' }, { task: '7_x', slug: 'y' }],
      ...[
        { task: 'x'.repeat(130), longest: 120 },
        { task: '1000000', largest: 999999 },
      ],
    ],
    'slug-invalid': [{ slug: 'a b' }, { slug: 'x'.repeat(130), longest: 120 }],
    'slug-missing': [{ task, specs: '/p/specs', command: 'postflight create 7 my_slug' }],
    'task-ambiguous': [{ task, folders: '7_x, 7_y' }],
    'task-unknown': each('wanted', ['marker', 'workflow'], { task, specs: '/p/specs' }),
    'task-has-other-folder': [{ task, folder: 'specs/7_x' }],
    'target-missing': [{ options: '--all' }],
    'target-twice': [{ options: '--all' }],
    'value-invalid': [{ option: '--for', expected: 'must be one line of text', value: 'x' }],
    'current-folder-lost': [{}],
    'root-missing': [{ path: '/p', from: '--root' }],
    'root-none': [{ start: '/p' }, { start: '/p', kind: 'link' }],
    'root-unlikely': [{ start: '/p' }],
    'marker-none': [{ folder: 'specs' }, { folder: 'specs/7_x' }, { folder: DONE_FOLDER }],
    'file-changed': [{ path: '/p/.claude/settings.json' }],
    'bypass-no-room': [{ path: 'specs/7_x', detail: 'ENOSPC', clear: 'postflight clear 7' }],
    'adopt-done': [{ folder: DONE_FOLDER }],
    'bypass-none': [{ folder: 'specs/7_x' }],
    'marker-of-other-session': [{ path, whose: 'pending for host session s1', task }],
    'marker-of-other-agent': [
      { path, agent: 'main', operation: undefined },
      { path, agent: 'a7', operation: 'research' },
    ],
    'wait-refused': [
      ...each('why', ['unowned', 'other-session', 'by-sub-agent', 'sub-agent'], { path, task }),
      ...each('why', ['limit', 'run-of-other-session', 'run-by-sub-agent', 'run-limit'], { path, task }),
    ],
    'checks-refused': [
      ...[true, false].flatMap((unchecked) => [
        ...each('refusal', ['unreadable'], { path, unchecked, commands: '' }),
        ...each('refusal', ['removed', 'other-session', 'unowned', 'done'], { path, unchecked, commands }),
      ]),
      { path, unchecked: true, commands, refusal: 'running', since: '12:00:00Z' },
      { path, unchecked: true, commands, refusal: 'replaced' },
      { path: 'specs/.postflight/done-0/.postflight-pending', unchecked: true, commands, refusal: 'removed' },
    ],
    'commands-untrusted': [{}, { from: 'up' }, { from: 'up', prompts: '0123456789abcdef' }].map((one) => ({
      task,
      commands,
      ...one,
    })),
    'check-files': [{ limit: 1000, seconds: 10 }],
    'check-patterns': [{ task, phase: 'build' }],
    'check-none': [{ task, phase: 'plan' }],
    'shell-missing': [{ detail: 'ENOENT' }, { detail: 'EMFILE' }],
    'marker-unreadable': [{ path, detail: 'EACCES' }],
    'marker-unparsed': [{ path, detail: 'is empty' }],
    'marker-vanished': [{ path }],
    'marker-too-large': [{ limit: 65536 }],
    locked: [{ path, lock: 'specs/7_x/.postflight-pending.lock' }],
    'step-unknown': [{ step: '3', path, steps: '1 "a", 2 "b"' }],
    'steps-none': [{ path }],
    'session-unknown': [{}],
    'payload-not-json': [{ detail: 'Unexpected token' }],
    'payload-not-object': [{}],
    'file-unreadable': each('detail', ['ENOENT', 'EACCES'], { path: '/f' }),
    'definition-missing': each('examples', ['one, two', ''], { path: '/f' }),
    'settings-not-json': [{ path: '/s', line: 3, column: 5, fault: 'CommaExpected' }],
    'settings-too-deep': [{ path: '/s', limit: 500 }],
    'settings-wrong-shape': [
      { path: '/s', property: undefined, expected: 'object' },
      { path: '/s', property: 'hooks.Stop', expected: 'list' },
      { path: '/s', property: 'hooks', expected: 'unique' },
    ],
    'already-wired': [
      ...each('wiredBy', ['settings', 'same-command', 'scope', 'plugin'], { where: 'PLACE', command }),
      { where: 'PLACE', wiredBy: 'settings', command: undefined },
    ],
    'rules-invalid': [{ path: 'rules.json', location: ', rule 1', detail: 'it is missing' }],
    'rules-not-of-host': [{ host: 'codex' }],
    'needs-answer': [{}],
    'workflow-definition': each('more', [0, 2], { path: 'flow.yaml', location: ':3:5', detail: 'no phase' }),
    'done-invalid': each('more', [0, 2], { path: 'specs/done.yaml', location: ':3:5', detail: 'is missing' }),
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
    'workflow-none': [{ task }, { task: '007_a $(id)' }],
    'workflow-there': [
      ...each('outcome', ['running', 'stalled'], { task, name: 'flow', resumable: true }),
      { task, name: 'flow', outcome: 'completed', resumable: false },
    ],
    'approval-none': [{ task, phase: 'plan' }],
    'approval-agent': [{ task }],
    'approval-artifact': [{ task, detail: 'plan.md is missing' }],
    'phase-not-entered': [{ task, phase: 'report', known: 'plan, make' }],
    'phase-approval': [{ task, phase: 'plan' }],
    'phase-unknown': [{ task, phase: 'pla', known: 'plan, make' }],
    'run-step': [
      { task, phase: 'make', step: '3', count: 0, status: 'no-steps' },
      { task, phase: 'make', step: '3', count: 1, status: 'unknown' },
      { task, phase: 'make', step: '3', count: 2, status: 'unknown' },
      { task, phase: 'make', step: '3', count: 3, status: 'done' },
      { task, phase: 'make', step: '3', count: 3, status: 'not-ended' },
      { task, phase: 'make', step: '3', count: 3, status: 'too-many' },
    ],
    'workflow-over': [
      { task, outcome: 'completed' },
      { task, outcome: 'stopped', resumable: true },
    ],
    'workflow-state': each('problem', ['not-json', 'version', 'shape', 'unreadable'], { path: '/s', detail: 'DETAIL' }),
    'shared-run-id': [{ run: 'a/b' }],
    'shared-tree': [{ detail: 'it is larger than 20 MB' }],
    'shared-many': [{ remote: 'up', limit: 500 }],
    'share-unreadable': [{ path: 'specs/007_x/workflow/shared.json' }],
    'workflow-in-way': [{ task, name: 'flow', run: 'wf_1' }],
    'shared-too-large': [{ files: 1000, megabytes: 20 }],
    'shared-differs': [{ folder: 'specs/7_x', files: 'plan.md' }],
    'shared-elsewhere': [{ task, remote: 'up' }],
    'shared-none': [{ remote: 'up', task }],
    'shared-ambiguous': [{ task, runs: 'wf_a, wf_b' }],
    'shared-held': [
      { run: 'wf_a', remote: 'up', machine: 'laptop', session: 's1', age: '3 h' },
      { run: 'wf_a', remote: 'up', machine: 'laptop', session: undefined, age: '3 h' },
      { run: 'wf_a', remote: 'up', machine: '', session: undefined, age: '' },
    ],
    'not-shared': [{ task }],
    'not-published': [{ task, remote: 'up', detail: 'DETAIL', advice: '' }],
    'not-taken': each('claim', ['refused', 'unanswered', 'unplaced'], { run: 'wf_a', remote: 'up', detail: 'DETAIL' }),
    'take-agent': [{ run: 'wf_a' }],
    'take-alone': [{}],
    'shared-alone': [{ option: '--watch' }],
    'prompts-untrusted': [{ run: 'wf_a', remote: 'up', commit: '0123456789abcdef' }],
    'workflow-moved': [{ run: 'wf_a', task, remote: 'up', why: 'it goes on at laptop' }],
    'git-failed': [{ command: 'remote', detail: 'DETAIL' }],
    'remote-unreachable': [{ remote: 'up', detail: 'DETAIL' }],
    'remote-unknown': [{ remote: 'up' }],
    'host-unknown': [{ host: 'vim', known: 'claude, codex' }],
    'scope-unknown': [{ scope: 'all' }],
    'scope-not-here': [{ host: 'Codex CLI', folder: '.codex', path: '/p' }],
    'scope-not-of-host': [{ host: 'Codex CLI', scope: 'local' }],
    'not-a-folder': each('kind', ['file', 'link'], { path: '/p' }),
    'home-unknown': [{}],
    'cannot-write': each('detail', [...CODES, 'a link', FILE_DETAILS.relativeFolder], { path: '/p' }),
    'init-unfinished': [
      { written: '.claude/settings.json, .gitignore', fault: 'cannot write /p (EACCES): check its permissions.' },
    ],
    'output-unwritable': [{ detail: 'EPIPE' }],
    internal: [{ detail: 'boom' }],
  }

  const errors = Object.entries(GIVEN) as [keyof ErrorArguments, readonly ErrorArguments[keyof ErrorArguments][]][]

  it('as in the snapshot', () => {
    expect(
      errors.flatMap(([code, rows]) => rows.map((given) => entry(code, [given], errorFault(code, given)))).join('\n'),
    ).toMatchSnapshot()
  })

  it('with the root in each command about a task', () => {
    const texts = errors.flatMap(([code, rows]) => rows.map((given) => errorFault(code, given, '/r')))
    const ofTask = texts.flatMap((text) => text.match(/`postflight [a-z ]*7 ?[^`]*`/g) ?? [])
    // Their callers gave these the root.
    const given = ['`postflight create 7 my_slug`', '`postflight clear 7`']
    expect(ofTask.filter((one) => !one.includes(' --root /r'))).toEqual(given)
  })

  it('if the sentences of commands are not loaded, as its code and its arguments', () => {
    addSentences({})
    expect(errorFault('usage', { detail: 'Missing command.' })).toBe('usage {"detail":"Missing command."}')
    addSentences(COMMAND_SENTENCES)
  })
})

describe('an error of another kind', () => {
  it.each<[string, unknown, keyof ErrorArguments, object]>([
    ['of the file system', { code: 'ENOSPC', path: '/p' }, 'cannot-write', { path: '/p', detail: 'ENOSPC' }],
    ['of the file system without a path', { code: 'EIO' }, 'cannot-write', { path: 'a file', detail: 'EIO' }],
    ['of a quota', { errno: -122, path: '/p.7-3f-1.tmp' }, 'cannot-write', { path: '/p', detail: 'EDQUOT' }],
    ['without a name', { code: 'Unknown system error -117' }, 'cannot-write', { detail: 'Unknown system error -117' }],
    ['of another system', { code: 'ERR_STREAM_DESTROYED' }, 'internal', { detail: 'boom' }],
    ['of our own code', new TypeError('boom'), 'internal', { detail: 'boom' }],
    ['that is none', 'boom', 'internal', { detail: 'boom' }],
  ])('%s', (_, thrown, code, args) => {
    const isPlain = typeof thrown === 'object' && !(thrown instanceof Error)
    const error = isPlain ? Object.assign(new Error('boom'), thrown) : thrown
    expect(asPostflightError(error)).toMatchObject({ code, args })
  })

  it('that is ours stays', () => {
    const ours = asPostflightError('boom')
    expect(asPostflightError(ours)).toBe(ours)
  })
})

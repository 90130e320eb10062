import { describe, expect, it } from 'vitest'
import { type ErrorArguments, type ErrorCode, EXIT, PostflightError } from '../../src/core/errors.ts'
import { errorFault, errorMessage } from '../../src/core/messages.ts'

/** Every code with its exit code and with arguments as they are given where it is thrown. */
const ERRORS: Record<ErrorCode, readonly [exitCode: number, args: ErrorArguments]> = {
  usage: [64, { detail: 'unknown option --x' }],
  'task-invalid': [64, { task: '../x' }],
  'slug-invalid': [64, { slug: 'a/b' }],
  'slug-missing': [64, { task: '259', specs: '/p/specs' }],
  'task-ambiguous': [64, { task: 259, folders: '259_a, 259_b' }],
  'task-unknown': [1, { task: '259', specs: '/p/specs' }],
  'task-has-other-folder': [1, { task: '259', folder: '259_a' }],
  'target-missing': [64, { options: '--all, --orphaned' }],
  'target-twice': [64, { options: '--all' }],
  'value-invalid': [64, { option: '-n', value: 'x', expected: 'takes a whole number' }],
  'root-missing': [64, { path: '/p', from: '--root' }],
  'root-none': [1, { start: '/p' }],
  'root-unlikely': [64, { start: '/' }],
  'marker-none': [1, { folder: 'specs/259_a' }],
  'marker-of-other-session': [1, { path: 'specs/259_a', whose: 'pending for host session s2', task: '259_a' }],
  'marker-of-workflow': [1, { path: 'specs/259_a', task: '259_a' }],
  'marker-unreadable': [65, { path: 'specs/259_a', detail: 'EISDIR' }],
  'marker-unparsed': [65, { path: 'specs/259_a', task: '259_a', detail: 'not-json' }],
  'marker-vanished': [1, { path: 'specs/259_a' }],
  'marker-too-large': [65, { limit: 65536 }],
  locked: [73, { path: 'specs/259_a', lock: 'specs/259_a/.postflight-lock' }],
  'step-unknown': [64, { step: 'x', path: 'specs/259_a', steps: '1 "git commit"' }],
  'steps-none': [1, { path: 'specs/259_a' }],
  'session-unknown': [64, {}],
  'payload-not-json': [65, { detail: 'Unexpected end' }],
  'payload-not-object': [65, {}],
  'file-unreadable': [65, { path: '/p', detail: 'EACCES' }],
  'settings-not-json': [65, { path: '/s', line: 1, column: 2, detail: 'comma expected' }],
  'settings-wrong-shape': [65, { path: '/s', where: '"hooks"', expected: 'an object' }],
  'workflow-definition': [65, { path: 'flow.yaml', place: ':3:5', detail: 'there is no phase "x"', more: '' }],
  'workflow-none': [1, { task: '259_a' }],
  'workflow-there': [1, { task: '259_a', name: 'flow', outcome: 'completed' }],
  'workflow-over': [1, { task: '259_a', outcome: 'completed' }],
  'workflow-marker': [1, { path: 'specs/259_a/.postflight-pending', task: '259_a' }],
  'workflow-state': [65, { path: 'specs/259_a/workflow/state.json', task: '259_a', problem: 'version', detail: '2' }],
  'host-unknown': [64, { host: 'x', known: 'claude' }],
  'scope-unknown': [64, { scope: 'x' }],
  'scope-not-of-host': [64, { scope: 'local', host: 'OpenCode' }],
  'not-a-folder': [73, { path: '/p', kind: 'a link' }],
  'cannot-write': [73, { path: '/p', detail: 'ENOSPC' }],
  internal: [70, { detail: 'boom' }],
}

const TABLE = Object.entries(ERRORS).map(([code, [exitCode, args]]) => [code as ErrorCode, exitCode, args] as const)

describe('exit codes', () => {
  it.each(TABLE)('%s exits with %i', (code, exitCode, args) => {
    expect(new PostflightError(code, args).exitCode).toBe(exitCode)
  })

  it('none is 2, which hosts read as block (thedotmack/claude-mem#3161, CC#10412)', () => {
    expect(Object.values(EXIT)).toEqual([0, 1, 64, 65, 70, 73])
    const exitCodes: number[] = TABLE.map(([code, , args]) => new PostflightError(code, args).exitCode)
    expect(exitCodes.filter((exitCode) => exitCode === 2 || exitCode === EXIT.done)).toEqual([])
  })
})

describe('the error class', () => {
  it('carries code and arguments as data', () => {
    const error = new PostflightError('task-invalid', { task: 'x' })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'PostflightError', message: 'task-invalid', code: 'task-invalid' })
    expect(error.args).toEqual({ task: 'x' })
    expect('cause' in error).toBe(false)
  })

  it('needs no arguments and keeps its cause', () => {
    const cause = new Error('EACCES')
    const error = new PostflightError('session-unknown', undefined, cause)
    expect(error.args).toEqual({})
    expect(error.cause).toBe(cause)
  })
})

describe('sentences for errors', () => {
  it.each(TABLE)('%s says what was given, on one line, with nothing undefined', (code, _, args) => {
    const sentence = errorMessage(code, args)
    expect(sentence).not.toMatch(/undefined|\[object|\n/)
    expect(sentence.length).toBeGreaterThan(10)
    // `marker-unparsed` carries the task for --json only.
    const said = Object.entries(args).filter(([name]) => !(code === 'marker-unparsed' && name === 'task'))
    for (const [, value] of said) expect(sentence).toContain(String(value))
  })

  it.each(TABLE)('%s says it as a sentence', (code, _, args) => {
    expect(errorMessage(code, args)).toMatch(code === 'usage' ? /\S$/ : /[.]$/)
  })

  it.each<[ErrorCode, ErrorArguments, string[]]>([
    ['marker-of-other-session', { path: 'p', whose: 'w' }, ['adopt']],
    ['marker-of-workflow', { path: 'p' }, ['workflow status', 'clear']],
    ['workflow-there', { name: 'n', outcome: 'running' }, ['workflow status']],
    ['workflow-there', { name: 'n', outcome: 'stalled', resumable: 'true' }, ['workflow resume']],
    ['workflow-marker', { path: 'p' }, ['clear']],
  ])('%s: the commands that help are ready to paste', (code, args, commands) => {
    const sentence = errorMessage(code, { ...args, task: "259_it's" })
    for (const command of commands) expect(sentence).toContain(`\`postflight ${command} '259_it'\\''s'\``)
  })

  it.each([
    ['file', '/p is a file, not a folder of its own: nothing is written there. Remove or rename it.'],
    ['a link', '/p is a link, not a folder of its own: nothing is written there. Remove or rename it.'],
  ])('where a folder should be there is %s', (kind, expected) => {
    expect(errorMessage('not-a-folder', { path: '/p', kind })).toBe(expected)
  })

  it('what is too long is told so, and not which characters it must not hold', () => {
    const long = 'x'.repeat(300)
    const slug = errorMessage('slug-invalid', { slug: long, longest: 120 })
    expect(slug).toMatch(/^the slug "x+…" is too long: at most 120 characters\.$/)
    expect(slug.length).toBeLessThan(120)
    expect(errorMessage('task-invalid', { task: long, longest: 120 })).toMatch(
      /^the task "x+…" is too long: a name has at most 120 characters\.$/,
    )
    expect(errorMessage('task-invalid', { task: '1000000', largest: 999_999 })).toBe(
      'the task number 1000000 is too large: the largest is 999999.',
    )
  })

  it('nothing new is made in specs/ itself, so nobody is sent there by the sentence', () => {
    expect(errorMessage('marker-none', { folder: 'specs/259_a' })).toContain('`postflight create` makes one')
    const global = errorMessage('marker-none', { folder: 'specs' })
    expect(global).toMatch(/^no marker in specs\/ itself/)
    expect(global).not.toContain('create')
  })

  it('a task that is not there is looked for among what was asked for', () => {
    const args = { task: '259', specs: '/p/specs' }
    expect(errorMessage('task-unknown', args)).toContain('`postflight inspect` lists the tasks that have a marker')
    expect(errorMessage('task-unknown', { ...args, wanted: 'workflow' })).toContain(
      '`postflight workflow status` lists the tasks that have a workflow',
    )
  })

  it('a file that is not there cannot be mended, and what lies in the way needs no rights', () => {
    expect(errorMessage('file-unreadable', { path: '/p', detail: 'ENOENT' })).toBe(
      '/p is not there: give the path of a file that is.',
    )
    for (const detail of ['EEXIST', 'ENOTDIR']) {
      expect(errorMessage('cannot-write', { path: '/p', detail })).toMatch(/in the way/)
    }
  })

  it('what is wrong with a settings file can be said without what a command would have written', () => {
    const args = { path: '/s', line: 1, column: 2, detail: 'comma expected' }
    expect(errorFault('settings-not-json', args)).toBe('/s:1:2: no valid JSON (comma expected).')
    const written = ' Nothing was written: mend the file, then try again.'
    expect(errorMessage('settings-not-json', args)).toBe(`/s:1:2: no valid JSON (comma expected).${written}`)
    const shape = { path: '/s', where: '"hooks"', expected: 'an object' }
    expect(errorFault('settings-wrong-shape', shape)).toBe('/s: "hooks" must be an object.')
    expect(errorMessage('settings-wrong-shape', shape)).toBe(`/s: "hooks" must be an object.${written}`)
  })

  it('a value of some length is whole', () => {
    expect(errorMessage('file-unreadable', { path: `/${'p'.repeat(900)}`, detail: 'EACCES' })).toContain(
      'p'.repeat(900),
    )
  })

  it('a hostile value can neither paint the terminal nor fill it', () => {
    const sentence = errorMessage('task-invalid', { task: `\u001b[2J\n${'x'.repeat(100_000)}` })
    expect(sentence).not.toMatch(/[\u0000-\u001f]/)
    expect(sentence.length).toBeLessThan(1500)
  })
})

describe('what is said of a workflow', () => {
  it.each([
    ['not-json', 'is no whole JSON (x)'],
    ['version', 'is of version x'],
    ['shape', 'is no state of a workflow (wrong: x)'],
    ['another', 'x: it was left'],
    ['unreadable', 'cannot be read (x)'],
  ])('whose state has the problem %s', (problem, said) => {
    expect(errorMessage('workflow-state', { path: 'p', task: 't', problem, detail: 'x' })).toContain(`p ${said}`)
  })

  it('that runs, or has ended, or has more than one fault', () => {
    expect(errorMessage('workflow-there', { task: 't', name: 'n', outcome: 'running' })).toContain(
      'runs the workflow "n" already',
    )
    expect(errorMessage('workflow-there', { task: 't', name: 'n', outcome: 'stalled', resumable: 'true' })).toContain(
      'workflow resume t` goes on with it, `start --fresh`',
    )
    expect(errorMessage('workflow-there', { task: 't', name: 'n', outcome: 'completed', resumable: 'false' })).toBe(
      'task t has a workflow already ("n", completed): `start --fresh` puts it aside and begins anew.',
    )
    expect(errorMessage('workflow-definition', { path: 'p', place: ':1:1', detail: 'd', more: '' })).toBe('p:1:1: d.')
    expect(errorMessage('workflow-definition', { path: 'p', place: ':1:1', detail: 'd', more: 2 })).toContain(
      '(and 2 more',
    )
  })
})

import { describe, expect, it } from 'vitest'
import { ERROR_CODES, EXIT, exitCodeOf } from '../../../src/kernel/command-errors.ts'
import {
  argumentsOf,
  type ErrorArguments,
  errorFault,
  errorMessage,
  PostflightError,
} from '../../../src/kernel/errors.ts'
import '../../support/command-sentences.ts'

type ErrorCode = keyof ErrorArguments

type NameOf<Arguments> = Arguments extends Readonly<Record<string, never>> ? never : keyof Arguments

/** The arguments of all codes together. Except for `wanted`, no value occurs in the sentences without its argument. */
const EVERY_ARGUMENT: { readonly [Name in NameOf<ErrorArguments[ErrorCode]>]: string | number | boolean } = {
  ...{ task: '259_TASK', slug: 'SLUG', folder: 'specs/FOLDER', folders: 'FOLDER_A, FOLDER_B', specs: '/p/specs' },
  ...{ run: 'RUN', remote: 'REMOTE', files: 'FILES', megabytes: 7_654, runs: 'RUNS', machine: 'MACHINE' },
  ...{ session: 'THE_SESSION', age: 'AGE', commit: 'COMMIT', prompts: 'PROMPTS' },
  ...{ command: 'postflight create 7 my_slug', seconds: 3579, wanted: 'workflow', path: 'PATH', detail: 'DETAIL' },
  ...{ location: ':3:5', trust: 'postflight trust', more: 17, start: 'START', from: 'FROM', property: 'PROPERTY' },
  ...{ option: '--OPTION', options: '--ONE, --OTHER', value: 'VALUE', expected: 'unique', whose: 'WHOSE' },
  ...{ limit: 65_536, lock: 'LOCK', step: 'STEP', steps: '1 "A", 2 "B"', line: 18, column: 19, fault: 'FaultOfJson' },
  ...{ name: 'NAME', outcome: 'OUTCOME', resumable: true, problem: 'shape', host: 'A_HOST', known: 'KNOWN' },
  ...{ agent: 'AGENT', operation: 'OPERATION', why: 'limit', clear: 'CLEAR', where: 'WHERE', wiredBy: 'plugin' },
  ...{ written: 'WRITTEN', commands: 'COMMANDS', since: 'SINCE', unchecked: true, claim: 'unanswered' },
  ...{ refusal: 'running', status: 'no-steps', count: 2_345, phase: 'PHASE' },
  ...{ scope: 'SCOPE', examples: 'EXAMPLES', kind: 'pipe', longest: 120, largest: 999_999, advice: 'ADVICE' },
}

/** The sentence of a code, with its arguments from `EVERY_ARGUMENT`. */
function sentenceOf(code: ErrorCode, changed: Partial<typeof EVERY_ARGUMENT> = {}): string {
  return errorMessage(code, { ...EVERY_ARGUMENT, ...changed } as never)
}

describe('exit codes', () => {
  it.each(ERROR_CODES)('%s has one, and it is neither 0 nor 2, which hosts read as block', (code) => {
    expect([1, 64, 65, 70, 73]).toContain(exitCodeOf(code))
  })

  it('are those of docs/design.md', () => {
    expect(EXIT).toEqual({ done: 0, no: 1, usage: 64, data: 65, internal: 70, write: 73 })
  })
})

describe('the error class', () => {
  it('has its code and its arguments as data', () => {
    const code = 'task-invalid'
    const error = new PostflightError(code, { task: 'x' })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'PostflightError', message: code, code, args: { task: 'x' } })
    expect([argumentsOf(error, code), argumentsOf(error, 'internal')]).toEqual([{ task: 'x' }, undefined])
    expect('cause' in error).toBe(false)
  })

  it('needs no arguments and keeps its cause', () => {
    const cause = new Error('EACCES')
    expect(new PostflightError('session-unknown', undefined, cause)).toMatchObject({ args: {}, cause })
  })

  it('takes only the arguments of its code', () => {
    // @ts-expect-error: the task is missing
    new PostflightError('task-invalid', {})
    // @ts-expect-error: it has no path
    new PostflightError('task-invalid', { task: 'x', path: 'y' })
    // @ts-expect-error: it has none
    new PostflightError('session-unknown', { task: 'x' })
    // @ts-expect-error: the code is unknown
    new PostflightError('task-strange', { task: 'x' })
  })
})

describe('the sentences of errors', () => {
  it.each(ERROR_CODES)('%s is one line and a sentence, with nothing undefined', (code) => {
    const sentence = sentenceOf(code)
    expect(sentence).not.toMatch(/undefined|\[object|\n/)
    // Its detail is a whole sentence.
    expect(sentence).toMatch(code === 'usage' ? /^DETAIL$/ : /^.{10,}[.]$/)
  })

  it('each argument occurs in one of them, or chooses its words', () => {
    const said = ERROR_CODES.map((code) => sentenceOf(code)).join('\n')
    const unsaid = Object.entries(EVERY_ARGUMENT).filter(([, value]) => !said.includes(String(value)))
    expect(unsaid.map(([name]) => name)).toEqual(['resumable', 'problem', 'unchecked', 'claim', 'status', 'count'])
  })

  it('each has a value of an argument, unless its code has no arguments', () => {
    const values = Object.values(EVERY_ARGUMENT).map(String)
    const silent = ERROR_CODES.filter((code) => !values.some((value) => sentenceOf(code).includes(value)))
    expect(silent).toEqual([
      ...['payload-not-object', 'home-unknown', 'session-unknown', 'needs-answer'],
      ...['trust-needs-answer', 'take-alone', 'trust-agent', 'current-folder-lost'],
    ])
  })

  it.each([
    ['marker-of-other-session', {}, 'adopt'],
    ['workflow-there', { outcome: 'running' }, 'workflow status'],
    ['workflow-there', { outcome: 'stalled', resumable: true }, 'workflow resume'],
  ] as const)('%s %j has a command that is ready to paste: %s', (code, changed, command) => {
    expect(sentenceOf(code, { ...changed, task: "259_it's" })).toContain(`\`postflight ${command} '259_it'\\''s'\``)
  })

  it('of a settings file say that nothing was written only for a command that writes', () => {
    const args = { path: '/s', line: 1, column: 2, fault: 'CommaExpected' }
    const shape = { path: '/s', property: 'hooks', expected: 'object' } as const
    const written = ' Nothing was written: fix the file, then try again.'
    expect(errorMessage('settings-not-json', args)).toBe(`${errorFault('settings-not-json', args)}${written}`)
    expect(errorMessage('settings-wrong-shape', shape)).toBe(`${errorFault('settings-wrong-shape', shape)}${written}`)
    expect(errorFault('settings-not-json', args)).not.toContain('Nothing was written')
    expect(errorFault('settings-wrong-shape', shape)).not.toContain('Nothing was written')
  })

  it('contain a long path as a whole', () => {
    const path = `/${'p'.repeat(900)}`
    expect(errorMessage('file-unreadable', { path, detail: 'EACCES' })).toContain(path)
  })

  it('neither control nor fill the terminal with a hostile value', () => {
    const sentence = errorMessage('task-invalid', { task: `\u001b[2J\n${'x'.repeat(100_000)}` })
    expect(sentence).not.toMatch(/[\u0000-\u001f]/)
    expect(sentence.length).toBeLessThan(1500)
  })
})

import { describe, expect, it } from 'vitest'
import { failedField, type LastFailure, parseFailure } from '../../src/core/check.ts'
import type { ErrorArguments } from '../../src/core/errors.ts'
import { CHECK_TEXT, failureWords, seconds } from '../../src/core/messages/checks.ts'
import { GIT_FINDINGS, HOOK_FINDINGS, RUN_FINDINGS } from '../../src/core/messages/doctor.ts'
import { errorMessage } from '../../src/core/messages/errors.ts'
import { INSTALL_TEXT } from '../../src/core/messages/settings.ts'
import { PROJECT_STATUS_TEXT } from '../../src/core/messages/status.ts'
import { REASON_TEXT } from '../../src/core/messages/stops.ts'
import { parseReceipt } from '../../src/core/workflow/receipt.ts'

describe('a check that failed', () => {
  it.each<[Parameters<typeof failureWords>[0], string]>([
    [{ kind: 'exited', exitCode: 3 }, 'exit code 3'],
    [{ kind: 'exited', exitCode: 127 }, 'exit code 127: command not found'],
    [{ kind: 'killed', signal: 'SIGSEGV' }, 'killed by SIGSEGV'],
    [{ kind: 'timed-out', limitMs: 500 }, 'still running after 0.5 s, so it was killed'],
    [{ kind: 'timed-out', limitMs: 600_000 }, 'still running after 600 s, so it was killed'],
    [{ kind: 'interrupted', by: 'SIGINT' }, 'interrupted (SIGINT)'],
  ])('%j has these words', (failure, expected) => {
    expect(failureWords(failure)).toBe(expected)
  })

  it.each<[string, LastFailure]>([
    ['an exit code', { failure: { kind: 'exited', exitCode: 2 }, output: 'no\n' }],
    ['a signal', { failure: { kind: 'killed', signal: 'SIGKILL' }, output: '' }],
    ['a time limit', { failure: { kind: 'timed-out', limitMs: 900 }, output: 'slow' }],
  ])('is read from its marker as it was written: %s', (_what, failure) => {
    expect(parseFailure(failedField(failure))).toEqual(failure)
  })

  it.each([
    ['a text', 'x'],
    ['nothing known', {}],
    ['a code that is not a number', { exit_code: '1' }],
  ])('is not read from %s', (_what, value) => {
    expect(parseFailure(value)).toBeUndefined()
  })

  it('has no output where that is not a text', () => {
    expect(parseFailure({ exit_code: 1, output: 7 })).toEqual({ failure: { kind: 'exited', exitCode: 1 }, output: '' })
  })

  it('prints its output clean, or says that there was none', () => {
    expect(CHECK_TEXT.output('one\n\u001b[2Jtwo\n')).toEqual(['  one', '  [2Jtwo'])
    expect(CHECK_TEXT.output(' \n')).toEqual(['  (it printed nothing)'])
    expect([seconds(9_949), seconds(10_500)]).toEqual(['9.9 s', '11 s'])
  })
})

describe('checks that were not run', () => {
  const refused = (refusal: ErrorArguments['checks-refused']['refusal'], unchecked: boolean): string =>
    errorMessage('checks-refused', { path: 'P', refusal, commands: '`npm test`', since: 'T', unchecked })

  it('are told with the options that help', () => {
    expect(refused('other-session', true)).toMatch(/another session.*--run-checks.*--unchecked/)
    expect(refused('other-session', false)).not.toContain('--unchecked')
    expect(refused('unowned', true)).toMatch(/no host session.*--unchecked/)
    expect(refused('unowned', false)).not.toContain('--unchecked')
    expect(refused('running', false)).toContain('running since T')
    expect(refused('replaced', false)).toContain('the new marker stays')
  })

  it('that run still are waited for, by command where the agent can wait', () => {
    expect(REASON_TEXT.checking('T', undefined)).toBe('They have been running since T. Wait for them to end.')
    expect(REASON_TEXT.checking('T', 'postflight wait 7')).toContain('postflight wait 7, then end your turn')
  })

  it.each<[string | undefined, string | undefined, string]>([
    [undefined, undefined, '  - npm test'],
    ['build', undefined, '  - npm test (step "build")'],
    ['build', 'exit code 1', '  - npm test (step "build"): failed the last time (exit code 1)'],
    [undefined, 'exit code 1', '  - npm test: failed the last time (exit code 1)'],
  ])('are listed with step %j and failure %j', (step, failure, expected) => {
    expect(REASON_TEXT.check('npm test', step, failure)).toBe(expected)
  })

  it.each(['', '[]', '{"command": 1}', '{"command": "x"}'])('leave no receipt: %s', (text) => {
    expect(parseReceipt(text)).toBeUndefined()
  })

  it('leave a receipt that is read without what it lacks, and not at all with a file that is not whole', () => {
    const least = { command: 'npm test', artifact: 'a', exit_code: 0 }
    expect(parseReceipt(JSON.stringify(least))).toEqual({
      ...{
        run: undefined,
        command: 'npm test',
        failure: undefined,
        durationMs: 0,
        output: '',
        artifact: 'a',
        files: [],
      },
    })
    const whole = { ...least, run: 'wf_1', seconds: 2, output: 'ok', files: [{ path: 'f', size: 1, mtime_ms: 2 }] }
    expect(parseReceipt(JSON.stringify(whole))).toMatchObject({
      ...{ run: 'wf_1', durationMs: 2000, output: 'ok', files: [{ path: 'f', size: 1, mtimeMs: 2 }] },
    })
    for (const file of [null, { path: 'f', size: 1 }, { path: 'f', size: '1', mtime_ms: 2 }]) {
      expect(parseReceipt(JSON.stringify({ ...least, files: [file] }))).toBeUndefined()
    }
  })
})

describe('a wait that is refused', () => {
  it.each<[ErrorArguments['wait-refused']['why'], string]>([
    ['unowned', 'P '],
    ['by-sub-agent', 'P '],
    ['sub-agent', 'is for a sub-agent'],
    ['limit', 'postflight clear 7'],
    ['run-of-other-session', 'postflight workflow resume 7'],
    ['run-by-sub-agent', 'only the main conversation'],
    ['run-limit', 'the limit'],
  ])('says what to do: %s', (why, expected) => {
    expect(errorMessage('wait-refused', { path: 'P', task: '7', why })).toContain(expected)
  })
})

describe('what install and uninstall say', () => {
  it('names what was removed, and what would be', () => {
    const held = (entry: boolean, permissions: boolean, reactive = false) => ({ entry, permissions, reactive })
    expect(INSTALL_TEXT.removed('hook', held(true, false), 'F', false)).toBe('Removed the hook from F')
    expect(INSTALL_TEXT.removed('hook', held(true, true), 'F', true)).toBe(
      'Would remove the hook and our permission rules from F',
    )
    expect(INSTALL_TEXT.removed('hook', held(false, true), 'F', false)).toBe('Removed our permission rules from F')
    expect(INSTALL_TEXT.removed('hook', held(false, false, true), 'F', false)).toBe('Removed the reactive rules from F')
    expect(INSTALL_TEXT.removed('hook', held(true, true, true), 'F', false)).toBe(
      'Removed the hook, the reactive rules and our permission rules from F',
    )
    expect(INSTALL_TEXT.removed('plugin', held(false, false), 'F', false)).toBe('Removed the plugin from F')
    expect(INSTALL_TEXT.removedLines('F', true)).toBe('Would remove our lines from F')
    expect(INSTALL_TEXT.removedWhole('F', true)).toBe('Would remove F')
    expect(INSTALL_TEXT.removedFile('F', true)).toBe('Would remove F: it held nothing else')
  })
})

describe('what doctor says', () => {
  it('names the place of a setting, and counts what it does not list', () => {
    expect(HOOK_FINDINGS.guardDisabled(undefined)).toContain('in the environment')
    expect(HOOK_FINDINGS.guardDisabled('F')).toContain('in F')
    expect(GIT_FINDINGS.tracked(['a', 'b', 'c'])).toContain('a, b, c, which')
    expect(GIT_FINDINGS.tracked(['a', 'b', 'c', 'd'])).toContain('a, b, c and 1 more')
    expect(RUN_FINDINGS.stalled('R', undefined)).toBe('R')
    expect(RUN_FINDINGS.stalled('R', 'why')).toContain('R: ')
  })
})

describe('what status says', () => {
  it('counts completed workflows only if there are any, and leaves out missing facts', () => {
    expect(PROJECT_STATUS_TEXT.clean('/p', 0)).toBe('nothing pending in /p')
    expect(PROJECT_STATUS_TEXT.clean('/p', 2)).toBe('nothing pending in /p; 2 workflows completed')
    expect(PROJECT_STATUS_TEXT.item('pending', 'P', [])).toBe('pending: P')
    expect(PROJECT_STATUS_TEXT.item('lost', 'P', ['x', 'y'])).toBe('state removed: P · x · y')
    expect(PROJECT_STATUS_TEXT.session(null)).toBe('without a session')
    expect(PROJECT_STATUS_TEXT.session('s')).toBe('session s')
  })
})

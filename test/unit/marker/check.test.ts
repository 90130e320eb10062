import { describe, expect, it } from 'vitest'
import { commandsOf, failedField, parseCheck, parseFailure, sameChecks } from '../../../src/marker/marker.ts'

describe('a check', () => {
  it('is a command, which may have a step and a last failure', () => {
    const failed = { exit_code: 1, output: 'red' }
    expect(parseCheck({ run: ' npm test ', step: 'build', failed, more: 1 })).toStrictEqual({
      run: ' npm test ',
      step: 'build',
      failed: { failure: { kind: 'exited', exitCode: 1 }, output: 'red' },
    })
  })

  it.each([{}, { step: '' }, { step: 7 }, { step: null }, { failed: 'yes' }, { failed: {} }])(
    'has neither with %j',
    (fields) => {
      expect(parseCheck({ run: 'npm test', ...fields })).toStrictEqual({ run: 'npm test' })
    },
  )

  it.each([undefined, null, 'npm test', ['npm test'], {}, { run: 5 }, { run: '' }, { run: ' \n' }])(
    'is not %j',
    (value) => {
      expect(parseCheck(value)).toBeUndefined()
    },
  )
})

it('a marker keeps the last 1,000 characters of the output of a failed check', () => {
  const output = `${'x'.repeat(5_000)}${'y'.repeat(999)}\n`
  const kept = `${'y'.repeat(999)}\n`
  expect(failedField({ failure: { kind: 'exited', exitCode: 1 }, output })).toStrictEqual({
    exit_code: 1,
    output: kept,
  })
  expect(parseFailure({ signal: 'SIGKILL', output })).toEqual({
    failure: { kind: 'killed', signal: 'SIGKILL' },
    output: kept,
  })
})

it('a command that stands in several checks is named once', () => {
  expect(commandsOf([{ run: 'a' }, { run: 'b', step: 'one' }, { run: 'a', step: 'two' }])).toEqual(['a', 'b'])
})

describe('two lists of checks', () => {
  const checks = [{ run: 'a' }, { run: 'b', step: 'one' }]

  it('are the same with the same commands for the same steps, whatever failed since', () => {
    const failed = { failure: { kind: 'exited', exitCode: 1 }, output: '' } as const
    expect(
      sameChecks(checks, [
        { run: 'a', failed },
        { run: 'b', step: 'one' },
      ]),
    ).toBe(true)
    expect(sameChecks([], [])).toBe(true)
  })

  it.each([
    ['one less', checks.slice(1)],
    ['another order', checks.toReversed()],
    ['another command', [{ run: 'c' }, { run: 'b', step: 'one' }]],
    ['another step', [{ run: 'a' }, { run: 'b', step: 'two' }]],
    ['a step less', [{ run: 'a' }, { run: 'b' }]],
  ])('differ with %s', (_, others) => {
    expect(sameChecks(checks, others)).toBe(false)
  })
})

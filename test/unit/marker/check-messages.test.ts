import { describe, expect, it } from 'vitest'
import {
  checkFailed,
  checkList,
  checksPassed,
  failureWords,
  keptUnchecked,
  outputLines,
  seconds,
  since,
} from '../../../src/marker/check-messages.ts'
import { failedField, type LastFailure, parseFailure } from '../../../src/marker/marker.ts'
import { parseReceipt } from '../../../src/run/machine/receipt.ts'
import { describeSentences, forms } from '../sentences.ts'

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

  it.each(['x', {}, { exit_code: '1' }])('is not read from %j', (value) => {
    expect(parseFailure(value)).toBeUndefined()
  })

  it('has no output if that is not a text', () => {
    expect(parseFailure({ exit_code: 1, output: 7 })).toEqual({ failure: { kind: 'exited', exitCode: 1 }, output: '' })
  })
})

describe('the receipt of a check', () => {
  it.each(['', '[]', '{"command": 1}', '{"command": "x"}'])('cannot be read from %s', (text) => {
    expect(parseReceipt(text)).toBeUndefined()
  })

  it('is read without what it lacks, and not at all with a file that is not whole', () => {
    const least = { command: 'npm test', artifact: 'a', exit_code: 0 }
    const read = { run: 'npm test', durationMs: 0, output: '', artifact: 'a', files: [] }
    expect(parseReceipt(JSON.stringify(least))).toEqual(read)
    const whole = { ...least, run: 'wf_1', seconds: 2, output: 'ok', files: [{ path: 'f', size: 1, mtime_ms: 2 }] }
    const files = [{ path: 'f', size: 1, mtimeMs: 2 }]
    expect(parseReceipt(JSON.stringify(whole))).toEqual({
      ...read,
      runId: 'wf_1',
      durationMs: 2000,
      output: 'ok',
      files,
    })
    for (const file of [null, { path: 'f', size: 1 }, { path: 'f', size: '1', mtime_ms: 2 }]) {
      expect(parseReceipt(JSON.stringify({ ...least, files: [file] }))).toBeUndefined()
    }
  })
})

const PASSED = { run: 'npm test', durationMs: 1200 }

describeSentences(
  'what commands print about checks',
  { checkFailed, outputLines, checksPassed, checkList, keptUnchecked },
  {
    checkFailed: [[{ run: 'npm  test', failure: { kind: 'exited', exitCode: 1 }, durationMs: 12000 }]],
    outputLines: [['one\r\n\u001b[2Jtwo\n\n'], [''], [' \n']],
    checksPassed: [[[PASSED]], [[PASSED, { run: 'npm run lint', durationMs: 34000 }]]],
    checkList: [[['npm test']], [['npm  test', 'npm run lint']]],
    keptUnchecked: [['specs/7_x/.postflight-abandoned']],
  },
)

describeSentences(
  'times',
  { seconds, since },
  {
    seconds: [[400], [9_949], [10_000], [10_500]],
    since: forms([1_768_737_600_000, 1_768_737_660_000], [1_768_737_600_000, 1_768_737_599_000]),
  },
)

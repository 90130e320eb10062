import { describe, expect, it } from 'vitest'
import { formatReceipt, MAX_BOUND_FILES, parseReceipt, type Receipt } from '../../../src/run/machine/receipt.ts'
import { NOW } from './builders.ts'

const GREEN: Receipt = {
  runId: 'wf_1',
  run: 'npm test',
  failure: undefined,
  durationMs: 1500,
  output: 'ok\n',
  artifact: 'ab12',
  artifactTimes: { size: 2, modifiedMs: 1.25, changedMs: 2.5 },
  files: [{ path: '../src/a.ts', size: 3, mtimeMs: 1.5 }],
}

/** The fields of a receipt's file, changed by `more`. */
const fieldsOf = (more: object): string => JSON.stringify({ ...JSON.parse(formatReceipt(GREEN, NOW)), ...more })

const boundFiles = (count: number) => Array(count).fill({ path: 'a', size: 1, mtime_ms: 1 })

describe('a receipt', () => {
  it('has the time of its check, and the files that it is bound to', () => {
    expect(JSON.parse(formatReceipt(GREEN, NOW))).toEqual({
      ...{ run: 'wf_1', command: 'npm test', time: '2023-11-14T22:13:20.000Z', seconds: 1.5, exit_code: 0 },
      ...{ output: 'ok\n', artifact: 'ab12', files: [{ path: '../src/a.ts', size: 3, mtime_ms: 1.5 }] },
      artifact_file: { size: 2, mtime_ms: 1.25, ctime_ms: 2.5 },
    })
    expect(formatReceipt(GREEN, NOW)).toMatch(/^\{\n {2}"run"[\s\S]*\}\n$/)
  })

  it.each<[string, Receipt['failure']]>([
    ['a green one', undefined],
    ['an exit code', { kind: 'exited', exitCode: 2 }],
    ['a signal', { kind: 'killed', signal: 'SIGKILL' }],
    ['a time limit', { kind: 'timed-out', limitMs: 500 }],
  ])('is read as it was written, with the whole output: %s', (_what, failure) => {
    const receipt = { ...GREEN, failure, output: 'x'.repeat(3000) }
    expect(parseReceipt(formatReceipt(receipt, NOW))).toEqual(receipt)
  })

  it.each([
    ...[{ command: 3 }, { artifact: 3 }, { exit_code: undefined }, { exit_code: '0' }, { files: ['a'] }],
    ...[{ files: [{ size: 1, mtime_ms: 1 }] }, { files: [{ path: 'a', size: 1 }] }],
    ...[{ files: [{ path: 'a', size: '1', mtime_ms: 1 }] }, { files: boundFiles(MAX_BOUND_FILES + 1) }],
  ])('does not count with %j', (wrong) => {
    expect(parseReceipt(fieldsOf(wrong))).toBeUndefined()
  })

  it.each<[unknown]>([[undefined], ['x'], [{ size: 2, mtime_ms: 1 }], [{ size: '2', mtime_ms: 1, ctime_ms: 1 }]])(
    'counts by the hash of its artifact alone with %j as the size and times of the artifact',
    (wrong) => {
      expect(parseReceipt(fieldsOf({ artifact_file: wrong }))).toEqual({ ...GREEN, artifactTimes: undefined })
    },
  )

  it('counts with as many files as it may be bound to, and without what says nothing of the result', () => {
    const files = boundFiles(MAX_BOUND_FILES)
    expect(parseReceipt(fieldsOf({ files }))?.files).toHaveLength(MAX_BOUND_FILES)
    const wrong = { run: 3, seconds: '2', output: 4, files: {} }
    const read = { ...GREEN, runId: undefined, durationMs: 0, output: '', files: [] }
    expect(parseReceipt(fieldsOf(wrong))).toEqual(read)
  })
})

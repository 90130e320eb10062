import { describe, expect, it } from 'vitest'
import { type MarkerFacts, type MarkerKind, VERDICT_TEXT } from '../../src/views/verdict-messages.ts'
import { itSays } from './sentences.ts'

const FACTS: MarkerFacts = {
  ...{ blocked: null, waitsFor: undefined, problem: undefined, checks: [], failed: undefined, steps: [] },
}

describe('the sentence of a marker', () => {
  it.each<[MarkerKind, Partial<MarkerFacts>, string]>([
    ['pending', { blocked: 0 }, 'Task 7: its postflight is still pending.'],
    ['pending', { blocked: 1 }, 'Task 7: its postflight is still pending after 1 blocked stop.'],
    ['waiting', { waitsFor: 'the\nuser' }, 'Task 7: its postflight is still pending: the agent waits for the user.'],
    ['bypassed', {}, 'Task 7: its marker was bypassed, and no agent has stopped since.'],
    ['expired', {}, 'Task 7: its marker names no host session and is older than 24 h, so it blocks no stop.'],
    ['unreadable', { problem: 'cannot be read (a folder)' }, 'Task 7: its marker cannot be read (a folder).'],
    [
      'abandoned',
      { blocked: 3, failed: { run: 'npm test', failure: 'exit code 1' }, steps: ['a'] },
      'Task 7: the agent gave up after 3 blocked stops. Check "npm test" failed (exit 1). Not ticked: "a".',
    ],
    [
      'unchecked',
      { checks: ['npm\ntest', 'true'] },
      'Task 7: its marker ended without its checks ("npm test", "true").',
    ],
    ['unchecked', {}, 'Task 7: its marker ended without its checks.'],
  ])('%s %j', (kind, facts, sentence) => {
    expect(VERDICT_TEXT.marker('007_x', kind, { ...FACTS, ...facts })).toBe(sentence)
  })
})

describe('the sentences of the verdict', () => {
  const { marker: _, ...others } = VERDICT_TEXT
  itSays(others, {
    task: [
      ['.', 'specs/'],
      ['259_x', 'Task 259'],
      ['my\nnotes', 'Task "my notes"'],
    ],
    failedCheck: [['a\nb', 'killed by SIGKILL', 'Check "a b" failed (killed by SIGKILL).']],
    removed: [
      ['7_x', [], 'Task 7: its marker was removed by hand, not cleared.'],
      [
        '7_x',
        ['npm test'],
        'Task 7: its marker was removed by hand, not cleared, and its checks have not passed since ("npm test").',
      ],
    ],
    fileGone: [
      ['7_x', 'abandoned', [], 'Task 7: the agent gave up, and the abandoned marker was removed by hand.'],
      [
        '7_x',
        'unchecked',
        ['npm test'],
        'Task 7: its marker ended without its checks, and the abandoned marker was removed by hand. Its checks have not passed since ("npm test").',
      ],
    ],
    run: [
      ['7_x', 'stalled', 'flow', 'plan.md is missing', 'Task 7: its workflow "flow" stalled (plan.md is missing).'],
      ['7_x', 'skipped', 'fl\now', undefined, 'Task 7: its workflow "fl ow" was completed with skips.'],
    ],
    runWaits: [['7_x', 'flow', 'waits for approval', 'Task 7: its workflow "flow" waits for approval.']],
    problem: [
      [null, 'specs/x cannot be read', 'specs/x cannot be read.'],
      ['7_x', 'the state is broken.', 'Task 7: the state is broken.'],
    ],
    expected: [
      ['007', { kind: 'not-made' }, undefined, '/p', 'Task 7: no marker was made, and no workflow completed, in /p.'],
      [
        '7_x',
        { kind: 'not-made' },
        's\n1',
        '/p',
        'Task "7_x": no marker was made by session s 1, and no workflow completed, in /p.',
      ],
      ['7', { kind: 'not-cleared' }, 's1', '/p', 'Task 7: its marker was not cleared.'],
      [
        '7',
        { kind: 'not-checked', checks: ['npm\ntest'] },
        undefined,
        '/p',
        'Task 7: its marker was cleared, but without its checks ("npm test").',
      ],
    ],
  })
})

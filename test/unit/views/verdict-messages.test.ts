import { describe, expect, it } from 'vitest'
import { type MarkerFacts, type MarkerKind, VERDICT_TEXT } from '../../../src/views/status-messages.ts'
import { forms, itSays } from '../sentences.ts'

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
    ['unchecked', { checks: ['npm\ntest', 'ls'] }, 'Task 7: its marker ended without its checks ("npm test", "ls").'],
    ['unchecked', {}, 'Task 7: its marker ended without its checks.'],
  ])('%s %j', (kind, facts, sentence) => {
    expect(VERDICT_TEXT.marker('007_x', kind, { ...FACTS, ...facts })).toBe(sentence)
  })
})

describe('the sentences of the verdict', () => {
  const { marker: _, ...others } = VERDICT_TEXT
  itSays(others, {
    task: [['.'], ['259_x'], ['my\nnotes']],
    failedCheck: [['a\nb', 'killed by SIGKILL']],
    removed: forms(['7_x', []], ['7_x', ['npm test']]),
    fileGone: forms(['7_x', 'abandoned', []], ['7_x', 'unchecked', ['npm test']]),
    run: forms(['7_x', 'stalled', 'flow', 'plan.md is missing'], ['7_x', 'skipped', 'fl\now', undefined]),
    runWaits: [['7_x', 'flow', 'waits for approval']],
    problem: forms([null, 'specs/x cannot be read'], ['7_x', 'the state is broken.']),
    expected: forms(
      ['007', { kind: 'not-made' }, undefined, '/p'],
      ['7_x', { kind: 'not-made' }, 's\n1', '/p'],
      ['7', { kind: 'not-cleared' }, 's1', '/p'],
      ['7', { kind: 'not-checked', checks: ['npm\ntest'] }, undefined, '/p'],
    ),
  })
})

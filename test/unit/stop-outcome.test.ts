import { describe, expect, it } from 'vitest'
import type { StoredMarker } from '../../src/marker/stored-marker.ts'
import type { PlannedMarker } from '../../src/stop/plan.ts'
import type { Rule } from '../../src/stop/rules.ts'
import { predictOutcomes, recordsOf, type StopOutcome, waitEndRecord } from '../../src/stop/stop-outcome.ts'
import { marker, NOW_MS, seen, stopOf, subagentStop, taskFolder } from './builders.ts'

const FOLDER = taskFolder()
const OWN = marker({ id: 'pf_abcdefghijkl', cc_session_id: 's1' })
const PAYLOAD = subagentStop()

/** The part of a record that says whose marker it was. */
const ABOUT = { markerId: 'pf_abcdefghijkl', task: '259_prove_completeness', hostSession: 's1', agent: 'a1' }

describe('the outcome that a rule leads to', () => {
  const stored = seen({ cc_session_id: 's1' }) as StoredMarker
  const planned = (rule: Rule): PlannedMarker => {
    return { kind: 'judged', stored, rule, spent: 1, endsWait: false, checkingSinceMs: NOW_MS }
  }
  const outcomesOf = (...markers: PlannedMarker[]): StopOutcome[] => predictOutcomes({ stop: stopOf(PAYLOAD), markers })
  const { folder } = stored

  it('a block counts one more continuation', () => {
    expect(outcomesOf(planned('block'))).toEqual([
      { kind: 'blocked', folder, marker: stored.marker, count: 2, checkingSinceMs: NOW_MS },
    ])
  })

  it.each(['capped', 'bypassed', 'expired'] as const)('%s ends the marker', (rule) => {
    expect(outcomesOf(planned(rule))).toEqual([{ kind: rule, folder, marker: stored.marker }])
  })

  it.each(['other-session', 'unowned-stop', 'before-session', 'other-agent', 'background', 'waiting'] as const)(
    '%s lets the agent go',
    (rule) => {
      expect(outcomesOf(planned(rule))).toEqual([{ kind: 'let-go', folder }])
    },
  )

  it('a marker that could not be judged has failed, and all are in the order of the plan', () => {
    expect(
      outcomesOf({ kind: 'unjudged', folder: FOLDER, detail: 'EACCES' }, planned('waiting'), planned('block')),
    ).toMatchObject([{ kind: 'failed', folder: FOLDER, detail: 'EACCES' }, { kind: 'let-go' }, { kind: 'blocked' }])
  })
})

describe('the journal', () => {
  it.each<[StopOutcome, object]>([
    [
      { kind: 'blocked', folder: FOLDER, marker: OWN, count: 2, checkingSinceMs: NOW_MS },
      { event: 'block', count: 2, ...ABOUT },
    ],
    [
      { kind: 'capped', folder: FOLDER, marker: OWN },
      { event: 'cap', outcome: 'capped', count: 3, ...ABOUT },
    ],
    [
      { kind: 'bypassed', folder: FOLDER, marker: OWN },
      { event: 'bypass', outcome: 'bypassed', ...ABOUT },
    ],
    [
      { kind: 'expired', folder: FOLDER, marker: OWN },
      { event: 'expire', outcome: 'expired', ...ABOUT },
    ],
    [
      { kind: 'failed', folder: FOLDER, detail: 'EACCES' },
      { event: 'error', task: '259_prove_completeness', detail: 'EACCES' },
    ],
  ])('records what happened to a marker: $kind', (outcome, entry) => {
    expect(recordsOf([outcome], PAYLOAD)).toEqual([{ root: '/home/me/p', entry }])
  })

  it('does not record a marker that did not block, and gives each root its own entries', () => {
    const other = taskFolder('7_x', '/worktree')
    const outcomes: StopOutcome[] = [
      { kind: 'let-go', folder: FOLDER, waitsFor: 'go-ahead' },
      { kind: 'expired', folder: other, marker: OWN },
      { kind: 'expired', folder: FOLDER, marker: OWN },
    ]
    expect(recordsOf(outcomes, PAYLOAD).map(({ root, entry }) => [root, entry.task])).toEqual([
      ['/worktree', '7_x'],
      ['/home/me/p', '259_prove_completeness'],
    ])
  })

  it('has no id of a marker whose id is not one of ours', () => {
    const [record] = recordsOf([{ kind: 'expired', folder: FOLDER, marker: marker({ id: 'mine' }) }], PAYLOAD)
    expect(record?.entry.markerId).toBeUndefined()
  })

  it('says what an agent waited for when the wait ends', () => {
    expect(waitEndRecord(FOLDER, OWN, PAYLOAD, 'go-ahead')).toEqual({
      root: '/home/me/p',
      entry: { event: 'wait-end', detail: 'go-ahead', ...ABOUT },
    })
  })
})

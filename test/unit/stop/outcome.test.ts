import { describe, expect, it } from 'vitest'
import type { StoredMarker } from '../../../src/marker/stored-marker.ts'
import {
  type PlannedMarker,
  predictOutcomes,
  recordsOf,
  type StopOutcome,
  waitEndRecord,
} from '../../../src/stop/plan.ts'
import type { Rule } from '../../../src/stop/rules.ts'
import { seen, subagentStop, taskFolder } from '../builders.ts'

const FOLDER = taskFolder()
const OWN = seen({ id: 'pf_abcdefghijkl', cc_session_id: 's1' }) as StoredMarker
const PAYLOAD = subagentStop()

/** The part of a record that says whose marker it was. */
const ABOUT = { markerId: 'pf_abcdefghijkl', task: '259_prove_completeness', hostSession: 's1', agent: 'a1' }

describe('the outcome that a rule leads to', () => {
  const stored = seen({ cc_session_id: 's1' }) as StoredMarker
  const planned = (rule: Rule): PlannedMarker => {
    return { kind: 'judged', stored, rule, spent: 1, endsWait: false }
  }
  const outcomesOf = (...markers: PlannedMarker[]): StopOutcome[] => predictOutcomes(markers)

  it('a block counts one more continuation', () => {
    expect(outcomesOf(planned('block'))).toEqual([{ kind: 'blocked', stored, count: 2 }])
  })

  it.each(['capped', 'bypassed', 'expired'] as const)('%s ends the marker', (rule) => {
    expect(outcomesOf(planned(rule))).toEqual([{ kind: rule, stored }])
  })

  it.each(['other-session', 'unowned-stop', 'before-session', 'other-agent', 'background', 'waiting'] as const)(
    '%s lets the agent go',
    (rule) => {
      expect(outcomesOf(planned(rule))).toEqual([{ kind: 'let-go', folder: stored.folder }])
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
      { kind: 'blocked', stored: OWN, count: 2 },
      { event: 'block', count: 2, ...ABOUT },
    ],
    [
      { kind: 'capped', stored: OWN },
      { event: 'cap', outcome: 'capped', count: 3, ...ABOUT },
    ],
    [
      { kind: 'bypassed', stored: OWN },
      { event: 'bypass', outcome: 'bypassed', ...ABOUT },
    ],
    [
      { kind: 'expired', stored: OWN },
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
      { kind: 'expired', stored: { ...OWN, folder: other } },
      { kind: 'expired', stored: OWN },
    ]
    expect(recordsOf(outcomes, PAYLOAD).map(({ root, entry }) => [root, entry.task])).toEqual([
      ['/worktree', '7_x'],
      ['/home/me/p', '259_prove_completeness'],
    ])
  })

  it('has no id of a marker whose id is not one of ours', () => {
    const [record] = recordsOf([{ kind: 'expired', stored: seen({ id: 'mine' }) as StoredMarker }], PAYLOAD)
    expect(record?.entry.markerId).toBeUndefined()
  })

  it('says what an agent waited for when the wait ends', () => {
    expect(waitEndRecord(FOLDER, OWN.marker, PAYLOAD, 'go-ahead')).toEqual({
      root: '/home/me/p',
      entry: { event: 'wait-end', detail: 'go-ahead', ...ABOUT },
    })
  })
})

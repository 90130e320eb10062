import { describe, expect, it } from 'vitest'
import { definitionSize, type ListedSteps, promptBound, runBound } from '../../../src/run/definition/bound.ts'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import { haltState, resumeState } from '../../../src/run/machine/steering.ts'
import { begin, DONE, NO_SESSIONS, NOW, PASSED, played, seeing } from './builders.ts'

/** The bound of a run on the way. In each visit three prompts may go out again. */

/** Lists that all have `count` steps. */
const listing =
  (count: number | undefined): ListedSteps =>
  () =>
    count
const CHECKLIST = { id: 'work', steps: { from: 'tasks.md', checklist: true }, step_prompt: '{{step}}' }
const JUDGED = { pass: 'last', fail: 'work', verdict: '/ok' }
const REVIEW = { id: 'review', prompt: 'p', artifact: 'review.json', max_attempts: 2, next: JUDGED }
const LAST = { id: 'last', prompt: 'p', artifact: 'last.txt', max_attempts: 1 }
const LOOP = [{ ...CHECKLIST, max_visits: 2 }, { ...REVIEW, max_visits: 2 }, LAST]
const VISIT_OF_REVIEW = 2 + 3
const VISIT_OF_LAST = 1 + 3

describe('the bound of a run', () => {
  it('counts the list that exists, and 1,000 steps without one', () => {
    const state = begin(CHECKLIST)
    expect([6, 0, undefined].map((count) => runBound(state, listing(count)))).toEqual([
      6 * 3 + 3,
      // A checklist without open tasks may have one step: the reason why its phase was entered.
      1 * 3 + 3,
      1000 * 3 + 3,
    ])
    expect([6, 1, 0, undefined].map((count) => definitionSize(state.definition, 9, listing(count)))).toEqual([
      '1 phase, 6 steps, at most 9 prompts',
      '1 phase, 1 step, at most 9 prompts',
      '1 phase, at most 9 prompts',
      '1 phase, at most 9 prompts (steps not known yet count as 1000)',
    ])
    const mixed = begin({ id: 'a', steps: ['x', 'y'] }, CHECKLIST, LAST)
    expect(definitionSize(mixed.definition, 1, listing(3))).toBe('3 phases, 5 steps, at most 1 prompt')
    const taking = { id: 'a', steps: { from: 'a.json', pointer: '' }, step_prompt: 'p' }
    expect(promptBound(begin(taking).definition, listing(0))).toBe(3)
  })

  it('stays with the steps that the visit has taken, whatever the file says later', () => {
    const steps = ['one', 'two'].map((text, item) => ({ text, item }))
    const known = played(begin(CHECKLIST), { steps: { kind: 'list', steps } })
    const done = played(known, {}, { stepResults: [DONE] })
    expect([known, done].map((state) => runBound(state, listing(1)))).toEqual([2 * 3 + 3, 1 + 3 + 3])
  })

  it('counts the visits that can still follow, and no phase that cannot be reached any more', () => {
    const start = begin(...LOOP)
    const work = 4 * 3 + 3
    expect(runBound(start, listing(4))).toBe(2 * work + 2 * VISIT_OF_REVIEW + VISIT_OF_LAST)
    expect(runBound(start, listing(4))).toBe(promptBound(start.definition, listing(4)))
    const none = { steps: { kind: 'list', steps: [] } } as const
    const review = played(start, none, {})
    expect(runBound(review, listing(0))).toBe(2 * VISIT_OF_REVIEW + (3 + 3) + VISIT_OF_LAST)
    const last = played(review, PASSED)
    expect([last.phase, runBound(last, listing(undefined))]).toEqual(['last', VISIT_OF_LAST])
  })

  it('grows with the visits that a resume grants, stays within the budget, and is over with the run', () => {
    const last = begin(...LOOP)
    const failed: WorkflowState = { ...haltState(last, 'why', NOW), outcome: 'failed', visits: { work: 2 } }
    const resumed = resumeState(failed, NO_SESSIONS, seeing())
    const granted = 2 * (4 * 3 + 3) + 3 * VISIT_OF_REVIEW + 2 * VISIT_OF_LAST
    expect([failed, resumed].map((state) => runBound(state, listing(4)))).toEqual([undefined, granted])
    const budgeted = { ...resumed, definition: { ...resumed.definition, maxPrompts: 7 } }
    expect(runBound(budgeted, listing(4))).toBe(7)
  })
})

import { describe, expect, it } from 'vitest'
import { visitPutAside } from '../../src/core/workflow/approval.ts'
import { archivedName, archivePlace } from '../../src/core/workflow/archive.ts'
import { abortState, haltState, promptAgain, resumeState } from '../../src/core/workflow/control.ts'
import { findPhase } from '../../src/core/workflow/definition.ts'
import { advance } from '../../src/core/workflow/machine.ts'
import type { Observation, StepResultSeen } from '../../src/core/workflow/observation.ts'
import { duePrompt } from '../../src/core/workflow/prompt.ts'
import type { WorkflowState } from '../../src/core/workflow/state.ts'
import { formatState, isState, parseState } from '../../src/core/workflow/state-file.ts'
import {
  approveState,
  enterFrom,
  isApprovalDue,
  rejectState,
  retryStep,
  skipStep,
} from '../../src/core/workflow/steering.ts'
import { begin, NO_SESSIONS, NOW, seeing } from './workflow-builders.ts'

/** The commands of a person to a run. */

const MADE: Partial<Observation> = { artifact: { kind: 'valid' } }
const DONE: StepResultSeen = { kind: 'result', success: true, archived: false }
const PLAN = { id: 'plan', prompt: 'p', artifact: 'docs/plan.md', approve: true, max_attempts: 2 }
const NEXT = { id: 'next', prompt: 'p', artifact: 'n.md' }
const WORK = { id: 'work', steps: ['s1', 's2', 's3'], max_step_attempts: 1 }

const played = (start: WorkflowState, ...seen: Partial<Observation>[]): WorkflowState =>
  seen.reduce((state, one) => advance(state, seeing(one)).state, start)

/** The changed state. @throws if the step was refused. */
function steered(result: ReturnType<typeof skipStep>): WorkflowState {
  if ('refusal' in result) throw new Error(result.refusal)
  return result.state
}

describe('a rejection', () => {
  const asking = played(begin(PLAN, NEXT), {}, MADE)

  it('is an attempt, whose artifact is put aside under this visit, and the next prompt says why', () => {
    expect([isApprovalDue(asking), isApprovalDue(begin(PLAN))]).toEqual([true, false])
    const rejected = rejectState(asking, 'too long', NOW + 5000)
    expect(rejected).toMatchObject({
      phaseAttempts: 1,
      clearing: true,
      approval: { standing: 'rejected', note: 'too long' },
    })
    expect(rejected.clockSinceMs).toBe(NOW + 5000)
    expect(visitPutAside(rejected)).toBe(1)
    const cleared = advance(rejected, seeing(MADE))
    expect(cleared.effects).toEqual([{ kind: 'archive-artifact', phase: 'plan', visit: 1, artifact: 'docs/plan.md' }])
    const asked = advance(cleared.state, seeing({ previousArtifact: 'artifacts/plan/1-plan.md' })).state
    expect(asked).toMatchObject({ prompted: true, approval: undefined, previousArtifact: 'artifacts/plan/1-plan.md' })
    expect(asked.lastFailure).toContain('too long')
    expect(asked.history.map(({ event }) => event).slice(-4)).toEqual(['prompt', 'approval', 'rejected', 'prompt'])
  })

  it('of the last attempt stalls the run; a stopped run stays stopped', () => {
    const again = played(rejectState(asking, 'too long', NOW), MADE, {}, MADE)
    expect(again.approval).toMatchObject({ standing: 'asked' })
    const spent = rejectState(again, 'still too long', NOW)
    expect(spent).toMatchObject({ outcome: 'stalled', why: expect.stringContaining('still too long') })
    // A resumed run has attempts again.
    expect(played(resumeState(spent, NO_SESSIONS, seeing()), {}, {})).toMatchObject({
      prompted: true,
      maxPhaseAttempts: 4,
    })
    const halted = haltState(again, 'why', NOW)
    expect(isApprovalDue(halted)).toBe(true)
    expect(rejectState(halted, 'no', NOW)).toMatchObject({ outcome: 'stopped', clockSinceMs: undefined })
    expect(isApprovalDue(abortState(again, NOW))).toBe(false)
  })

  it("is not in the next phase's prompt, but the note of an approval is", () => {
    const next = played(approveState(asking, 'use the table', NOW), MADE)
    expect(next).toMatchObject({ phase: 'next', ledBy: { phase: 'plan', reason: 'use the table' } })
    const noted = { event: 'approved', phase: 'plan', visit: 1, attempt: 1 }
    expect(next.history.find(({ event }) => event === 'approved')).toEqual({
      ...{ n: 5, timeMs: NOW, ...noted, detail: 'use the table' },
    })
    const silent = approveState(asking, undefined, NOW + 5)
    expect(silent.history.at(-1)).toEqual({ n: 5, timeMs: NOW + 5, ...noted })
    expect(silent).toMatchObject({ clockSinceMs: NOW + 5, approval: { standing: 'approved' } })
    expect(isApprovalDue(silent)).toBe(false)
  })
})

describe('a step', () => {
  const first = played(begin(WORK), {}, {})

  it('that is in progress is skipped at once, and the next one goes out', () => {
    const skipped = steered(skipStep(first, 0, NOW))
    expect(skipped).toMatchObject({ prompted: false, inWork: [], skips: 1, phaseSkips: 1 })
    expect(skipped.endedSteps).toEqual([{ step: 0, attempts: 0, outcome: 'skipped' }])
    expect(skipped.history.at(-1)).toEqual({
      ...{ n: skipped.sequence, timeMs: NOW, event: 'step-skipped', phase: 'work', visit: 1, step: 1, attempt: 1 },
      detail: 'skipped by a person',
    })
    expect(played(skipped, {}).inWork).toMatchObject([{ step: 1, out: true }])
    expect(steered(skipStep(skipped, 0, NOW))).toBe(skipped)
  })

  it('that has not begun is passed over', () => {
    const skipped = steered(skipStep(first, 1, NOW))
    const second = played(skipped, { stepResults: [DONE] }, {})
    expect(second.inWork).toMatchObject([{ step: 2 }])
  })

  it.each([
    ['of a phase without steps', begin(NEXT), 0, 'no-steps'],
    ['that the phase does not have', first, 3, 'unknown'],
    ['before the first', first, -1, 'unknown'],
    ['that is done', played(first, { stepResults: [DONE] }), 0, 'done'],
  ] as const)('%s is neither skipped nor retried', (_what, state, step, refusal) => {
    expect(skipStep(state, step, NOW)).toEqual({ refusal })
    expect(retryStep(state, step, NOW)).toEqual({ refusal })
  })

  it('that was given up is retried: its attempts go on, and its gap is closed', () => {
    const gap = played(first, {}, {})
    expect(gap).toMatchObject({ skips: 1, endedSteps: [{ step: 0, outcome: 'skipped', attempts: 1 }] })
    const again = steered(retryStep(gap, 0, NOW))
    expect(again).toMatchObject({ skips: 0, phaseSkips: 0, endedSteps: [] })
    expect(again.inWork).toMatchObject([
      { step: 0, attempts: 1, maxAttempts: 2, out: false },
      { step: 1, attempts: 0 },
    ])
    expect(again.history.at(-1)).toMatchObject({ event: 'step-again', step: 1, attempt: 2 })
    // The phase has one step at a time, so the other one waits.
    expect(played(promptAgain(again), {}).inWork).toMatchObject([
      { step: 0, out: true },
      { step: 1, out: false },
    ])
    expect(retryStep(again, 0, NOW)).toEqual({ refusal: 'not-ended' })
    expect(retryStep(first, 2, NOW)).toEqual({ refusal: 'not-ended' })
    expect(retryStep(first, 0, NOW)).toEqual({ refusal: 'not-ended' })
    // A state that was edited by hand has no skips to take back.
    expect(steered(retryStep({ ...gap, skips: 0, phaseSkips: 0 }, 0, NOW))).toMatchObject({ skips: 0, phaseSkips: 0 })
    const read = parseState(formatState(again))
    expect(isState(read) && read.inWork).toEqual(again.inWork)
  })

  it('that ended the run is retried with new attempts', () => {
    const ended = played(begin({ ...WORK, on_exhausted: 'stop' }), {}, {}, {})
    expect(ended).toMatchObject({ outcome: 'failed', inWork: [{ step: 0, attempts: 1, maxAttempts: 1 }] })
    expect(steered(retryStep(ended, 0, NOW)).inWork).toMatchObject([{ step: 0, attempts: 1, maxAttempts: 2 }])
  })
})

it('a run that goes on from a phase enters it again, once more than its limit', () => {
  const later = played(begin({ ...NEXT, id: 'first', artifact: 'f.md' }, NEXT), MADE)
  const first = findPhase(later.definition, 'first')
  if (first === undefined) throw new Error('no phase')
  const entered = enterFrom(later, first, NOW)
  expect(entered).toMatchObject({ phase: 'first', clearing: true, visits: { first: 2, next: 1 }, visitsGranted: 1 })
  // The state file keeps the granted attempts and visits.
  expect(parseState(formatState(entered))).toMatchObject({ visitsGranted: 1 })
  expect(played(entered, {}, MADE)).toMatchObject({ phase: 'next', visits: { next: 2 } })
  // No phase led there, so the prompt names none.
  const { prompt } = duePrompt(played(entered, {}, {}), { task: '7', folder: '/f' })
  expect(prompt).toMatch(/^Workflow "flow", task 7: phase "first", attempt 1 of 3\.\n\np\n\nWrite the result/)
})

it.each([
  [
    { kind: 'archive-step', phase: 'a', visit: 1, file: 'step-result.json', name: '1-1.json' },
    'step-results/a/1-1.json',
  ],
  [{ kind: 'archive-step', phase: 'a', visit: 3, file: 'x', name: '1-1.json' }, 'step-results/a/visit-3/1-1.json'],
  [{ kind: 'archive-artifact', phase: 'a', visit: 2, artifact: 'docs/x.md' }, 'artifacts/a/2-x.md'],
  [{ kind: 'archive-artifact', phase: 'a', visit: 2, artifact: 'x.md' }, 'artifacts/a/2-x.md'],
] as const)('%j moves its file to %s', (effect, place) => {
  const { folder, name } = archivePlace(effect)
  expect(`${folder}/${name}`).toBe(place)
  expect(archivedName(1, 'a/b/c.txt')).toBe('1-c.txt')
})

it('a done step of a checklist is ticked, before the state that follows', () => {
  const item = { text: 'do it', item: 4 }
  const tasks = begin({ id: 'a', steps: { from: 'tasks.md', checklist: true } })
  const out = played(tasks, { steps: { kind: 'list', steps: [item] } }, {})
  const { effects } = advance(out, seeing({ stepResults: [DONE] }))
  expect(effects).toMatchObject([{ kind: 'archive-step' }, { kind: 'tick', artifact: 'tasks.md', item }])
  const failed = advance(out, seeing({ stepResults: [{ ...DONE, success: false }] }))
  expect(failed.effects.map(({ kind }) => kind)).toEqual(['archive-step'])
  // A step of the definition that looks like one of a checklist is none.
  const listed = played(begin({ id: 'a', steps: [item] }), {}, {})
  expect(advance(listed, seeing({ stepResults: [DONE] })).effects.map(({ kind }) => kind)).toEqual(['archive-step'])
})

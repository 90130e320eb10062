import { describe, expect, it } from 'vitest'
import { findPhase } from '../../../src/run/definition/definition.ts'
import { MAX_STEP_LENGTH } from '../../../src/run/definition/steps.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import { isArchivedName, stepFolder } from '../../../src/run/machine/observation.ts'
import { phaseStatuses } from '../../../src/run/machine/picture.ts'
import {
  currentPhase,
  currentWork,
  isFromBefore,
  needsApproval,
  visitPutAside,
  withBatch,
} from '../../../src/run/machine/position.ts'
import { duePrompt } from '../../../src/run/machine/prompt.ts'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import { formatState, isState, parseState } from '../../../src/run/machine/state-file.ts'
import {
  abortState,
  approveState,
  enterFrom,
  haltState,
  isApprovalDue,
  promptAgain,
  rejectState,
  resumeState,
  retryStep,
  returnState,
  skipStep,
} from '../../../src/run/machine/steering.ts'
import {
  begin,
  DONE,
  FAILED,
  MADE,
  NO_SESSIONS,
  NOT_DONE,
  NOW,
  PASSED,
  PLACE,
  played,
  seeing,
  workOf,
} from './builders.ts'

/** The commands of a person to a run. */

const PLAN = { id: 'plan', prompt: 'p', artifact: 'docs/plan.md', approve: true, max_attempts: 2 }
const NEXT = { id: 'next', prompt: 'p', artifact: 'n.md' }
const WORK = { id: 'work', steps: ['s1', 's2', 's3'], max_step_attempts: 1 }

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
    expect(rejected).toMatchObject({ phaseAttempts: 1, stage: 'archiving-rejected', clockSinceMs: NOW + 5000 })
    expect(rejected.approval).toMatchObject({ standing: 'rejected', note: 'too long' })
    expect(visitPutAside(rejected)).toBe(1)
    const cleared = advance(rejected, seeing(MADE))
    const moved = { file: 'docs/plan.md', folder: 'artifacts/plan', name: '1-plan.md' }
    expect(cleared.effects).toEqual([{ kind: 'archive-artifact', ...moved }])
    const previousArtifact = 'artifacts/plan/1-plan.md'
    const asked = advance(cleared.state, seeing({ previousArtifact })).state
    expect(asked).toMatchObject({ stage: 'prompted', previousArtifact })
    expect(duePrompt(asked, PLACE).prompt.match(/a person rejected it: too long/g)).toHaveLength(1)
    expect(asked.history.map(({ event }) => event).slice(-4)).toEqual(['prompt', 'approval', 'rejected', 'prompt'])
  })

  it('of the last attempt stalls the run; a stopped run stays stopped', () => {
    const again = played(rejectState(asking, 'too long', NOW), MADE, {}, MADE)
    expect(again.approval).toMatchObject({ standing: 'asked' })
    const spent = rejectState(again, 'still too long', NOW)
    expect(spent).toMatchObject({
      outcome: 'stalled',
      why: '2 attempts failed, most recently: a person rejected it: still too long',
    })
    // A resumed run has attempts again.
    const resumed = played(resumeState(spent, NO_SESSIONS, seeing()), {}, {})
    expect(resumed).toMatchObject({ stage: 'prompted', maxPhaseAttempts: 4 })
    const halted = haltState(again, 'why', NOW)
    expect(isApprovalDue(halted)).toBe(true)
    expect(rejectState(halted, 'no', NOW)).toMatchObject({ outcome: 'stopped', clockSinceMs: undefined })
    expect(isApprovalDue(abortState(again, NOW))).toBe(false)
  })

  it('is in every prompt until there is another artifact, also of steps and after failed attempts', () => {
    const early = advance(begin({ ...PLAN, max_attempts: 3, steps: ['one'] }), seeing(MADE)).state
    const step = played(rejectState(early, 'too long', NOW), {}, {}, {})
    const own = played(step, { stepResults: [DONE] }, {})
    const again = played(own, {}, {})
    const prompts = [step, own, again].map((state) => duePrompt(state, PLACE))
    expect(prompts.map(({ step, attempt }) => [step, attempt])).toEqual([
      [1, 1],
      [undefined, 2],
      [undefined, 3],
    ])
    const shown = 'Problem with an earlier result: a person rejected it: too long'
    for (const { prompt } of prompts) expect(prompt.split('a person rejected it: too long')).toHaveLength(2)
    expect(prompts.map(({ prompt }) => prompt.includes(shown))).toEqual([true, true, true])
    expect(again.lastFailure).toContain('is missing')
  })

  it("is not in the next phase's prompt, but the note of an approval is, after the reason for the verdict", () => {
    const verdict = { verdict: 'fail', reason: 'no test' }
    const reviewed = { ...PLAN, next: { pass: 'end', fail: 'next', verdict: '/ok', reason: '/why' } }
    const wrong = { artifact: { kind: 'valid', ...verdict } } as const
    const sent = played(approveState(played(begin(reviewed, NEXT), wrong), 'use the table', NOW), wrong)
    expect(sent).toMatchObject({ ledBy: { ...verdict, reason: 'no test\nuse the table' } })
    const next = played(approveState(asking, 'use the table', NOW), MADE)
    expect(next).toMatchObject({ phase: 'next', ledBy: { phase: 'plan', reason: 'use the table' } })
    const noted = { event: 'approved', phase: 'plan', visit: 1, attempt: 1 }
    const entry = next.history.find(({ event }) => event === 'approved')
    expect(entry).toEqual({ n: 5, timeMs: NOW, ...noted, detail: 'use the table' })
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
    expect(skipped).toMatchObject({ stage: 'between-prompts', inWork: [], skips: 1, phaseSkips: 1 })
    expect(skipped.endedSteps).toEqual([{ step: 0, attempts: 0, outcome: 'skipped' }])
    const entry = { n: skipped.sequence, timeMs: NOW, event: 'step-skipped', phase: 'work', visit: 1 }
    expect(skipped.history.at(-1)).toEqual({ ...entry, step: 1, attempt: 1, detail: 'skipped by a person' })
    expect(workOf(played(skipped, {}))).toEqual(['2: 0 *'])
    expect(steered(skipStep(skipped, 0, NOW))).toBe(skipped)
    expect(steered(skipStep(played(first, { stepResults: [DONE] }), 1, NOW)).endedSteps).toHaveLength(2)
    const limited = { ...played(begin({ ...WORK, max_skips: 1 }), {}), phaseSkips: 1 }
    for (const state of [limited, { ...first, phaseSkips: 2 }])
      expect(skipStep(state, 0, NOW)).toEqual({ refusal: 'too-many' })
  })

  it('is skipped with its attempts, whether it is in progress or not', () => {
    const failed = { step: 1, attempts: 1, maxAttempts: 2, out: false, failure: 'x' }
    const state = { ...first, inWork: [...first.inWork, failed], lastFailure: 'x' }
    const skipped = [1, 2].map((step) => steered(skipStep(state, step, NOW)))
    const ended = (step: number) => [{ step, attempts: 2 - step, outcome: 'skipped' }]
    expect(skipped[0]).toMatchObject({ endedSteps: ended(1), lastFailure: undefined })
    expect(skipped[1]).toMatchObject({ endedSteps: ended(2), lastFailure: 'x' })
    expect(steered(skipStep({ ...state, lastFailure: 'y' }, 1, NOW)).lastFailure).toBe('y')
    expect(duePrompt(state, PLACE)).toMatchObject({ step: 1, batch: undefined })
    expect(currentWork({ ...first, inWork: [failed] })).toMatchObject({ step: 0, attempts: 0 })
    const parallel = { ...played(begin({ ...WORK, parallel: 3 }), {}), inWork: [failed] }
    expect(workOf(withBatch(parallel, currentPhase(parallel)))).toEqual(['1: 0', '2: 1', '3: 0'])
    const counts = [
      [0, 0],
      [1, 0],
      [0, 1],
    ] as const
    const fromBefore = counts.map(([phaseAttempts, totalSteps]) =>
      isFromBefore({ ...first, phaseAttempts, totalSteps }),
    )
    expect(fromBefore).toEqual([true, false, false])
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

  it('that was given up is retried: its attempts continue, and its gap is closed', () => {
    const gap = played(first, {}, {})
    expect(gap).toMatchObject({ skips: 1, endedSteps: [{ step: 0, outcome: 'skipped', attempts: 1 }] })
    const again = steered(retryStep(gap, 0, NOW))
    expect(again).toMatchObject({ skips: 0, phaseSkips: 0, endedSteps: [] })
    expect(workOf(again)).toEqual(['1: 1', '2: 0 *'])
    expect(again.inWork[0]).toMatchObject({ maxAttempts: 2 })
    expect(again.history.at(-1)).toMatchObject({ event: 'step-again', step: 1, attempt: 2 })
    expect(workOf(played(promptAgain(again), {}))).toEqual(['1: 1 *', '2: 0'])
    const spent = {
      ...again,
      inWork: [...first.inWork, { step: 1, attempts: 2, maxAttempts: 2, out: false, failure: '' }],
    }
    const refused = [
      retryStep(again, 0, NOW),
      retryStep(first, 2, NOW),
      retryStep(first, 0, NOW),
      retryStep(spent, 0, NOW),
    ]
    expect(refused).toEqual(Array(4).fill({ refusal: 'not-ended' }))
    // A state that was edited by hand has no skips to take back.
    expect(steered(retryStep({ ...gap, skips: 0, phaseSkips: 0 }, 0, NOW))).toMatchObject({ skips: 0, phaseSkips: 0 })
    const read = parseState(formatState(again))
    expect(isState(read) && read.inWork).toEqual(again.inWork)
  })

  it('that is retried while a person is to approve the phase comes before the approval', () => {
    const two = begin({ ...PLAN, ...WORK, steps: ['s1', 's2'] })
    const asking = played(two, {}, {}, {}, {}, { stepResults: [DONE] }, MADE)
    expect(needsApproval(asking)).toBe(true)
    const again = steered(retryStep(asking, 0, NOW + 5))
    expect([isApprovalDue(again), again.clockSinceMs]).toEqual([false, NOW + 5])
    expect(workOf(played(again, MADE))).toEqual(['1: 1 *'])
    expect(needsApproval(played(again, MADE, { ...MADE, stepResults: [DONE] }, MADE))).toBe(true)
    expect(steered(retryStep(haltState(asking, 'why', NOW), 0, NOW)).clockSinceMs).toBe(undefined)
  })

  it('that ended the run is retried with new attempts', () => {
    const ended = played(begin({ ...WORK, on_exhausted: 'stop' }), {}, {}, {})
    expect(ended).toMatchObject({ outcome: 'failed', inWork: [{ step: 0, attempts: 1, maxAttempts: 1 }] })
    expect(steered(retryStep(ended, 0, NOW)).inWork).toMatchObject([{ step: 0, attempts: 1, maxAttempts: 2 }])
  })
})

/** The state after `resume --from`, or why it was refused. */
function wentFrom(state: WorkflowState, id: string): ReturnType<typeof enterFrom> {
  const phase = findPhase(state.definition, id)
  if (phase === undefined) throw new Error('no phase')
  return enterFrom(state, phase, NOW)
}

/** The state after `resume --from`. @throws if it was refused. */
function entered(state: WorkflowState, id: string): WorkflowState {
  const result = wentFrom(state, id)
  if ('refusal' in result) throw new Error(JSON.stringify(result.refusal))
  return result.state
}

describe('a run that continues from another phase', () => {
  const phase = (id: string, more: object = {}): object => ({ id, prompt: 'p', artifact: `${id}.json`, ...more })
  const BUG = { artifact: { kind: 'valid', verdict: 'bug' } } as const

  it('is refused in a phase that was never entered', () => {
    const state = played(begin(phase('a'), phase('b'), phase('c')), MADE)
    expect(wentFrom(state, 'c')).toEqual({ refusal: { kind: 'not-entered' } })
    expect(entered(state, 'b')).toMatchObject({ phase: 'b', skips: 0, unfinished: {} })
  })

  it('counts the unfinished phases that it passes over, until they are entered again', () => {
    const back = entered(played(begin(phase('a'), phase('b'), phase('c')), MADE, MADE), 'a')
    expect(back).toMatchObject({ phase: 'a', skips: 0, unfinished: { c: 'open' } })
    expect(phaseStatuses(back)).toEqual(['running', 'waiting', 'waiting'])
    const on = entered(back, 'c')
    expect(on).toMatchObject({ phase: 'c', skips: 2, unfinished: { a: 'skipped', b: 'skipped' } })
    expect(phaseStatuses(on)).toEqual(['skipped', 'skipped', 'running'])
    expect(on.history.slice(-3)).toMatchObject([
      { event: 'phase-skipped', phase: 'a', visit: 2, detail: 'resume --from c' },
      { event: 'phase-skipped', phase: 'b', visit: 1 },
      { event: 'enter', phase: 'c', visit: 2 },
    ])
    expect(parseState(formatState(on))).toMatchObject({ skips: 2, unfinished: { a: 'skipped', b: 'skipped' } })
    expect(played(on, {}, {}, MADE)).toMatchObject({ outcome: 'completed', skips: 2 })
    const again = entered(on, 'a')
    expect(again).toMatchObject({ skips: 1, unfinished: { b: 'skipped', c: 'open' } })
    expect(played(again, {}, {}, MADE)).toMatchObject({ phase: 'b', skips: 0 })
  })

  it('shows a phase as done whatever its name', () => {
    expect(phaseStatuses(played(begin(phase('constructor'), phase('b')), MADE))).toEqual(['done', 'running'])
  })

  it('shows a phase as done unless every way leads through it again', () => {
    const triage = phase('a', { next: { verdict: '/kind', cases: { bug: 'b', idea: 'c' } } })
    const fixing = phase('b', { next: { pass: 'd', fail: 'end', verdict: '/ok' } })
    const state = { ...begin(triage, fixing, phase('c'), phase('d')), visits: { a: 2, b: 1, c: 1, d: 1 } }
    expect(phaseStatuses(state)).toEqual(['running', 'done', 'done', 'waiting'])
    const moved = { ...returnState(state, 'back', NOW), active: false }
    expect(moved).toMatchObject({
      outcome: 'stopped',
      why: 'back',
      history: [{}, {}, { event: 'end', detail: 'back' }],
    })
    expect(phaseStatuses({ ...moved, outcome: 'moved' })[0]).toBe('waiting')
  })

  it('counts no phase that will certainly be done again, in a loop too', () => {
    const to = (pass: string, fail: string) => ({ next: { pass, fail, verdict: '/ok' } })
    const judging = played(begin(phase('a'), phase('b', to('end', 'a'))), MADE)
    expect(entered(judging, 'a')).toMatchObject({ phase: 'a', skips: 0 })
    // Its pass ends the run, so what the loop was to repair is passed over.
    const mending = [phase('a'), phase('b', to('end', 'c')), phase('c', { next: 'b' })]
    expect(entered(played(begin(...mending), MADE, FAILED), 'b')).toMatchObject({ phase: 'b', skips: 1 })
  })

  it('counts no phase if it goes back to decide anew', () => {
    const triage = phase('a', { next: { verdict: '/kind', cases: { bug: 'b', idea: 'c', done: 'end' } } })
    const fixing = played(begin(triage, phase('b', { next: 'end' }), phase('c')), BUG)
    expect(entered(fixing, 'a')).toMatchObject({ skips: 0, unfinished: { b: 'open' } })
  })

  it('is refused where one of the ways leads over an approval', () => {
    const triage = phase('a', { next: { verdict: '/kind', cases: { bug: 'b', done: 'c' } } })
    const again = { ...begin(triage, phase('b', { approve: true }), phase('c')), visits: { a: 1, c: 1 } }
    expect(wentFrom(again, 'c')).toEqual({ refusal: { kind: 'approval', phase: 'b' } })
  })

  it.each(['a', 'b'])('is refused where it would pass over an approval, at %s', (at) => {
    const steps = [phase('a'), phase('b', { approve: true }), phase('c')]
    const approvedOnce = played(approveState(played(begin(...steps), MADE, MADE), undefined, NOW), MADE)
    expect(approvedOnce.phase).toBe('c')
    const back = entered(approvedOnce, at)
    expect(wentFrom(back, 'c')).toEqual({ refusal: { kind: 'approval', phase: 'b' } })
    const asking = played(entered(back, 'b'), {}, {}, MADE)
    expect(needsApproval(asking)).toBe(true)
    expect(wentFrom(asking, 'c')).toEqual({ refusal: { kind: 'approval', phase: 'b' } })
    // It will be asked for again.
    expect(entered(asking, 'a')).toMatchObject({ phase: 'a', approval: undefined })
  })

  it('is refused if it would leave an approval that is asked for, and another way leads to the end', () => {
    const triage = phase('a', { next: { verdict: '/kind', cases: { bug: 'b', done: 'end' } } })
    const working = played(begin(triage, phase('b', { approve: true })), BUG)
    expect(entered(working, 'a').phase).toBe('a')
    const asking = played(working, MADE)
    expect(wentFrom(asking, 'a')).toEqual({ refusal: { kind: 'approval', phase: 'b' } })
  })

  const BY_FAIL = { next: { pass: 'spec', fail: 'fix', verdict: '/ok' } }
  const SPEC = phase('spec', { approve: true, next: 'build' })
  const FIX = phase('fix', { next: 'build' })
  const BUILD = phase('build', { next: 'end' })

  it.each([
    ['after it', [SPEC, BUILD, FIX]],
    ['before it', [FIX, SPEC, BUILD]],
  ])('is refused beside an approval, to a phase that only a failing verdict leads to: %s', (_where, rest) => {
    const back = entered(played(begin(phase('a', BY_FAIL), ...rest), FAILED), 'a')
    expect(entered(back, 'fix')).toMatchObject({ skips: 1, unfinished: { a: 'skipped' } })
    const specifying = played(back, {}, {}, PASSED)
    expect(specifying).toMatchObject({ phase: 'spec', approval: undefined })
    const refusal = { kind: 'approval', phase: 'spec' }
    expect(wentFrom(specifying, 'fix')).toEqual({ refusal })
    expect(wentFrom(rejectState(played(specifying, MADE), 'too long', NOW), 'fix')).toEqual({ refusal })
    // Nor by way of the phase that decides: spec stays open there.
    expect(wentFrom(entered(specifying, 'a'), 'fix')).toEqual({ refusal })
    // An approval of an earlier visit is not one of this visit.
    const building = played(approveState(played(specifying, MADE), undefined, NOW), MADE)
    expect(building.phase).toBe('build')
    expect(wentFrom(entered(building, 'spec'), 'fix')).toEqual({ refusal })
  })

  it('is refused beside a phase whose only way to the end leads through an approval', () => {
    const sign = { ...SPEC, id: 'sign', artifact: 's' }
    const start = begin(phase('a', BY_FAIL), phase('spec', { next: 'sign' }), sign, FIX, BUILD)
    const specifying = played(entered(played(start, FAILED), 'a'), {}, {}, PASSED)
    expect(specifying.phase).toBe('spec')
    expect(wentFrom(specifying, 'fix')).toEqual({ refusal: { kind: 'approval', phase: 'sign' } })
  })

  it('goes back in a loop whose failing verdict leads before an approval', () => {
    const review = phase('review', { next: { pass: 'end', fail: 'plan', verdict: '/ok' } })
    const planned = played(begin(phase('plan', { approve: true }), phase('work'), review), MADE)
    const reviewing = played(approveState(planned, undefined, NOW), MADE, MADE)
    expect(reviewing.phase).toBe('review')
    expect(entered(reviewing, 'work')).toMatchObject({ phase: 'work', skips: 0 })
  })

  it('counts a phase that is still open at the end', () => {
    const start = begin(phase('a', BY_FAIL), phase('spec', { next: 'build' }), BUILD, FIX)
    const fixing = entered(played(entered(played(start, FAILED), 'a'), {}, {}, PASSED), 'fix')
    expect(fixing).toMatchObject({ skips: 0, unfinished: { spec: 'open' } })
    const ended = played(fixing, {}, {}, MADE, {}, MADE)
    expect(ended).toMatchObject({ outcome: 'completed', skips: 1, unfinished: { spec: 'skipped' } })
    expect(ended.why).toContain('1 step or artifact was skipped')
    expect(ended.history.at(-2)).toMatchObject({ event: 'phase-skipped', phase: 'spec', visit: 1 })
    expect(phaseStatuses(ended)).toEqual(['done', 'skipped', 'done', 'done'])
  })
})

it('a run that continues from a phase enters it again, once more than its limit', () => {
  const later = played(begin({ ...NEXT, id: 'first', artifact: 'f.md' }, NEXT), MADE)
  const again = entered(later, 'first')
  expect(again).toMatchObject({ phase: 'first', stage: 'archiving', visits: { first: 2, next: 1 }, visitsGranted: 1 })
  // The state file keeps the granted attempts and visits.
  expect(parseState(formatState(again))).toMatchObject({ visitsGranted: 1 })
  expect(played(again, {}, MADE)).toMatchObject({ phase: 'next', visits: { next: 2 } })
  // A phase that has visits left is granted none.
  const often = begin({ ...NEXT, max_visits: 3 })
  expect(entered(often, 'next')).toMatchObject({ visits: { next: 2 }, visitsGranted: 0 })
  // No phase led there, so the prompt names none.
  const { prompt } = duePrompt(played(again, {}, {}), PLACE)
  expect(prompt).toMatch(/^Workflow "flow", task 7: phase "first", attempt 1 of 3\.\n\np\n\nWrite the result/)
})

it.each([
  [1, 'step-results/a'],
  [3, 'step-results/a/visit-3'],
])('the results of the steps of visit %i are moved to %s', (visit, folder) => {
  expect(stepFolder({ ...begin({ id: 'a', steps: ['x'] }), visits: { a: visit } })).toBe(folder)
})

it('a done step of a checklist is ticked, before the state that follows', () => {
  const item = { text: 'do it', item: 4 }
  const tasks = begin({ id: 'a', steps: { from: 'tasks.md', checklist: true } })
  const out = played(tasks, { steps: { kind: 'list', steps: [item] } }, {})
  const { effects } = advance(out, seeing({ stepResults: [DONE] }))
  expect(effects).toMatchObject([{ kind: 'archive-step' }, { kind: 'tick', artifact: 'tasks.md', item }])
  expect(advance(out, seeing({ stepResults: [NOT_DONE] })).effects.map(({ kind }) => kind)).toEqual(['archive-step'])
  // A step of the definition that looks like one of a checklist is none.
  const listed = played(begin({ id: 'a', steps: [item] }), {}, {})
  expect(advance(listed, seeing({ stepResults: [DONE] })).effects.map(({ kind }) => kind)).toEqual(['archive-step'])
})

it.each<[string, string, boolean]>([
  ['12-b.c.md', 'docs/b.c.md', true],
  ['2-b.c.31.md', 'docs/b.c.md', true],
  ['2-b.3.c.md', 'docs/b.c.md', false],
  ['2-b.c.x.md', 'docs/b.c.md', false],
  ['1-x.2', 'x', true],
])('the name %s is one of the archived %s: %s', (name, artifact, expected) => {
  expect(isArchivedName(name, artifact)).toBe(expected)
})

const TASKS = { from: 'tasks.md', checklist: true }
it.each<[object, Partial<NonNullable<WorkflowState['ledBy']>> | undefined, number, string[]]>([
  [TASKS, undefined, 1, []],
  [TASKS, { phase: 'r' }, 2, []],
  [TASKS, { phase: 'r', verdict: 'fail' }, 1, ['the verdict of phase "r" was "fail": find out why, and fix it']],
  [TASKS, { phase: 'r', reason: 'x' }, 1, []],
  [TASKS, { phase: 'r', reason: 'x' }, 2, ['x']],
  [TASKS, { phase: 'r', verdict: 'fail', reason: 'x'.repeat(9_999) }, 1, ['x'.repeat(MAX_STEP_LENGTH)]],
  [{ from: 's.json', pointer: '/x' }, { phase: 'r', verdict: 'fail' }, 1, []],
])('without open steps in %j a visit that %j led to, number %i, has the steps %j', (steps, led, visit, expected) => {
  const ledBy = led && { phase: 'r', verdict: undefined, reason: undefined, ...led }
  const state = { ...begin({ id: 'a', steps }), ledBy, visits: { a: visit } }
  expect(played(state, { steps: { kind: 'list', steps: [] } }).takenSteps).toEqual(expected)
})

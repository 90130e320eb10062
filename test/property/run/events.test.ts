import fc from 'fast-check'
import { expect, it } from 'vitest'
import { announcedWait, waitsLeft } from '../../../src/marker/marker-wait.ts'
import { promptBound, runBound } from '../../../src/run/definition/bound.ts'
import { afterSessionStart, judgeAgentStop } from '../../../src/run/machine/agent-stop.ts'
import { reconcile } from '../../../src/run/machine/machine.ts'
import type { Observation } from '../../../src/run/machine/observation.ts'
import { needsApproval } from '../../../src/run/machine/position.ts'
import { isPrompted, visitsOf, type WorkflowState } from '../../../src/run/machine/state.ts'
import { formatState, parseState } from '../../../src/run/machine/state-file.ts'
import {
  promptAgain,
  rejectState,
  requestStop,
  resumeState,
  retryStep,
  type Steered,
  skipStep,
} from '../../../src/run/machine/steering.ts'
import { expectReached } from '../../support/reached.ts'
import type { Agent, World } from '../../support/workflow-world.ts'
import { answer, applyTo, approved, reread, startWorld, worksSeen } from '../../support/workflow-world.ts'
import { holds } from '../arbitraries.ts'
import { anyWorld, budgetedDefinition, readyDefinition } from './arbitraries.ts'

/** Runs with any incident at any time, driven by hooks and without hooks in turn. */

const NOW = 1_700_000_000_000
const SESSIONS = { parentSession: undefined, hostSession: 'host' }

/** A world with the steps that a phase takes from an artifact. */
interface Run extends World {
  readonly taken: readonly string[] | undefined
}

const EVENTS = [
  ...(['stop', 'next', 'helper stops', 'interrupted', 'restarted', 'killed', 'killed in the turn'] as const),
  ...(['shells', 'wait', 'held'] as const),
  ...(['stray result', 'late result', 'stopped', 'rejected', 'step skipped', 'step retried', 'resumed'] as const),
]
type Event = (typeof EVENTS)[number]

type Looking = Pick<Observation, 'returned' | 'mayPrompt'> & Partial<Observation>

const NEXT: Looking = { returned: true, mayPrompt: true }
const LOOKS: Looking = { returned: false, mayPrompt: false }

class Killed extends Error {}

/** Takes a turn. `killAt`: the write at which the process is killed. */
function turn(world: Run, looking: Looking, killAt = Number.POSITIVE_INFINITY) {
  let writes = 0
  const kill = (): void => {
    if (writes++ >= killAt) throw new Killed()
  }
  const { state, command } = reconcile(world.state, {
    observe: (seen) => ({ nowMs: NOW, task: '7', ...looking, ...worksSeen(world, seen, world.taken) }),
    apply: (effect) => {
      kill()
      applyTo(world, effect)
    },
    write: (next) => {
      kill()
      world.state = reread(next)
    },
  })
  world.state = reread(state)
  return command
}

function resume(world: Run): void {
  const { artifact } = worksSeen(world, world.state, world.taken)
  world.state = reread(resumeState(world.state, SESSIONS, { nowMs: NOW, artifact }))
  turn(world, LOOKS)
  if (world.state.active && isPrompted(world.state)) world.state = reread(promptAgain(world.state))
}

function steer(world: World, steered: Steered): boolean {
  if ('refusal' in steered) return false
  world.state = reread(steered.state)
  return true
}

/** True if the run waits, or the person wrote something between its prompts. */
const isHeard = ({ wait, heardPromptId }: WorkflowState): boolean => (wait ?? heardPromptId) !== undefined

/** Lets an event happen. Returns true for those that grant prompts beyond the bound. */
function happen(world: Run, event: Event, agent: Agent, chain: number): boolean {
  const { state } = world
  const [last] = state.endedSteps.slice(-1)
  switch (event) {
    case 'restarted':
      world.state = reread(afterSessionStart(state))
      return false
    case 'killed':
    case 'resumed':
      resume(world)
      return true
    case 'killed in the turn':
      try {
        if (turn(world, NEXT, chain % 3) === 'prompt') answer(world, agent)
        return false
      } catch (error) {
        if (!(error instanceof Killed)) throw error
        resume(world)
        return true
      }
    case 'stray result':
      world.results.set('step-result-9.json', 'pass')
      return false
    case 'late result':
      if (last !== undefined) world.results.set(`step-result-${last.step + 1}.json`, 'pass')
      return false
    case 'stopped':
      world.state = reread(requestStop(state, NOW))
      turn(world, { ...LOOKS, takes: 'passing' })
      return false
    case 'rejected':
      if (needsApproval(state)) world.state = reread(rejectState(state, 'not good enough', NOW))
      return false
    case 'step skipped':
      steer(world, skipStep(state, chain % 5, NOW))
      return false
    case 'step retried':
      return steer(world, retryStep(state, chain % 5, NOW))
    default: {
      if (event === 'wait' && waitsLeft(state.wait, state.waits) !== 'no') {
        world.state = reread({ ...state, wait: announcedWait('an answer', state.wait, state.waits) })
      }
      const isMain = event !== 'helper stops'
      const isInterrupted = event === 'interrupted'
      // A person who was heard writes again.
      const isNew = isInterrupted || (event !== 'wait' && isHeard(state))
      const stop = { isMain, isNext: isMain && event !== 'held', isBlocked: event === 'held', startMs: NOW }
      const shells = event === 'shells' ? [`build ${chain}`] : []
      const more = { promptId: `p${isNew ? chain : 0}`, followsBlock: !isInterrupted, shells }
      const judged = judgeAgentStop(world.state, { ...stop, ...more }, NOW)
      world.state = reread(judged.state)
      const command = turn(world, event === 'next' ? NEXT : judged.circumstances)
      if (judged.asks && command === 'wait') world.state = reread({ ...world.state, askedToWait: true })
      if (command === 'prompt') answer(world, agent)
      return false
    }
  }
}

/** The counts that never go back, whatever happens. */
function countsOf(state: WorkflowState): Record<string, number> {
  const name = `${state.phase}#${visitsOf(state, state.phase)}`
  return {
    sequence: state.sequence,
    prompts: state.prompts,
    ...Object.fromEntries(Object.entries(state.visits).map(([id, visits]) => [`visits of ${id}`, visits])),
    [`${name} attempts`]: state.phaseAttempts,
    [`${name} interruptions`]: state.interruptions,
    ...Object.fromEntries(
      [...state.inWork, ...state.endedSteps].map(({ step, attempts }) => [`${name} step ${step} attempts`, attempts]),
    ),
  }
}

/** The same turn by a hook and without hooks, from the same state and the same files. */
function expectSameForBothDrivers(world: Run): void {
  const copies = [NEXT, undefined].map((looking) => {
    const copy: Run = {
      ...{ ...world, prompts: [], archive: new Map(world.archive) },
      ...{ artifacts: new Map(world.artifacts), results: new Map(world.results) },
    }
    const stop = { isMain: true, isNext: true, isBlocked: false, promptId: undefined, followsBlock: true, shells: [] }
    const judged = judgeAgentStop(copy.state, { ...stop, startMs: NOW }, NOW)
    if (looking === undefined) copy.state = judged.state
    const command = turn(copy, looking ?? judged.circumstances)
    const state = isPrompted(copy.state) ? { ...copy.state, stage: 'prompted' } : copy.state
    return { command, state, results: copy.results, archive: copy.archive, artifacts: copy.artifacts }
  })
  expect(copies[0]).toEqual(copies[1])
}

it('a run to which anything happens ends within the bounds that it shows, counts nothing back, repeats no finished step, and is the same for either driver', () => {
  const reached = new Set<string>()
  holds(300)(
    fc.oneof(readyDefinition, budgetedDefinition),
    anyWorld,
    fc.array(fc.constantFrom(...EVENTS), { maxLength: 60 }),
    ({ definition }, { agent, takenSteps: taken, before: lying }, events) => {
      const world: Run = { ...startWorld(definition, lying), taken }
      let granted = 1
      let bound = promptBound(definition, () => taken?.length)
      expect(runBound(world.state, () => taken?.length)).toBe(bound)
      const atStart = bound
      let counts: Record<string, number> = {}
      const done = new Set<string>()
      for (let count = 0; world.state.active || events[count] !== undefined; count++) {
        if (count > 10_000) throw new Error('the run does not end')
        const event = events[count] ?? 'next'
        const isOver = !world.state.active
        if (isOver && (event !== 'resumed' || world.state.outcome === 'completed')) continue
        if (!isOver && !isHeard(world.state)) expectSameForBothDrivers(world)
        const before = world.prompts.length
        if (needsApproval(world.state) && event === 'next') world.state = approved(world.state)
        const isGranted = happen(world, event, agent, count)
        if (isGranted) granted += 1
        // What a person grants raises the bound that is shown, and nothing else does.
        const shown = runBound(world.state, () => taken?.length)
        if (!isGranted && shown !== undefined) expect(shown, event).toBeLessThanOrEqual(bound)
        bound = shown ?? bound
        expect(world.state.prompts, event).toBeLessThanOrEqual(bound)
        reached.add(event)
        // What was read is written, and read, as it is.
        expect(parseState(formatState(world.state))).toEqual(world.state)
        const { state } = world
        expect(state.interruptions).toBeLessThanOrEqual(3)
        if (new Set(world.prompts).size < world.prompts.length) reached.add('a prompt went out again')
        for (const [name, value] of Object.entries(countsOf(state))) {
          expect(value, `${name} after ${event}`).toBeGreaterThanOrEqual(counts[name] ?? 0)
        }
        counts = { ...counts, ...countsOf(state) }
        for (const question of world.prompts.slice(before)) {
          expect(done, question).not.toContain(question.replace(/ attempt \d+$/, ''))
        }
        for (const { step, outcome } of state.endedSteps) {
          if (outcome === 'done') done.add(`${state.phase}#${visitsOf(state, state.phase)} step ${step + 1}`)
        }
        if (state.inWork.length > 1) reached.add('several steps in progress')
      }
      expect(world.state.outcome).toBeDefined()
      if (granted === 1 && bound === world.state.prompts) reached.add('bound exact at the end')
      if (bound < atStart) reached.add('bound smaller than at the start')
      reached.add(`ended as ${world.state.outcome}`)
      expect(world.state.prompts).toBeLessThanOrEqual(granted * promptBound(definition))
      if (definition.maxPrompts !== undefined) {
        expect(world.state.prompts).toBeLessThanOrEqual(definition.maxPrompts)
      }
      const { parallel, steps } = definition.phases[0]
      if (
        world.state.outcome === 'completed' &&
        definition.phases.length === 1 &&
        steps !== undefined &&
        parallel > 1
      ) {
        expect([...world.results.keys()]).toEqual([])
      }
    },
  )
  const outcomes = ['completed', 'failed', 'stalled', 'stopped'].map((outcome) => `ended as ${outcome}`)
  const others = ['several steps in progress', 'a prompt went out again', 'bound exact at the end']
  expectReached(reached, [...EVENTS, ...others, 'bound smaller than at the start', ...outcomes])
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { currentPhase, currentWork } from '../../../src/run/machine/position.ts'
import { visitsOf } from '../../../src/run/machine/state.ts'
import { runWorld, startWorld, type Work, type World } from '../../support/workflow-world.ts'
import { holds } from '../arbitraries.ts'
import { anyWorld } from './arbitraries.ts'

/** The result of a run without its number of prompts: a crash may repeat a prompt. */
function trace({ state, archive, artifacts }: World): object {
  // Of several steps at once, a crash changes which ones had their turn before too many of them had failed.
  const isAnyOrder = state.outcome === 'failed' && currentPhase(state).parallel > 1
  const ofLastVisit = `${state.phase}#${visitsOf(state, state.phase)}/`
  return {
    outcome: state.outcome,
    phase: state.phase,
    visits: state.visits,
    attempts: isAnyOrder ? [] : [state.phaseAttempts, currentWork(state).step, currentWork(state).attempts],
    archive: [...archive].filter(([name]) => !isAnyOrder || !name.startsWith(ofLastVisit)).sort(),
    artifacts: [...artifacts].sort(),
  }
}

const whenever = fc.constantFrom('before' as const, 'after' as const)
const someCrashes = (maxLength: number) => fc.array(fc.tuple(fc.nat(30), whenever), { maxLength })

describe('a run of any definition in any world, with crashes', () => {
  it('has the same result after a crash at any write', () => {
    holds(80)(
      anyWorld,
      fc.constantFrom('before' as const, 'after' as const),
      ({ ready, agent, takenSteps: taken, before: lying }, when) => {
        const straight = runWorld(startWorld(ready.definition, lying), agent, taken)
        const wanted = trace(straight)
        for (let call = 0; call < Math.min(straight.calls, 40); call++) {
          const crashed = runWorld(startWorld(ready.definition, lying), agent, taken, new Map([[call, when]]))
          expect(trace(crashed), `crash ${when} call ${call}`).toEqual(wanted)
        }
      },
    )
  })

  it('counts no result of another run that lies in its archive', () => {
    holds(150)(
      anyWorld,
      fc.constantFrom('pass', 'fail', 'invalid'),
      someCrashes(3),
      ({ ready, agent, takenSteps: taken, before: lying }, foreign, crashes) => {
        const wanted = trace(runWorld(startWorld(ready.definition, lying), agent, taken))
        const world = { ...startWorld(ready.definition, lying), foreign: foreign as Work }
        expect(trace(runWorld(world, agent, taken, new Map(crashes)))).toEqual(wanted)
      },
    )
  })

  it('has the same result after several crashes', () => {
    holds(400)(anyWorld, someCrashes(6), ({ ready, agent, takenSteps: taken, before: lying }, crashes) => {
      const wanted = trace(runWorld(startWorld(ready.definition, lying), agent, taken))
      const crashed = runWorld(startWorld(ready.definition, lying), agent, taken, new Map(crashes))
      expect(trace(crashed)).toEqual(wanted)
    })
  })
})

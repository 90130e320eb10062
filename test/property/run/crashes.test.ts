import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stepFolder } from '../../../src/run/machine/observation.ts'
import { currentPhase, currentWork } from '../../../src/run/machine/position.ts'
import { runWorld, startWorld, type World } from '../../support/workflow-world.ts'
import { holds } from '../arbitraries.ts'
import { type AnyWorld, anyWorld } from './arbitraries.ts'

/** The result of a run without its number of prompts: a crash may repeat a prompt. */
function trace({ state, archive, artifacts }: World): object {
  // Of several steps at once, a crash changes which ones had their turn before too many of them had failed.
  const isAnyOrder = state.outcome === 'failed' && currentPhase(state).parallel > 1
  const ofLastVisit = `${stepFolder(state)}/`
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

function run(
  { ready, agent, takenSteps, before }: AnyWorld,
  crashes: readonly (readonly [call: number, when: 'before' | 'after'])[] = [],
  more: Partial<World> = {},
): World {
  return runWorld({ ...startWorld(ready.definition, before), ...more }, agent, takenSteps, new Map(crashes))
}

describe('a run of any definition in any world, with crashes', () => {
  it('has the same result after a crash at any write', () => {
    holds(80)(anyWorld, whenever, (world, when) => {
      const straight = run(world)
      for (let call = 0; call < Math.min(straight.calls, 40); call++) {
        expect(trace(run(world, [[call, when]])), `crash ${when} call ${call}`).toEqual(trace(straight))
      }
    })
  })

  it('counts no result of another run that is in its archive', () => {
    const works = fc.constantFrom('pass' as const, 'fail' as const, 'invalid' as const)
    holds(150)(anyWorld, works, someCrashes(3), (world, foreign, crashes) => {
      expect(trace(run(world, crashes, { foreign }))).toEqual(trace(run(world)))
    })
  })

  it('has the same result after several crashes', () => {
    holds(400)(anyWorld, someCrashes(6), (world, crashes) => {
      expect(trace(run(world, crashes))).toEqual(trace(run(world)))
    })
  })
})

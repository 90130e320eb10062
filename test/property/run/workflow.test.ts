import { expect, it } from 'vitest'
import { promptBound } from '../../../src/run/definition/bound.ts'
import { type Definition, findPhase } from '../../../src/run/definition/definition.ts'
import { runWorld, startWorld, type World } from '../../support/workflow-world.ts'
import { holds } from '../arbitraries.ts'
import { anyWorld } from './arbitraries.ts'

/** The same world, which expects the artifact of a strict phase when its run leaves that phase. */
function watchingGates(world: World, definition: Definition): World {
  let last = { phase: world.state.phase, made: false }
  return new Proxy(world, {
    set(target, name, value) {
      if (name === 'state' && value.phase !== last.phase) {
        const phase = findPhase(definition, last.phase)
        if (phase?.gate === 'strict' && phase.artifact !== undefined) expect(last.made).toBe(true)
      }
      return Reflect.set(target, name, value)
    },
    get(target, name) {
      const artifact = findPhase(definition, target.state.phase)?.artifact
      const made = artifact === undefined ? undefined : target.artifacts.get(artifact)
      last = { phase: target.state.phase, made: made === 'pass' || made === 'fail' }
      return Reflect.get(target, name)
    },
  })
}

it('a run of any definition in any world ends within its bound, repeats no prompt, passes no strict gate without its artifact, and exceeds no limit', () => {
  holds(1000)(anyWorld, ({ ready: { definition }, agent, takenSteps: taken, before: lying }) => {
    const world = startWorld(definition, lying)
    const { state, prompts } = runWorld(watchingGates(world, definition), agent, taken)
    expect(prompts.length).toBeLessThanOrEqual(promptBound(definition))
    expect(state.prompts).toBe(prompts.length)
    expect(state.outcome).toBeDefined()
    expect(new Set(prompts).size).toBe(prompts.length)
    const last = findPhase(definition, state.phase)
    if (state.outcome === 'completed' && last?.gate === 'strict' && last.artifact !== undefined) {
      expect(['pass', 'fail']).toContain(world.artifacts.get(last.artifact))
    }
    for (const { id, artifact, maxVisits } of definition.phases) {
      const visits = state.visits[id] ?? 0
      expect(visits).toBeLessThanOrEqual(maxVisits)
      // The artifact of an earlier visit does not count. The last visit may have ended the run before its first prompt.
      for (let visit = 2; artifact !== undefined && visit <= visits - (state.phase === id ? 1 : 0); visit++) {
        expect(prompts.some((prompt) => prompt.startsWith(`${id}#${visit} `))).toBe(true)
      }
    }
    for (const prompt of prompts) {
      const [, id = '', step, attempt] = /^(\w+)#\d+ (?:step (\d+) )?attempt (\d+)$/.exec(prompt) ?? []
      const phase = findPhase(definition, id)
      const limit = step === undefined ? phase?.maxAttempts : phase?.maxStepAttempts
      expect(Number(attempt)).toBeLessThanOrEqual(limit ?? 0)
    }
  })
})

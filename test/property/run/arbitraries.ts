import fc from 'fast-check'
import { type Definition, readDefinition, snapshotOf } from '../../../src/run/definition/definition.ts'
import { checkRules } from '../../../src/run/definition/definition-rules.ts'
import { checkShape, type DefinitionFile } from '../../../src/run/definition/definition-schema.ts'
import type { Agent, Work } from '../../support/workflow-world.ts'
import { maybe } from '../arbitraries.ts'

/** Random valid definitions, small enough for loops to occur. */

const IDS = ['a', 'b', 'c', 'd', 'e']

const phaseAt = (index: number, count: number): fc.Arbitrary<Record<string, unknown>> => {
  const target = fc.constantFrom(...IDS.slice(0, count), 'end')
  const limit = fc.integer({ min: 1, max: 3 })
  return fc
    .record({
      shape: fc.constantFrom('artifact', 'artifact', 'steps', 'both', 'taken'),
      gate: fc.constantFrom('strict', 'advisory', undefined),
      max_attempts: maybe(limit),
      max_visits: maybe(limit),
      max_step_attempts: maybe(limit),
      max_skips: maybe(fc.integer({ min: 0, max: 2 })),
      on_exhausted: fc.constantFrom('skip', 'stop', undefined),
      steps: fc.array(fc.constantFrom('one', { name: 'two', agent: 'helper' }), { maxLength: 5 }),
      parallel: maybe(fc.integer({ min: 1, max: 4 })),
      approve: fc.constantFrom(true, undefined, undefined, undefined),
      next: maybe(
        fc.oneof(
          target,
          fc.record({ pass: target, fail: target, verdict: fc.constant('/ok') }),
          fc.record({
            verdict: fc.constant('/ok'),
            cases: fc.record({ one: target, two: target, three: target }),
            default: target,
          }),
        ),
      ),
    })
    .map(({ shape, steps, max_step_attempts, max_skips, on_exhausted, parallel, approve, next, ...rest }) => {
      const hasArtifact = shape !== 'steps'
      const hasSteps = shape !== 'artifact'
      // A phase without an artifact needs a step.
      const list = shape === 'steps' && steps.length === 0 ? ['one'] : steps
      const hasFields = shape === 'taken' || list.some((one) => typeof one === 'object')
      return {
        id: IDS[index],
        ...rest,
        prompt: 'do it',
        ...(hasArtifact && { artifact: `${IDS[index]}.json` }),
        ...(hasArtifact && rest.gate !== 'advisory' && { approve }),
        ...(hasSteps && {
          steps: shape === 'taken' ? { from: 'a.json', pointer: '/steps' } : list,
          step_prompt: hasFields
            ? '{{step_number}} <{{step.name}}> {{input.issue}}'
            : '{{step_number}} {{input.issue}}',
          parallel,
          max_step_attempts,
          max_skips,
          on_exhausted,
        }),
        next: typeof next !== 'object' || hasArtifact ? next : 'pass' in next ? next.pass : next.default,
      }
    })
}

/** A definition, and the file that it was written as. */
export interface Ready {
  readonly definition: Definition
  readonly file: DefinitionFile
}

const written = fc
  .integer({ min: 1, max: 4 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => phaseAt(index, count))))
  .map((phases) => ({ name: 'random', inputs: { issue: { default: 7 } }, phases: JSON.parse(JSON.stringify(phases)) }))

export const readyDefinition: fc.Arbitrary<Ready> = written.map(ready)

export const budgetedDefinition: fc.Arbitrary<Ready> = fc
  .tuple(written, fc.integer({ min: 1, max: 12 }))
  .map(([file, max_prompts]) => ready({ ...file, max_prompts }))

/** Checks a written definition and returns it ready to run. @throws for a definition with faults. */
export function ready(value: unknown): Ready {
  const shape = checkShape(value)
  if (!('value' in shape)) throw new Error(JSON.stringify(shape.faults))
  const { faults } = checkRules(shape.value)
  if (faults.length > 0) throw new Error(JSON.stringify(faults))
  const definition = readDefinition(JSON.parse(JSON.stringify(snapshotOf(shape.value, () => 'text'))))
  if (definition === undefined) throw new Error('the snapshot cannot be read')
  return { definition, file: shape.value }
}

const WORKS: readonly Work[] = ['pass', 'pass', 'fail', 'invalid', 'nothing']

/** An agent with random answers that are always the same for the same question. */
const randomAgent: fc.Arbitrary<Agent> = fc
  .array(fc.constantFrom(...WORKS), { minLength: 7, maxLength: 23 })
  .map((works) => (question: string) => {
    let hash = 7
    for (const character of question) hash = (hash * 31 + character.charCodeAt(0)) >>> 0
    return works[hash % works.length] ?? 'nothing'
  })

const takenSteps = maybe(fc.array(fc.constantFrom('x', 'y'), { maxLength: 3 }))
/** The artifacts that exist before the run begins. */
const before = fc.dictionary(
  fc.constantFrom('a.json', 'b.json', 'c.json'),
  fc.constantFrom('pass' as const, 'fail' as const, 'invalid' as const),
)
export const anyWorld = fc.record({ ready: readyDefinition, agent: randomAgent, takenSteps, before })
export type AnyWorld = typeof anyWorld extends fc.Arbitrary<infer T> ? T : never

/** Compares `workflow simulate` with a run without hooks, prompt by prompt. */

import { existsSync, readdirSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Definition } from '../../../src/run/definition/definition.ts'
import { findPhase } from '../../../src/run/definition/definition.ts'
import { answering, type Script, simulatedStepCount } from '../../../src/run/machine/simulate.ts'
import { budgetedDefinition, readyDefinition } from '../../property/run/arbitraries.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

/** The fields of a prompt in both documents. */
interface Due {
  readonly phase: string
  readonly step: number | null
  readonly attempt: number | null
  readonly prompt: string | null
  readonly artifact: string | null
  readonly batch: readonly Due[] | null
}

/** The number of steps in every artifact. */
const STEPS = 2

const scripted = fc.dictionary(
  fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('a/1', 'a/2', 'b/1', 'b/3', 'c/2')),
  fc.integer({ min: 1, max: 3 }),
  { maxKeys: 4 },
)

/** The script as options, for the phases and steps that the definition has. */
function optionsOf({ phases }: Definition, failures: Readonly<Record<string, number>>): string[] {
  const taking = phases.filter(({ steps }) => steps?.kind === 'from')
  const counts = new Map(taking.map(({ id }) => [id, STEPS]))
  const known = Object.entries(failures).filter(([name]) => {
    const [id, step] = name.split('/')
    const phase = phases.find((one) => one.id === id)
    if (step === undefined) return phase?.artifact !== undefined
    return phase !== undefined && Number(step) <= simulatedStepCount({ steps: counts }, phase)
  })
  return [
    ...known.flatMap(([name, count]) => ['--fail', `${name}:${count}`]),
    ...taking.flatMap(({ id }) => ['--steps', `${id}=${STEPS}`]),
  ]
}

/** Runs the definition without hooks, and answers as the script says. Returns every prompt, and the last answer of `next`. */
async function runReally(project: Project, definition: Definition, script: Script) {
  const folder = project.at('specs/007_flow')
  const asPlaceholders = (text: string | null): string | null =>
    text?.replaceAll(folder, 'specs/TASK').replaceAll('007_flow', 'TASK') ?? null
  const answer = answering(script)
  const prompts: Due[] = []
  for (;;) {
    const next = (await project.cli(['workflow', 'next', '7', '--json'])).json()
    if (next.command === 'finish') return { prompts, last: next }
    if (next.command === 'wait') {
      expect((await project.cli(['workflow', 'approve', '7'])).status).toBe(0)
      continue
    }
    const { command: _command, outcome: _outcome, why: _why, ...due } = next
    const phase = findPhase(definition, due.phase)
    if (phase === undefined) throw new Error(due.phase)
    const shown = (one: Due): Due => ({ ...one, prompt: asPlaceholders(one.prompt) })
    prompts.push({ ...shown(due), batch: due.batch?.map(shown) ?? null })
    for (const work of due.batch ?? [due]) {
      const given = answer(phase, { step: work.step ?? undefined })
      if (given === 'nothing') continue
      const { verdict } = given
      const steps = Array.from({ length: STEPS }, (_, at) => `step ${at + 1}`)
      const content = work.step === null ? { ok: verdict, steps } : { success: verdict === 'pass' }
      project.write(`specs/007_flow/${work.artifact}`, JSON.stringify(content))
    }
  }
}

describe('a simulation', () => {
  it.each(['work', 'work/3', 'plan/1', 'nowhere', 'listed/4', 'listed/3 --steps listed=2', 'none/1 --steps none=0'])(
    'refuses a failure that cannot occur: %s',
    async (words) => {
      const [failure = '', ...options] = words.split(' ')
      const project = createSourceProject()
      const plan = { id: 'plan', prompt: 'Plan.', artifact: 'plan.json' }
      const work = { id: 'work', steps: ['one', 'two'], step_prompt: 'Do {{step}}.' }
      const taking = { steps: { from: 'plan.json', pointer: '/x' }, step_prompt: 'Do {{step}}.' }
      const phases = [plan, work, { id: 'listed', ...taking }, { id: 'none', ...taking }]
      project.write('flow.json', JSON.stringify({ name: 'flow', phases }))

      const run = await project.cli(['workflow', 'simulate', 'flow.json', '--fail', failure, ...options])

      expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining(`not "${failure}"`) })
    },
  )

  it('of a random definition agrees with a run without hooks, prompt by prompt', async () => {
    const project = createSourceProject()
    const seen = { batches: 0, approvals: 0, outcomes: new Set<string>() }
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(readyDefinition, budgetedDefinition),
        scripted,
        async ({ file, definition }, failures) => {
          rmSync(project.at('specs'), { recursive: true, force: true })
          project.write('flow.json', JSON.stringify(file))
          const options = optionsOf(definition, failures)
          const simulated = (await project.cli(['workflow', 'simulate', 'flow.json', ...options, '--json'])).json()
          // Nothing is written.
          expect(existsSync(project.at('specs'))).toBe(false)
          // A list of steps that no phase makes must exist before.
          const isMade = definition.phases.some(({ artifact }) => artifact === 'a.json')
          const [name, content] = isMade ? ['README.md', ''] : ['a.json', '{"steps": ["step 1", "step 2"]}']
          project.write(`specs/007_flow/${name}`, content)
          const started = await project.cli(['workflow', 'start', '7', '--definition', 'flow.json'])
          expect(started.status, started.stderr).toBe(0)
          const script = { failures: new Map(Object.entries(failures)), cases: new Map(), steps: new Map() }
          const { prompts, last } = await runReally(project, definition, script)
          expect(prompts).toEqual(simulated.prompts)
          expect({ outcome: last.outcome, why: last.why }).toEqual({
            outcome: simulated.outcome,
            why: simulated.why,
          })
          expect(simulated.prompt_count).toBeLessThanOrEqual(simulated.prompt_bound)
          // Steps at once leave no file behind.
          if (definition.phases.every(({ parallel, steps }) => steps === undefined || parallel > 1)) {
            expect(readdirSync(project.at('specs/007_flow')).filter((name) => name.startsWith('step-result-'))).toEqual(
              [],
            )
          }
          for (const { batch } of prompts) seen.batches += batch === null ? 0 : 1
          seen.approvals += definition.phases.some(({ approve }) => approve) ? 1 : 0
          seen.outcomes.add(last.outcome)
        },
      ),
      { numRuns: 200 },
    )
    expect(seen.batches).toBeGreaterThan(20)
    expect(seen.approvals).toBeGreaterThan(20)
    expect([...seen.outcomes].sort()).toEqual(['completed', 'failed', 'stalled'])
  }, 240_000)
})

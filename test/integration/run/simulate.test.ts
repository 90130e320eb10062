/** Compares `workflow simulate` with a run without hooks, prompt by prompt. */

import { existsSync, readdirSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { turnEnds } from '../../../src/cli/commands/workflow-next.ts'
import type { Definition } from '../../../src/run/definition/definition.ts'
import { findPhase } from '../../../src/run/definition/definition.ts'
import { answering, type Script, simulatedStepCount } from '../../../src/run/machine/simulate.ts'
import { TURN_ENDS } from '../../../src/run/run-messages.ts'
import { budgetedDefinition, readyDefinition } from '../../property/run/arbitraries.ts'
import { createSourceProject, type JsonDocument, type Project } from '../../support/project.ts'

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
    text
      ?.replaceAll(folder, 'specs/TASK')
      .replaceAll('007_flow', 'TASK')
      // A simulation speaks as the hook does.
      .replaceAll(turnEnds('postflight workflow next TASK').alone, TURN_ENDS.alone)
      .replaceAll('run `postflight workflow next TASK`', 'end your turn') ?? null
  const answer = answering(script)
  const prompts: JsonDocument[] = []
  for (;;) {
    const next = (await project.cli(['workflow', 'next', '7', '--json'])).json()
    if (next.command === 'finish') return { prompts, last: { ...next, why: asPlaceholders(next.why) } }
    if (next.command === 'wait') {
      expect((await project.cli(['workflow', 'approve', '7'])).status).toBe(0)
      continue
    }
    const { command: _command, outcome: _outcome, why: _why, ...due } = next
    const phase = findPhase(definition, due.phase)
    if (phase === undefined) throw new Error(due.phase)
    const shown = (one: JsonDocument) => ({ ...one, prompt: asPlaceholders(one.prompt) })
    prompts.push({ ...shown(due), batch: due.batch?.map(shown) ?? null })
    for (const work of due.batch ?? [due]) {
      const verdict = answer(phase, { step: work.step ?? undefined })
      if (verdict === undefined) continue
      const steps = Array.from({ length: STEPS }, (_, at) => `step ${at + 1}`)
      const content = work.step === null ? { ok: verdict, steps } : { success: verdict === 'pass' }
      project.write(`specs/007_flow/${work.artifact}`, JSON.stringify(content))
    }
  }
}

const WORK = { id: 'work', steps: ['s1', 's2', 's3', 's4', 's5'], step_prompt: 'Do {{step}}.', parallel: 4 }

/** What `--fail` takes in the project of `withOptions`. */
const FAILURES = 'triage, work/1 to work/5, list/1 to list/3'

function withOptions(): Project {
  const project = createSourceProject()
  const triage = { id: 'triage', prompt: 'p', artifact: 't.json', next: { verdict: '/k', cases: { a: 'work' } } }
  const list = { id: 'list', steps: { from: 't.json', pointer: '/x' } }
  project.write('flow.json', JSON.stringify({ name: 'flow', phases: [triage, WORK, list] }))
  return project
}

describe('a simulation', () => {
  it('prints the path, the number of prompts and their maximum', async () => {
    const project = createSourceProject()
    const next = { pass: 'work', fail: 'check', verdict: '/ok' }
    const check = { id: 'check', prompt: 'p', artifact: 'c.json', next }
    project.write('flow.json', JSON.stringify({ name: 'flow', phases: [check, WORK] }))
    const run = await project.cli(['workflow', 'simulate', 'flow.json', '--fail', 'check:1', '--fail', 'work/2'])
    expect(run.stdout.trimEnd().split('\n'), run.stderr).toEqual([
      'flow: check → check → work → completed',
      '   1  prompt: phase check, attempt 1',
      '   2  prompt: phase check, attempt 1',
      '   3  prompt: phase work, steps 1, 2, 3 and 4 at the same time',
      '   4  prompt: phase work, steps 2 and 5 at the same time',
      '8 prompts, at most 45',
    ])
    const skipped = await project.cli(['workflow', 'simulate', 'flow.json', '--fail', 'work/2:3'])
    expect(skipped.stdout).toContain('work → completed (1 step or artifact was skipped)\n')
    expect(project.has('specs/007_flow')).toBe(false)
  })

  it.each([
    ['--fail', 'nowhere', FAILURES],
    ['--fail', 'work', FAILURES],
    ['--fail', 'work:many', FAILURES],
    ['--fail', 'triage/1', FAILURES],
    ['--fail', 'list/4', FAILURES],
    ['--fail', 'list/3', 'triage, work/1 to work/5, list/1 to list/2', '--steps', 'list=2'],
    ['--fail', 'list/1', 'triage, work/1 to work/5', '--steps', 'list=0'],
    ['--case', 'work=x', 'triage=a'],
    ['--case', 'triage=typo', 'triage=a'],
    ['--case', 'x', 'triage=a'],
    ['--steps', 'nowhere=3', 'list'],
    ['--steps', 'work=3', 'list'],
    ['--steps', 'list=1001', 'list'],
    ['--steps', 'list', 'list'],
  ])('refuses %s %s, and names what it takes: %s', async (option, value, names, ...more) => {
    const project = withOptions()
    const run = await project.cli(['workflow', 'simulate', 'flow.json', option, value, ...more])
    expect([run.status, run.stderr]).toEqual([64, expect.stringContaining(` (${names}), not "${value}".\n`)])
  })

  it('takes a case and a number of steps', async () => {
    const words = ['--case', 'triage=a', '--steps', 'list=2', '--json']
    expect((await withOptions().cli(['workflow', 'simulate', 'flow.json', ...words])).json()).toMatchObject({
      ...{ outcome: 'completed', prompt_count: 8 },
      path: ['triage', 'work', 'list'].map((phase) => ({ phase, visit: 1 })),
    })
  })

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
          expect({ outcome: last.outcome, why: last.why }).toEqual({ outcome: simulated.outcome, why: simulated.why })
          expect(simulated.prompt_count).toBeLessThanOrEqual(simulated.prompt_bound)
          // Steps at once leave no file behind.
          if (definition.phases.every(({ parallel, steps }) => steps === undefined || parallel > 1)) {
            const left = readdirSync(project.at('specs/007_flow'))
            expect(left.filter((name) => name.startsWith('step-result-'))).toEqual([])
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

/** Runs with many finished phases to catch up with: the hook has 5 s for its answer. */

import { linkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SESSION, sessionStart, stop } from '../support/payloads.ts'
import { claudeHookEnv, createProject, type HookRun, type Project } from '../support/project.ts'

const IN_TASK = 'specs/007_flow'
const LIMIT_MS = 5_000

/** A run of phases in a row. All artifacts but the last one exist, each with the same content. */
async function behind(phases: readonly object[], content: string): Promise<Project> {
  const project = createProject()
  const file = project.write('flow.json', JSON.stringify({ name: 'large', phases }))
  const env = { CLAUDE_CODE_SESSION_ID: SESSION }
  const run = await project.cli(['workflow', 'start', '7', 'flow', '--definition', file], { env })
  expect(run.status, run.stderr).toBe(0)
  const first = project.write(`${IN_TASK}/0.json`, content)
  for (let at = 1; at < phases.length - 1; at++) linkSync(first, project.at(IN_TASK, `${at}.json`))
  return project
}

async function timed(project: Project): Promise<HookRun & { readonly ms: number }> {
  const from = performance.now()
  const run = await project.hook(stop(), { env: claudeHookEnv(project, SESSION) })
  return { ...run, ms: performance.now() - from }
}

const statusOf = async (project: Project) => (await project.cli(['workflow', 'status', '7', '--json'])).json()

const phase = (at: number, more: object) => ({ id: `p${at}`, prompt: 'p', artifact: `${at}.json`, ...more })

describe('a stop', () => {
  it('of a run with 2,000 phases to catch up with and a definition of 8 MB is answered in time', async () => {
    const phases = Array.from({ length: 2000 }, (_, at) => phase(at, { prompt: 'x'.repeat(4000) }))
    const project = await behind(phases, 'x')
    let { answer, ms } = await timed(project)
    expect(ms).toBeLessThan(LIMIT_MS)
    // A busy machine may need further stops, each in time.
    for (let more = 0; answer.decision === undefined && more < 5; more += 1) {
      expect(answer.systemMessage).toContain('could not check all finished phases in time')
      ;({ answer, ms } = await timed(project))
      expect(ms).toBeLessThan(LIMIT_MS)
    }
    expect(answer).toMatchObject({ decision: 'block' })
    expect(await statusOf(project)).toMatchObject({ phase: 'p1999', prompts: 1 })
    const { history } = (await project.cli(['workflow', 'history', '7', '--json'])).json()
    expect(history.map(({ n }: { n: number }) => n)).toEqual(Array.from({ length: 4001 }, (_, at) => at + 1))
  }, 60_000)

  it('of a run with more artifacts than it has time to check is allowed, and the next stop continues', async () => {
    const phases = Array.from({ length: 400 }, (_, at) => phase(at, { check: { json: true } }))
    const project = await behind(phases, JSON.stringify(Array.from({ length: 590_000 }, (_, at) => at)))
    const { answer, ms } = await timed(project)
    expect(ms).toBeLessThan(LIMIT_MS)
    expect(answer.decision).toBeUndefined()
    expect(answer.systemMessage).toContain('could not check all finished phases in time')
    const place = async () => Number((await statusOf(project)).phase.slice(1))
    const reached = await place()
    expect(reached).toBeGreaterThan(0)
    expect((await timed(project)).ms).toBeLessThan(LIMIT_MS)
    expect(await place()).toBeGreaterThan(reached)
  }, 60_000)
})

it('a new session is told of all 800 runs whose folders were moved, and status knows them', async () => {
  const project = await behind([phase(0, {})], 'x')
  const state = project.read(`${IN_TASK}/workflow/state.json`)
  for (let at = 100; at < 900; at++) {
    const id = `wf_000000000${at}`
    project.write(`specs/${at}_moved/workflow/state.json`, state.replace(JSON.parse(state).id, id))
    project.write(`specs/${at}_moved/workflow/id`, id)
    project.write(`specs/.postflight/running/${at}_old`, JSON.stringify({ id, path: `${at}_old` }))
  }
  const told = await project.hook(sessionStart('startup'), { words: ['SessionStart'] })
  expect(told.answer.hookSpecificOutput?.additionalContext).toContain('and 791 more')
  expect((await project.cli(['status'])).stdout).not.toContain('no run file')
}, 60_000)

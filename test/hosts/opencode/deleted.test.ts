/** Sessions that the user deletes while they are guarded, or while a workflow runs in them. */

import { describe, expect, it, vi } from 'vitest'
import { NEVER } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { IN_TASK, TASK } from '../four-phases.ts'
import { bash, delegate, say } from './agents.ts'
import { mainTurns, PLACES, placesIn, projectWithFlow, runWorkflow, worker } from './flow.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const CREATE = 'postflight create 259 x --operation research'

/** A run that waits for the answer to the prompt of the second phase. */
async function runInMidPhase(guarded: GuardedProject) {
  const { server, session, model } = await guarded.begin({
    main: worker([runWorkflow(TASK, 'flow.yaml'), say('It stopped.')], (place) =>
      place === 'plan 1' ? NEVER : undefined,
    ),
  })
  await expect.poll(() => placesIn(model.turns('main')).at(-1), { timeout: 60_000 }).toBe('plan 1')
  const phase = (await server.children(session)).find(({ title }) => title === 'Workflow: plan')
  return { server, model, session, phase: String(phase?.id) }
}

/** Checks that another conversation finishes the run from its second phase. */
async function expectResumable(guarded: GuardedProject): Promise<void> {
  const { model } = await guarded.talk({ main: worker([runWorkflow('7'), say('All is done.')]) })
  expect(placesIn(model.turns('main'))).toEqual(PLACES.slice(1))
  expect(guarded.state()).toMatchObject({ outcome: 'completed' })
}

describe.skipIf(hostsSkipped())('deleted in the middle of a run', () => {
  it('the session of a phase stops the run, resumable, and the conversation learns why', async () => {
    const guarded = projectWithFlow()
    const { server, model, phase } = await runInMidPhase(guarded)
    await server.remove(phase)
    // OpenCode lists the deleted session as busy until the model answers, so the server never settles.
    await expect.poll(() => mainTurns(model.turns('main')).length, { timeout: 20_000 }).toBe(2)
    expect(guarded.state()).toMatchObject({
      outcome: 'stopped',
      why: 'the session of phase "plan" was deleted in OpenCode',
    })
    expect(mainTurns(model.turns('main')).at(-1)?.lastToolResult).toMatch(
      /is stopped: the session of phase "plan" was deleted in OpenCode\. Call workflow_run again/,
    )
    expect(guarded.story()).not.toContain('error')
    await expectResumable(guarded)
  })

  it('the conversation stops the run, resumable, and no fault is reported', async () => {
    const guarded = projectWithFlow()
    const { server, model, session } = await runInMidPhase(guarded)
    await server.remove(session)
    await expect.poll(() => guarded.state().outcome, { timeout: 20_000 }).toBe('stopped')
    // The end of what OpenCode still does, mostly: it may list a deleted session as busy for ever (1.18.34).
    await vi.waitFor(async () => expect(await server.busy()).not.toContain(session), 5_000).catch(() => {})
    expect(guarded.state()).toMatchObject({ active: false, why: 'the conversation was deleted in OpenCode' })
    // OpenCode may ask the model once more for a conversation that it has just deleted.
    expect(mainTurns(model.turns('main')).at(-1)?.lastToolResult ?? '').not.toContain('Call workflow_run again')
    expect(guarded.story()).not.toContain('error')
    expect(guarded.log()).not.toContain('internal error')
    await expectResumable(guarded)
  })

  it('the conversation ends the check of a phase too', async () => {
    const guarded = projectWithFlow()
    const phase = { id: 'only', prompt: 'Do it.', artifact: 'a.md', check: { run: 'touch begun; sleep 600' } }
    guarded.project.write('flow.json', JSON.stringify({ name: 'flow', phases: [phase] }))
    guarded.project.write(`${IN_TASK}/a.md`, 'x')
    const { server, session } = await guarded.begin({ main: [runWorkflow(TASK, 'flow.json')] })
    await expect.poll(() => guarded.read('begun'), { timeout: 20_000 }).toBeDefined()
    await server.remove(session)
    await expect.poll(() => guarded.state().why, { timeout: 20_000 }).toBe('the conversation was deleted in OpenCode')
    expect(guarded.files(TASK)).toEqual(['a.md', 'workflow'])
  })
})

describe.skipIf(hostsSkipped())('a guarded session', () => {
  it('that is deleted in mid-turn, with its sub-agent, leaves no fault in journal and log', async () => {
    const guarded = guardedProject()
    const { server, session, model } = await guarded.begin({
      main: [bash(CREATE), delegate('worker')],
      worker: () => NEVER,
    })
    await model.arrived('worker', 0)
    await server.remove(session)
    await server.settled()
    expect(guarded.story()).toEqual(['create'])
    expect(guarded.log()).not.toContain('internal error')
  })
})

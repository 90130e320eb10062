/** A main conversation that stops to wait: it is not told to go on until another message reaches it. */

import { describe, expect, it } from 'vitest'
import { NEVER } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { TASK as TASK_OF_FLOW } from '../four-phases.ts'
import { bash, delegate, dutiful, say, waiting } from './agents.ts'
import { mainTurns, PLACES, placesIn, projectWithFlow, runWorkflow, worker } from './flow.ts'
import { guardedProject, scene } from './guarded.ts'

const CREATE = 'postflight create 259 x --operation deploy'
const WAIT = 'postflight wait 259 --for "go-ahead to deploy"'
const TASK = '259_x'

describe.skipIf(hostsSkipped())('a main conversation that waits', () => {
  it('under run ends with its question, and its wait is stamped', async () => {
    const { guarded, ran, model } = await scene({ main: [bash(`${CREATE} && ${WAIT}`), say('May I deploy?')] })
    expect(model.turns('main')).toHaveLength(2)
    expect(ran.texts).toEqual(['May I deploy?'])
    expect(guarded.story()).toEqual(['create', 'wait'])
    expect(guarded.marker(TASK)?.wait).toMatchObject({ for: 'go-ahead to deploy', prompt_id: expect.any(String) })
  })

  it('a sub-agent cannot wait: the command is refused', async () => {
    const guarded = guardedProject()
    const worker = dutiful([bash(`${CREATE}; ${WAIT}; echo "exit code $?"`), say('The report.')])
    const { model } = await guarded.talk({ main: [delegate('worker'), say('Done.')], worker }, { turns: 2 })
    expect(model.turns('worker')[1]?.lastToolResult).toMatch(/cannot wait here: a sub-agent[\s\S]*exit code 1/)
  })

  it('is held at a later message, although it was interrupted before the stop that it announced', async () => {
    const guarded = guardedProject()
    // The turn after the command is interrupted.
    const main = waiting(1, () => NEVER, dutiful([bash(`${CREATE} && ${WAIT}`), say('Something else.')]))
    const { server, session, model } = await guarded.begin({ main })
    await model.arrived('main', 1)
    expect(guarded.marker(TASK)?.wait).toMatchObject({ for: 'go-ahead to deploy', prompt_id: expect.any(String) })
    await server.abort(session)
    await server.settled()
    await server.prompt(session, 'do something else')
    await model.arrived('main', 4)
    await server.settled()
    expect(guarded.story()).toEqual(['create', 'wait', 'wait-end', 'block 1', 'clear'])
  })
})

describe.skipIf(hostsSkipped())('a workflow that waits', () => {
  const START = bash('postflight workflow start 7 flow --definition flow.yaml && postflight wait 7 --for "a budget"')

  it('sends no prompt, and its agent is not asked to drive it, until the next message of the user', async () => {
    const guarded = projectWithFlow()
    const main = worker([START, say('What may it cost?'), say('I see.'), runWorkflow('7'), say('All is done.')])
    const { server, session, model } = await guarded.talk({ main }, { turns: 2 })
    expect(model.turns('main')).toHaveLength(2)
    expect(guarded.state()).toMatchObject({ active: true, wait: { for: 'a budget', prompt_id: expect.any(String) } })
    await server.prompt(session, 'nothing')
    await expect.poll(() => guarded.state().outcome, { timeout: 60_000 }).toBe('completed')
    await server.settled()
    expect(mainTurns(model.turns('main'))[3]?.lastUserText).toContain('call the tool workflow_run once')
    expect(placesIn(model.turns('main'))).toEqual(PLACES)
  })

  it('sends no further prompt when the wait is announced while a phase is running', async () => {
    const guarded = projectWithFlow()
    const lines = [runWorkflow(TASK_OF_FLOW, 'flow.yaml'), say('What may it cost?'), say('All is done.')]
    const { server, session, model } = await guarded.begin({
      main: worker(lines, (place, turn) => {
        if (place !== 'plan 1' || turn.lastToolResult !== undefined) return undefined
        guarded.postflight('wait', '7', '--for', 'a budget', '--host-session', String(session))
        return undefined
      }),
    })
    await expect.poll(() => mainTurns(model.turns('main')).length, { timeout: 60_000 }).toBe(2)
    await server.settled()
    expect(mainTurns(model.turns('main'))[1]?.lastToolResult).toContain('waits for: a budget')
    expect(placesIn(model.turns('main'))).toEqual(PLACES.slice(0, 2))
    expect(guarded.state()).toMatchObject({ active: true })
    await server.command(session, 'postflight-workflow', '7')
    expect(guarded.state()).toMatchObject({ outcome: 'completed' })
    expect(placesIn(model.turns('main'))).toEqual(PLACES)
  })
})

/** A main conversation that stops to wait: it is not told to go on until another message reaches it. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, dutiful, reasonsIn, say } from './agents.ts'
import { guardedProject } from './guarded.ts'

const CREATE = 'postflight create 259 x --operation deploy'
const WAIT = 'postflight wait 259 --for "go-ahead to deploy"'
const TASK = '259_x'

describe.skipIf(hostsSkipped())('a main conversation that waits', () => {
  it('under serve is not prompted; after the answer of the user it is held again', async () => {
    const guarded = guardedProject()
    const { server, model } = await guarded.serve({
      main: dutiful([bash(`${CREATE} && ${WAIT}`), say('May I deploy?'), say('Deployed.')], say('Committed too.')),
    })
    const session = await server.createSession()

    await server.prompt(session, 'go')
    await model.arrived('main', 1)
    await server.settled()
    expect(model.turns('main')).toHaveLength(2)
    expect(guarded.story()).toEqual(['create', 'wait'])

    await server.prompt(session, 'yes')
    await model.arrived('main', 4)
    await server.settled()
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
    expect(guarded.story()).toEqual(['create', 'wait', 'wait-end', 'block 1', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
  })

  it('under run ends with its question, and its wait is stamped', async () => {
    const guarded = guardedProject()

    const { ran, model } = await guarded.run({ main: [bash(`${CREATE} && ${WAIT}`), say('May I deploy?')] })

    expect(model.turns('main')).toHaveLength(2)
    expect(ran.texts).toEqual(['May I deploy?'])
    expect(guarded.story()).toEqual(['create', 'wait'])
    expect(guarded.marker(TASK)?.wait).toMatchObject({ for: 'go-ahead to deploy', prompt_id: expect.any(String) })
  })

  it('a sub-agent cannot wait: the command is refused', async () => {
    const guarded = guardedProject()

    const { model } = await guarded.run({
      main: [
        { tools: [{ name: 'task', input: { description: 'd', prompt: 'ACTOR:worker go', subagent_type: 'general' } }] },
        say('Done.'),
      ],
      worker: dutiful([bash(`${CREATE}; ${WAIT}; echo "exit code $?"`), say('The report.')]),
    })

    expect(model.turns('worker')[1]?.lastToolResult).toMatch(/cannot wait for a sub-agent[\s\S]*exit code 1/)
  })
})

/** A compaction that the user requests does not count as a stop of the agent. */

import { describe, expect, it } from 'vitest'
import { NEVER } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { bash, reasonsIn, say, stubborn, waiting } from './agents.ts'
import { guardedProject } from './guarded.ts'

const CREATE = 'postflight create 259 x --operation research'

describe.skipIf(hostsSkipped())('a compaction under serve', () => {
  it('is neither counted nor answered, also after the user interrupted; the next stop is blocked', async () => {
    const guarded = guardedProject()
    const { server, session, model } = await guarded.begin({
      main: waiting(1, () => NEVER, stubborn(bash(CREATE), say('No.'))),
    })
    await model.arrived('main', 1)
    await server.abort(session)
    await server.settled()

    await server.compact(session)
    await server.settled()

    expect((await server.messages(session)).at(-1)?.info).toMatchObject({ role: 'assistant', summary: true })
    expect(model.turns('main')).toHaveLength(2)
    expect(guarded.story()).toEqual(['create'])

    await server.prompt(session, 'and?')
    await expect.poll(() => guarded.story(), { timeout: 20_000 }).toContain('cap 3')
    await server.settled()
    expect(guarded.story()).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(3)

    await server.compact(session)
    await server.settled()
    expect(guarded.story()).toHaveLength(5)
  })
})

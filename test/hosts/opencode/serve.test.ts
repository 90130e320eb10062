/** The guard under `opencode serve`: a main conversation is prompted again when it is idle. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { answerOf, NEVER } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import type { Reply } from '../model.ts'
import { bash, delegate, delegateInBackground, dutiful, reasonsIn, say, stubborn, waiting } from './agents.ts'
import { guardedProject } from './guarded.ts'

const TASK = '259_x'
const CREATE = 'postflight create 259 x --operation research'

describe.skipIf(hostsSkipped())('opencode serve: a main conversation with a marker', () => {
  it("is prompted until it clears the marker, with its own agent and model; the prompt is not marked as the user's", async () => {
    const guarded = guardedProject({ config: { agent: { careful: { mode: 'primary', prompt: 'You are careful.' } } } })
    const main = dutiful([bash(CREATE), say('I am done.')], say('Really.'))
    const further = { agent: 'careful', model: { providerID: 'scripted', modelID: 'scripted-2' } }
    const { server, session, model } = await guarded.talk({ main }, { turns: 4, ...further })
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
    expect(model.turns('main').map((turn) => turn.request.model)).toEqual(Array(4).fill('scripted-2'))
    expect(model.turns('main').at(-1)?.systemText).toContain('You are careful.')
    expect(await server.asked(session)).toEqual([
      { agent: 'careful', isSynthetic: false },
      { agent: 'careful', isSynthetic: true },
    ])
    expect((await server.messages(session)).at(-1)?.parts).toContainEqual(
      expect.objectContaining({ type: 'text', text: 'Really.' }),
    )
    expect(guarded.story()).toEqual(['create', 'block 1', 'clear'])
  })

  it('is prompted exactly three times if it refuses, and not again after a later turn of the user', async () => {
    const guarded = guardedProject()
    const main = stubborn(bash(CREATE), say('No.'), say('No again.'))
    const { server, session, model } = await guarded.talk({ main }, { turns: 5 })
    expect(model.turns('main')).toHaveLength(5)
    expect(guarded.story()).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
    expect(guarded.files(TASK)).toEqual(['.postflight-abandoned'])
    await server.prompt(session, 'and now?')
    await model.arrived('main', 5)
    await server.settled()
    expect(model.turns('main')).toHaveLength(6)
  })

  it('is not prompted after the user interrupted it', async () => {
    const guarded = guardedProject()
    const { server, session, model } = await guarded.begin({ main: waiting(1, () => NEVER, [bash(CREATE)]) })
    await model.arrived('main', 1)
    await server.abort(session)
    await server.settled()
    expect(model.turns('main')).toHaveLength(2)
    expect(guarded.story()).toEqual(['create'])
    expect(await server.asked(session)).toHaveLength(1)
  })

  it('is not prompted after a series of 429, and nothing is counted; the next turn is held as usual', async () => {
    const guarded = guardedProject()
    const storm: Reply = { failure: { status: 429, headers: { 'retry-after-ms': '20' } } }
    let calm = false
    const later = dutiful([say('I am done.')])
    const { server, session, model } = await guarded.begin({
      main: (turn) => {
        if (turn.index === 0) return bash(CREATE)
        if (!calm) return storm
        return answerOf(later, turn)
      },
    })
    await expect
      .poll(async () => (await server.messages(session)).at(-1)?.info, { timeout: 60_000 })
      .toMatchObject({ error: { name: 'APIError' } })
    await server.settled()
    const asked = model.turns('main').length
    expect(asked).toBeGreaterThan(4)
    expect(guarded.story()).toEqual(['create'])
    calm = true
    await server.prompt(session, 'again')
    await expect.poll(() => guarded.story(), { timeout: 20_000 }).toEqual(['create', 'block 1', 'clear'])
    await server.settled()
    expect(await server.asked(session)).toHaveLength(3)
  })

  it('is not prompted, and nothing is counted, while a sub-agent runs in the background', async () => {
    const guarded = guardedProject()
    // Shows that the guard has asked for busy sessions, as it does for a stop that it would answer.
    const asked = join(guarded.project.base, 'asked')
    guarded.addPlugin(
      'witness.mjs',
      `const status = client.session.status.bind(client.session)
       client.session.status = async () => {
         const busy = await status()
         ;(await import('node:fs')).writeFileSync(${JSON.stringify(asked)}, '')
         return busy
       }
       return {}`,
    )
    let isReleased = false
    const { server, session, model } = await guarded.begin(
      {
        main: dutiful([bash(CREATE), delegateInBackground('worker'), say('Waiting.'), say('I am done.')]),
        worker: waiting(0, () => vi.waitUntil(() => isReleased, 100_000), [say('Report.')]),
      },
      { env: { OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS: '1' } },
    )
    await model.arrived('main', 2)
    await expect.poll(() => existsSync(asked), { timeout: 20_000 }).toBe(true)
    await expect.poll(() => server.busy()).not.toContain(session)
    expect(await server.asked(session)).toHaveLength(1)
    expect(guarded.story()).toEqual(['create'])
    isReleased = true
    await expect.poll(() => guarded.story(), { timeout: 20_000 }).toEqual(['create', 'block 1', 'clear'])
    await server.settled()

    const texts = model.turns('main').at(-1)?.userTexts ?? []
    const report = texts.findIndex((text) => text.includes('<task_result>'))
    const reasons = texts.flatMap((text, index) => (text.includes('Blocked stop ') ? [index] : []))
    expect(report).toBeGreaterThan(0)
    expect(reasons).toEqual([report + 1])
    expect(model.turns('worker')).toHaveLength(1)
  })

  it('is not prompted when the user interrupts it while its sub-agent is held; the sub-agent is interrupted too', async () => {
    const guarded = guardedProject()
    const { server, session, model } = await guarded.begin({
      main: [delegate('worker')],
      worker: waiting(2, () => NEVER, [bash(CREATE), say('Report.')]),
    })
    await model.arrived('worker', 2)
    await server.abort(session)
    await server.settled()
    expect(await server.busy()).toEqual([])
    expect(model.turns('worker')).toHaveLength(3)
    expect(model.turns('main')).toHaveLength(1)
    expect(guarded.story()).toEqual(['create', 'block 1'])
  })
})

describe.skipIf(hostsSkipped())('one server', () => {
  it('keeps two conversations and two tasks apart', async () => {
    const guarded = guardedProject()
    const { server, model } = await guarded.serve({
      one: dutiful([bash('postflight create 1 a'), say('One is done.')]),
      two: dutiful([bash('postflight create 2 b'), say('Two is done.')]),
      three: [say('Only passing.')],
    })
    const [one, two, three] = [await server.createSession(), await server.createSession(), await server.createSession()]
    await Promise.all([
      server.prompt(one, 'ACTOR:one go'),
      server.prompt(two, 'ACTOR:two go'),
      server.prompt(three, 'ACTOR:three go'),
    ])
    await Promise.all([model.arrived('one', 3), model.arrived('two', 3)])
    await server.settled()
    expect(reasonsIn(model.turns('one').at(-1))).toEqual([expect.stringContaining('Task 001_a')])
    expect(reasonsIn(model.turns('two').at(-1))).toEqual([expect.stringContaining('Task 002_b')])
    expect(model.turns('three')).toHaveLength(1)
    const told = (name: string) =>
      guarded.journal().flatMap(({ event, task, host_session }) => (event === name ? [`${task} ${host_session}`] : []))
    expect(told('block').sort()).toEqual([`001_a ${one}`, `002_b ${two}`])
    expect(told('create').sort()).toEqual([`001_a ${one}`, `002_b ${two}`])
  })
})

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

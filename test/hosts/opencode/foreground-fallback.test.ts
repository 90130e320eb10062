/** The foreground fallback on the real OpenCode: rate limits of the models of a chain. */

import { describe, expect, it } from 'vitest'
import { NEVER } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import type { Failure, Model, Reply, Script } from '../model.ts'
import { bash, delegate, say } from './agents.ts'
import { type GuardedOptions, type GuardedProject, guardedProject } from './guarded.ts'

const LIMITED = { status: 429, headers: { 'retry-after': '20' } }
const LIMITED_BRIEFLY = { status: 429, headers: { 'retry-after-ms': '50' } }

/** An agent whose models fail as the table says; the others say the lines. */
function limited(failing: Readonly<Record<string, Failure>>, ...lines: Reply[]): Script {
  return ({ request }) => {
    const failure = failing[request.model]
    return failure === undefined ? lines.shift() : { failure }
  }
}

/** The models that an actor's requests asked for, in order. */
function modelsOf(model: Model, actor = 'main'): string[] {
  return model.turns(actor).map(({ request }) => request.model)
}

/** Waits for a line of OpenCode's log, which OpenCode 1.18.34 writes some time after the event. */
function logged(guarded: GuardedProject, line: string): Promise<void> {
  return expect.poll(() => guarded.log(), { timeout: 20_000 }).toContain(line)
}

function withChains(chains: Readonly<Record<string, readonly string[]>>, config: object = {}): GuardedOptions {
  return {
    options: { foregroundFallback: { chains } },
    config: { enabled_providers: ['scripted', 'other'], ...config },
  }
}

/** The first is the one that fails, the third is not known to OpenCode. */
const THREE = withChains({ build: ['scripted/scripted-1', 'scripted/scripted-2', 'other/no-such', 'other/other-1'] })

describe.skipIf(hostsSkipped())('a rate limit under serve', () => {
  it('sends the message again with the next model, each once; the third answers', async () => {
    const guarded = guardedProject(THREE)
    const main = limited({ 'scripted-1': LIMITED, 'scripted-2': LIMITED }, say('Here.'), say('Again.'))
    const { server, session, model } = await guarded.talk({ main }, { turns: 3 })
    expect(modelsOf(model)).toEqual(['scripted-1', 'scripted-2', 'other-1'])
    expect(model.turns('main').at(-1)?.lastUserText).toBe('go')
    expect(JSON.stringify((await server.messages(session)).at(-1))).toContain('Here.')
    expect(await server.asked(session)).toEqual(Array(3).fill({ agent: 'build', isSynthetic: false }))
    await logged(guarded, 'scripted/scripted-2 is rate-limited, so the last message was sent again with other/')
    await logged(guarded, 'OpenCode has no model other/no-such')
    expect(guarded.story()).toEqual([])
    // The next message keeps the model that answered.
    await server.prompt(session, 'and now?')
    await model.arrived('main', 3)
    await server.settled()
    expect(modelsOf(model).slice(3)).toEqual(['other-1'])
  })

  it("ends with one error when all models fail: the last one's, after OpenCode's own retries", async () => {
    const guarded = guardedProject(withChains({ build: ['scripted/scripted-2'] }))
    const main = limited({ 'scripted-1': LIMITED, 'scripted-2': LIMITED_BRIEFLY })
    const { server, session, model } = await guarded.talk({ main }, { turns: 7 })
    expect(modelsOf(model)).toEqual(['scripted-1', ...Array(6).fill('scripted-2')])
    expect((await server.messages(session)).at(-1)?.info).toMatchObject({
      role: 'assistant',
      error: { name: 'APIError', data: { statusCode: 429 } },
    })
    await logged(guarded, 'no model of the chain is left')
    expect(guarded.log().split('no model of the chain is left')).toHaveLength(2)
  })

  it('is answered for two agents at once, each with its own chain', async () => {
    const agent = { alpha: { mode: 'primary', prompt: 'A.' }, beta: { mode: 'primary', prompt: 'B.' } }
    const guarded = guardedProject(
      withChains({ alpha: ['scripted/scripted-2'], beta: ['other/other-2', 'scripted/scripted-2'] }, { agent }),
    )
    const failing = { 'scripted-1': LIMITED }
    const { server, model } = await guarded.serve({
      alpha: limited(failing, say('From alpha.')),
      beta: limited(failing, say('From beta.')),
    })
    const sessions = [await server.createSession(), await server.createSession()]
    await Promise.all(
      ['alpha', 'beta'].map((name, index) => server.prompt(String(sessions[index]), `ACTOR:${name}`, { agent: name })),
    )
    await expect
      .poll(() => [modelsOf(model, 'alpha'), modelsOf(model, 'beta')].flat(), { timeout: 20_000 })
      .toHaveLength(4)
    await server.settled()
    expect(modelsOf(model, 'alpha')).toEqual(['scripted-1', 'scripted-2'])
    expect(modelsOf(model, 'beta')).toEqual(['scripted-1', 'other-2'])
  })

  it('of a prompt of the guard is sent again as that: it is counted once', async () => {
    const guarded = guardedProject(withChains({ build: ['scripted/scripted-2'] }))
    const lines = [bash('postflight create 259 x --operation research'), say('No.')]
    const { server, session, model } = await guarded.begin({
      main: ({ request, index }) => {
        if (request.model === 'scripted-2') return say('No.')
        return index < 2 ? lines[index] : { failure: LIMITED }
      },
    })
    await expect.poll(() => guarded.story(), { timeout: 30_000 }).toContain('cap 3')
    await server.settled()
    expect(guarded.story()).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
    expect((await server.asked(session)).map(({ isSynthetic }) => isSynthetic)).toEqual([false, true, true, true, true])
    expect(modelsOf(model)).toEqual(['scripted-1', 'scripted-1', 'scripted-1', ...Array(3).fill('scripted-2')])
  })

  it("ends with the user's interruption", async () => {
    const guarded = guardedProject(THREE)
    const { server, session, model } = await guarded.begin({
      main: ({ request }) => (request.model === 'scripted-1' ? { failure: LIMITED } : NEVER),
    })
    await model.arrived('main', 1)
    await server.abort(session)
    await server.settled()
    expect(modelsOf(model)).toEqual(['scripted-1', 'scripted-2'])
    expect(await server.busy()).toEqual([])
  })

  it('of a sub-agent, and of an agent without a chain, is left to OpenCode', async () => {
    const guarded = guardedProject(withChains({ general: ['scripted/scripted-2'] }))
    const worker = [{ failure: LIMITED_BRIEFLY }, say('Worked.')]
    const { model } = await guarded.talk({ main: [delegate('worker'), say('Done.')], worker }, { turns: 2 })
    expect(modelsOf(model, 'worker')).toEqual(['scripted-1', 'scripted-1'])
    expect(model.turns('main')[1]?.lastToolResult).toContain('Worked.')
  })
})

describe.skipIf(hostsSkipped())('a rate limit in run', () => {
  const notices = (stderr: string): string[] =>
    stderr.split('\n').filter((line) => line.startsWith('postflight-guard: '))

  it('is answered within one provider: the third model answers, and later requests go to it', async () => {
    const guarded = guardedProject(
      withChains({ build: ['other/other-1', 'scripted/scripted-2', 'scripted/scripted-small'] }),
    )
    const main = limited({ 'scripted-1': LIMITED, 'scripted-2': LIMITED }, bash('true'), say('Here.'))
    const { ran, model } = await guarded.run({ main })
    expect(modelsOf(model)).toEqual(['scripted-1', 'scripted-2', 'scripted-small', 'scripted-small'])
    expect(ran.texts).toEqual(['Here.'])
    expect(notices(ran.stderr)).toEqual([
      'postflight-guard: scripted/scripted-1 is rate-limited, so scripted/scripted-2 answers in its place.',
      'postflight-guard: scripted/scripted-2 is rate-limited, so scripted/scripted-small answers in its place.',
    ])
  })

  it("is reported in one line if only other providers are left; then come OpenCode's retries and its error", async () => {
    const guarded = guardedProject(withChains({ build: ['other/other-1'] }))
    const { client, model } = await guarded.start({ main: limited({ 'scripted-1': LIMITED_BRIEFLY }) })
    const ran = await client.done
    expect(ran.exitCode).toBe(1)
    expect(modelsOf(model)).toEqual(Array(6).fill('scripted-1'))
    expect(notices(ran.stderr)).toEqual([
      'postflight-guard: the model is rate-limited, and `opencode run` can switch only to a model of the same provider, which your configuration describes (npm or options.apiKey). Not tried: other/other-1.',
    ])
  })

  it('of every model ends with one error, and each model but the last is asked once', async () => {
    const guarded = guardedProject(withChains({ build: ['scripted/scripted-2'] }))
    const main = limited({ 'scripted-1': LIMITED_BRIEFLY, 'scripted-2': LIMITED_BRIEFLY })
    const { client, model } = await guarded.start({ main })
    const ran = await client.done
    expect(ran.exitCode).toBe(1)
    expect(modelsOf(model)).toEqual(['scripted-1', ...Array(6).fill('scripted-2')])
    expect(ran.events.filter(({ type }) => type === 'error')).toHaveLength(1)
    expect(notices(ran.stderr)).toEqual([
      'postflight-guard: scripted/scripted-1 is rate-limited, so scripted/scripted-2 answers in its place.',
      expect.stringContaining('no model of the chain is left (scripted/scripted-1, scripted/scripted-2)'),
    ])
  })
})

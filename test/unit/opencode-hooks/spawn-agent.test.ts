/** `spawnAgent` with a client of the test's own. With the real OpenCode: `hosts/opencode/reactive.test.ts`. */

import { describe, expect, it } from 'vitest'
import type { HostClient, Message, PromptBody } from '../../../src/hosts/opencode/api.ts'
import {
  deniedTools,
  isSpawned,
  noteSpawned,
  type SpawnRequest,
  spawnAgent,
} from '../../../src/opencode-hooks/spawn-agent.ts'

const DENIED = { permission: 'bash', pattern: 'git push*', action: 'deny' }
const NEVER = new Promise<never>(() => {})

type Answer = { data?: unknown; error?: unknown }

interface FakeOptions {
  readonly answer?: () => Promise<Answer>
  readonly create?: Promise<Answer>
  readonly servers?: Record<string, unknown>
  readonly status?: Record<string, unknown> | Promise<never>
  readonly agents?: readonly object[]
}

/** The answer of a turn with these texts, or with an error. */
const said = (texts: string[], error?: object) => async () => ({
  data: { info: { role: 'assistant', error }, parts: texts.map((text) => ({ type: 'text', text })) },
})

function fakeClient(options: FakeOptions = {}) {
  const calls: string[] = []
  const bodies: PromptBody[] = []
  const user = { role: 'user', agent: 'build', model: { providerID: 'p', modelID: 'm', variant: 'high' } }
  const messages: Message[] = [{ info: { id: 'msg', sessionID: 'ses_main', ...user } as Message['info'], parts: [] }]
  const client = {
    app: { agents: async () => ({ data: options.agents ?? [{ name: 'general' }, { name: 'title', hidden: true }] }) },
    config: { providers: async () => ({ data: { providers: [{ id: 'p', models: { m: {}, other: {} } }] } }) },
    tool: { ids: async () => ({ data: ['bash', 'read', 'edit', 'write', 'task', 'question', 'webfetch'] }) },
    mcp: { status: async () => ({ data: options.servers ?? {} }) },
    session: {
      get: async () => ({ data: { id: 'ses_main', permission: [DENIED] } }),
      create: ({ body: { permission } }: { body: { permission: readonly object[] } }) => {
        calls.push('create')
        expect(permission[0], 'what its parent may not do').toEqual(DENIED)
        return options.create ?? Promise.resolve({ data: { id: 'ses_child' } })
      },
      messages: async () => ({ data: messages }),
      prompt: ({ body }: { body: PromptBody }) => {
        calls.push('prompt')
        bodies.push(body)
        return (options.answer ?? said(['fine']))()
      },
      abort: () => {
        calls.push('abort')
        throw new Error('no answer')
      },
      status: async () => ({ data: (await options.status) ?? {} }),
    },
  }
  return { client: client as unknown as HostClient, calls, bodies }
}

const REQUEST: SpawnRequest = { parentID: 'ses_main', prompt: 'Look.' }
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('spawnAgent', () => {
  it('returns the last text that is not empty', async () => {
    const { client, calls } = fakeClient({ answer: said(['first', 'second', ' \n']) })
    expect(await spawnAgent(client, REQUEST)).toEqual({ text: 'second' })
    expect(calls).toEqual(['create', 'prompt'])
    expect(isSpawned('ses_child')).toBe(true)
  })

  it("has the parent's model and variant unless its agent or the request names one, and its agent without `general`", async () => {
    const bodyOf = async (request: SpawnRequest, options?: FakeOptions) => {
      const { client, bodies } = fakeClient(options)
      await spawnAgent(client, request)
      return bodies[0]
    }
    expect(await bodyOf(REQUEST)).toMatchObject({ agent: 'general', model: { modelID: 'm' }, variant: 'high' })
    const named = await bodyOf({ ...REQUEST, model: 'p/other' })
    expect(named).toMatchObject({ agent: 'general', model: { modelID: 'other' } })
    expect(named).not.toHaveProperty('variant')
    const agents = [{ name: 'general', model: { providerID: 'p', modelID: 'own' } }]
    expect(await bodyOf(REQUEST, { agents })).not.toHaveProperty('model')
    // The user has switched `general` off.
    expect(await bodyOf(REQUEST, { agents: [{ name: 'build' }] })).toMatchObject({ agent: 'build' })
  })

  it('does not list hidden agents if the name is unknown', async () => {
    const { client, calls } = fakeClient()
    const answer = await spawnAgent(client, { ...REQUEST, agent: 'ghost' })
    expect(answer).toEqual({ why: 'OpenCode has no agent "ghost" (it has general)' })
    expect(calls).toEqual([])
  })

  it.each<[string, FakeOptions, string]>([
    ['nothing was said', { answer: said([]) }, 'its last message has no text'],
    ['the turn failed', { answer: said([], { data: { message: 'Bad' } }) }, 'Bad'],
    ['the turn failed without words', { answer: said([], {}) }, 'unknown error'],
    ['OpenCode refused it', { answer: async () => ({ error: { name: 'X' } }) }, 'refused session.prompt (X)'],
    ['OpenCode refused the session', { create: Promise.resolve({ error: {} }) }, 'refused session.create (no answer)'],
    ['the client threw', { answer: () => Promise.reject(new Error('boom')) }, 'boom'],
    ['the client threw null', { answer: () => Promise.reject(null) }, 'null'],
  ])('says why if %s', async (_what, options, why) => {
    expect(await spawnAgent(fakeClient(options).client, REQUEST)).toEqual({ why: expect.stringContaining(why) })
  })

  it('interrupts the sub-agent at the time limit, also if OpenCode no longer answers', async () => {
    const { client, calls } = fakeClient({ answer: () => NEVER, status: NEVER })
    expect(await spawnAgent(client, { ...REQUEST, timeoutMs: 20 })).toEqual({ why: 'no answer within 0.02 s' })
    expect(calls).toEqual(['create', 'prompt', 'abort'])
  })

  it('interrupts a sub-agent again that was not busy yet, or if that failed', async () => {
    let end = (_answer: { error: object }): void => {}
    const answer = new Promise<{ error: object }>((resolve) => (end = resolve))
    const { client, calls } = fakeClient({ answer: () => answer })
    await spawnAgent(client, { ...REQUEST, timeoutMs: 20 })
    const interruptions = (): number => calls.filter((call) => call === 'abort').length
    await expect.poll(interruptions, { timeout: 5_000 }).toBe(2)
    end({ error: {} })
    await pause(600)
    expect(interruptions()).toBe(2)
  })

  it('waits at most an hour, whatever the time limit', async () => {
    const { client } = fakeClient({ answer: () => pause(50).then(said(['fine'])) })
    for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31]) {
      expect(await spawnAgent(client, { ...REQUEST, timeoutMs })).toEqual({ text: 'fine' })
    }
    for (const timeoutMs of [-1, 0.5, Number.NaN]) {
      expect(await spawnAgent(client, { ...REQUEST, timeoutMs })).toEqual({ why: expect.stringContaining('no answer') })
    }
  })

  it('starts nothing when it cannot know the tools of MCP servers', async () => {
    const { client, calls } = fakeClient()
    const mcp = { status: async () => ({ error: {} }) }
    const answer = await spawnAgent({ ...client, mcp }, { ...REQUEST, tools: ['bash'] })
    expect(answer).toEqual({ why: expect.stringContaining('refused mcp.status') })
    expect(calls).toEqual([])
  })

  it('says that its model was asked again', async () => {
    const status = { ses_child: { type: 'retry', message: 'Too many' } }
    const { client } = fakeClient({ answer: () => NEVER, status })
    const answer = await spawnAgent(client, { ...REQUEST, timeoutMs: 20 })
    expect(answer).toEqual({ why: expect.stringContaining('asked again after an error (Too many)') })
  })

  it('interrupts the sub-agent when the signal is raised', async () => {
    const { client, calls } = fakeClient({ answer: () => NEVER })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 20)
    expect(await spawnAgent(client, { ...REQUEST, signal: controller.signal })).toEqual({ why: 'it was interrupted' })
    expect(calls).toEqual(['create', 'prompt', 'abort'])
  })

  it('prompts nothing when the signal was raised before', async () => {
    const { client, calls } = fakeClient()
    expect(await spawnAgent(client, { ...REQUEST, signal: AbortSignal.abort() })).toEqual({ why: 'it was interrupted' })
    await pause(20)
    expect(calls).not.toContain('prompt')
  })

  it('prompts nothing in a session that was created too late', async () => {
    const create = pause(60).then(() => ({ data: { id: 'ses_late' } }))
    const { client, calls } = fakeClient({ create })
    expect(await spawnAgent(client, { ...REQUEST, timeoutMs: 20 })).toEqual({ why: 'no answer within 0.02 s' })
    await create
    await pause(20)
    expect(calls).toEqual(['create'])
  })
})

describe('deniedTools', () => {
  const denied = async (allowed?: readonly string[], servers: Record<string, unknown> = {}): Promise<string[]> =>
    (await deniedTools(fakeClient({ servers }).client, allowed)).sort()

  it('always denies what would start other agents or ask a person', async () => {
    expect(await denied()).toEqual(['question', 'task', 'workflow_run'])
    expect(await denied(['task', 'question', 'bash'])).toEqual(expect.arrayContaining(['question', 'task']))
  })

  it('denies everything that is not listed', async () => {
    const others = ['apply_patch', 'edit', 'question', 'task', 'webfetch', 'workflow_run', 'write']
    expect(await denied(['bash', 'read'])).toEqual(others)
    expect(await denied([])).toContain('bash')
  })

  it.each(['edit', 'write', 'apply_patch'])('leaves all tools that edit when %s is listed', async (tool) => {
    const names = await denied([tool])
    for (const edits of ['edit', 'write', 'apply_patch']) expect(names).not.toContain(edits)
  })

  it('denies the tools of MCP servers of which none is listed', async () => {
    const servers = { 'git hub': {}, jira: {} }
    expect(await denied(['bash'], servers)).toEqual(expect.arrayContaining(['git_hub_*', 'jira_*']))
    const names = await denied(['jira_search'], servers)
    expect(names).toContain('git_hub_*')
    expect(names).not.toContain('jira_*')
  })
})

it('spawned sessions are remembered, the newest 1,000 of them', () => {
  for (let number = 0; number <= 1_000; number++) noteSpawned(`ses_${number}`)
  expect(['ses_0', 'ses_1', 'ses_1000', 'ses_other'].filter(isSpawned)).toEqual(['ses_1', 'ses_1000'])
})

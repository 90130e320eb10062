/** Parts of the reactive sub-agents that the real OpenCode shows only at odd moments. */

import { describe, expect, it } from 'vitest'
import type { HostClient, Message, ToolOutput } from '../../../src/hosts/opencode/api.ts'
import { createReactiveAgentHook } from '../../../src/opencode-hooks/index.ts'
import { Findings, PendingCalls } from '../../../src/opencode-hooks/reactive-agent.ts'

type Table<Value> = Record<string, Value>

function clientWith(parents: Table<string | undefined>, busy: Table<unknown> | undefined): HostClient {
  const get = async ({ path: { id } }: { path: { id: string } }) =>
    id in parents ? { data: { id, parentID: parents[id] } } : { error: { name: 'NotFoundError' } }
  return { session: { get, status: async () => ({ data: busy }) } } as unknown as HostClient
}

const RULE = { tool: 'bash', command: 'git *', prompt: 'p' }
const BUSY = { child: { type: 'busy' } }
const CALL = { tool: 'bash', sessionID: 's', callID: 'c' }
const ABORTED = { name: 'MessageAbortedError' }

const errorOf = (sessionID: string | undefined, error: object) => ({
  type: 'session.error',
  properties: sessionID === undefined ? { error } : { sessionID, error },
})

describe('a call that waits', () => {
  it.each([
    ['its session', errorOf('child', ABORTED)],
    ['the session above it', errorOf('main', ABORTED)],
    ['a deleted session', { type: 'session.deleted', properties: { info: { id: 'main' } } }],
  ])('is interrupted with %s', async (_what, event) => {
    const calls = new PendingCalls(clientWith({ child: 'main', main: undefined }, BUSY))
    const held = await calls.hold('child', async (signal, lineage) => {
      calls.onEvent(event)
      return [signal.aborted, ...lineage]
    })
    expect(held).toEqual({ result: [true, 'child', 'main'], isInterrupted: true })
  })

  it.each([
    ['another error', errorOf('child', { name: 'APIError' })],
    ['another session', errorOf('other', ABORTED)],
    ['an error of no session', errorOf(undefined, ABORTED)],
    ['another event', { type: 'session.idle', properties: { sessionID: 'child' } }],
  ])('continues after %s', async (_what, event) => {
    const calls = new PendingCalls(clientWith({ child: 'main', main: undefined }, BUSY))
    expect((await calls.hold('child', async () => calls.onEvent(event))).isInterrupted).toBe(false)
  })

  it.each([
    ['is idle', {}, true],
    ['is idle and listed', { child: { type: 'idle' } }, true],
    ['is busy', BUSY, false],
    ['is not known', undefined, false],
  ])('is taken for interrupted if its session %s when the analysis ends: %j', async (_what, busy, interrupted) => {
    const calls = new PendingCalls(clientWith({ child: undefined }, busy))
    expect(await calls.hold('child', async () => 1)).toEqual({ result: 1, isInterrupted: interrupted })
  })

  it('is held if OpenCode knows neither its parents nor its state', async () => {
    const client = { session: { get: async () => ({ error: {} }), status: () => Promise.reject(new Error('x')) } }
    const calls = new PendingCalls(client as unknown as HostClient)
    const held = await calls.hold('child', async (_signal, lineage) => lineage)
    expect(held).toEqual({ result: ['child'], isInterrupted: false })
  })

  it('ends its walk to the root in a circle of parents', async () => {
    const calls = new PendingCalls(clientWith({ child: 'main', main: 'child' }, BUSY))
    expect((await calls.hold('child', async (_signal, lineage) => lineage.length)).result).toBe(51)
  })
})

describe('what was found', () => {
  const part = { type: 'tool', state: { status: 'error', error: 'failed' } }
  const failed = (callID: string, sessionID = 's') =>
    ({ info: { sessionID }, parts: [structuredClone({ ...part, callID })] }) as unknown as Message

  it('is added once to a text, or to the parts of an MCP server', () => {
    const findings = new Findings()
    findings.keep('s', 'a', 'FOUND')
    findings.keep('s', 'b', 'FOUND')
    const text: ToolOutput = { output: 'done' }
    findings.addToResult('s', 'a', text)
    findings.addToResult('s', 'a', text)
    expect(text.output).toBe('done\n\nFOUND')
    const parts = { content: [{ type: 'text', text: 'done' }] } as unknown as ToolOutput
    findings.addToResult('s', 'b', parts)
    expect(parts.content).toEqual(['done', 'FOUND'].map((text) => ({ type: 'text', text })))
    const neither = {} as ToolOutput
    findings.addToResult('s', 'c', neither)
    findings.keep('s', 'c', 'FOUND')
    findings.addToResult('s', 'c', neither)
    expect(neither).toEqual({})
  })

  it('is added once to the error of a failed call, in each request', () => {
    const findings = new Findings()
    const message = failed('a')
    findings.addToErrors([message])
    findings.keep('s', 'a', 'FOUND')
    const others = [failed('other'), failed('a', 'other')]
    findings.addToErrors([message, ...others])
    findings.addToErrors([message])
    const errors = [message, ...others].map(({ parts }) => parts[0]?.state?.error)
    expect(errors).toEqual(['failed\n\nFOUND', 'failed', 'failed'])
  })

  it('is forgotten when 1,000 newer calls have not ended', () => {
    const findings = new Findings()
    for (let number = 0; number <= 1_000; number++) findings.keep('s', String(number), 'FOUND')
    const output: ToolOutput = { output: '' }
    findings.addToResult('s', '0', output)
    expect(output.output).toBe('')
    findings.addToResult('s', '1', output)
    expect(output.output).toBe('\n\nFOUND')
  })
})

describe('the reactive hook', () => {
  it('asks OpenCode nothing about calls without a rule', async () => {
    const client = new Proxy({}, { get: () => expect.fail('asked') })
    const hooks = createReactiveAgentHook({ client, directory: '/' }, [RULE])
    await hooks['tool.execute.before'](CALL, { args: { command: 'ls' } })
    const output: ToolOutput = { output: 'x' }
    await hooks['tool.execute.after'](CALL, output)
    expect(output.output).toBe('x')
  })

  /** The hooks, with a sub-agent that says `text`. */
  function answering(text: string, answer: 'block' | 'context' = 'block') {
    const client = {
      app: { agents: async () => ({ data: [{ name: 'general' }] }) },
      tool: { ids: async () => ({ data: [] }) },
      session: {
        get: async () => ({ data: { id: 's' } }),
        status: async () => ({ data: { s: { type: 'busy' } } }),
        messages: async () => ({ data: [] }),
        create: async () => ({ data: { id: 'analysis' } }),
        prompt: async () => ({ data: { info: { role: 'assistant' }, parts: [{ type: 'text', text }] } }),
      },
    }
    return createReactiveAgentHook({ client, directory: '/' }, [{ ...RULE, answer }])
  }

  it.each([
    ['BLOCK: secrets', true],
    ['BLOCK', true],
    ['**BLOCK** secrets', true],
    ['BLOCKED, because of secrets', true],
    ['BLOCKERS: none', false],
    ['I would not BLOCK this', false],
    ['block', false],
    ['BLOCK', false, 'context' as const],
  ])('takes "%s" for a refusal: %s', async (text, refuses, answer?: 'context') => {
    const hooks = answering(text, answer)
    const before = hooks['tool.execute.before'](CALL, { args: { command: 'git push' } })
    if (refuses) await expect(before).rejects.toThrow(text)
    else await before
  })

  it('gives a call nothing of an earlier one with the same id, whose result reached no hook', async () => {
    const hooks = answering('Fine.')
    await hooks['tool.execute.before'](CALL, { args: { command: 'git push' } })
    await hooks['tool.execute.before'](CALL, { args: { command: 'ls' } })
    const output: ToolOutput = { output: 'files' }
    await hooks['tool.execute.after'](CALL, output)
    expect(output.output).toBe('files')
  })
})

/** Parts of the reactive sub-agents that the real OpenCode shows only at odd moments. */

import { describe, expect, it } from 'vitest'
import type { HostClient, Message, ToolOutput } from '../../../src/hosts/opencode/api.ts'
import { createReactiveAgentHook } from '../../../src/opencode-hooks/index.ts'
import { Findings, WaitingCalls } from '../../../src/opencode-hooks/reactive-agent.ts'

function clientWith(
  parents: Record<string, string | undefined>,
  busy: Record<string, unknown> | undefined,
): HostClient {
  return {
    session: {
      get: async ({ path: { id } }: { path: { id: string } }) =>
        id in parents ? { data: { id, parentID: parents[id] } } : { error: { name: 'NotFoundError' } },
      status: async () => ({ data: busy }),
    },
  } as unknown as HostClient
}

const BUSY = { child: { type: 'busy' } }
const ABORTED = { name: 'MessageAbortedError' }

describe('a call that waits', () => {
  it.each([
    ['its session', { type: 'session.error', properties: { sessionID: 'child', error: ABORTED } }],
    ['the session above it', { type: 'session.error', properties: { sessionID: 'main', error: ABORTED } }],
    ['a deleted session', { type: 'session.deleted', properties: { info: { id: 'main' } } }],
  ])('is interrupted with %s', async (_what, event) => {
    const calls = new WaitingCalls(clientWith({ child: 'main', main: undefined }, BUSY))
    const held = await calls.hold('child', async (signal, lineage) => {
      calls.onEvent(event)
      return [signal.aborted, ...lineage]
    })
    expect(held).toEqual({ result: [true, 'child', 'main'], isInterrupted: true })
  })

  it.each([
    ['another error', { type: 'session.error', properties: { sessionID: 'child', error: { name: 'APIError' } } }],
    ['another session', { type: 'session.error', properties: { sessionID: 'other', error: ABORTED } }],
    ['an error of no session', { type: 'session.error', properties: { error: ABORTED } }],
    ['another event', { type: 'session.idle', properties: { sessionID: 'child' } }],
  ])('goes on after %s', async (_what, event) => {
    const calls = new WaitingCalls(clientWith({ child: 'main', main: undefined }, BUSY))
    const { isInterrupted } = await calls.hold('child', async () => calls.onEvent(event))
    expect(isInterrupted).toBe(false)
  })

  it.each([
    ['is idle', {}, true],
    ['is idle and listed', { child: { type: 'idle' } }, true],
    ['is busy', BUSY, false],
    ['is not known', undefined, false],
  ])('is taken for interrupted where its session %s when the analysis ends: %j', async (_what, busy, interrupted) => {
    const calls = new WaitingCalls(clientWith({ child: undefined }, busy))
    expect(await calls.hold('child', async () => 1)).toEqual({ result: 1, isInterrupted: interrupted })
  })

  it('is held where OpenCode knows neither its parents nor its state', async () => {
    const client = { session: { get: async () => ({ error: {} }), status: () => Promise.reject(new Error('x')) } }
    const calls = new WaitingCalls(client as unknown as HostClient)
    const held = await calls.hold('child', async (_signal, lineage) => lineage)
    expect(held).toEqual({ result: ['child'], isInterrupted: false })
  })

  it('ends its walk to the root in a circle of parents', async () => {
    const calls = new WaitingCalls(clientWith({ child: 'main', main: 'child' }, BUSY))
    const { result } = await calls.hold('child', async (_signal, lineage) => lineage.length)
    expect(result).toBe(51)
  })
})

describe('what was found', () => {
  const failed = (callID: string, sessionID = 's'): Message =>
    ({
      info: { sessionID },
      parts: [{ type: 'tool', callID, state: { status: 'error', error: 'failed' } }],
    }) as unknown as Message

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
    expect(parts.content).toEqual([
      { type: 'text', text: 'done' },
      { type: 'text', text: 'FOUND' },
    ])
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
    expect([message, ...others].map(({ parts }) => parts[0]?.state?.error)).toEqual([
      'failed\n\nFOUND',
      'failed',
      'failed',
    ])
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
    const client = new Proxy(
      {},
      {
        get: () => {
          throw new Error('asked')
        },
      },
    )
    const hooks = createReactiveAgentHook({ client, directory: '/' }, [{ tool: 'bash', command: 'git *', prompt: 'p' }])
    const call = { tool: 'bash', sessionID: 's', callID: 'c' }
    await hooks['tool.execute.before'](call, { args: { command: 'ls' } })
    const output: ToolOutput = { output: 'x' }
    await hooks['tool.execute.after'](call, output)
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
    return createReactiveAgentHook({ client, directory: '/' }, [
      { tool: 'bash', command: 'git *', prompt: 'p', answer },
    ])
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
    const call = { tool: 'bash', sessionID: 's', callID: 'c' }
    const before = hooks['tool.execute.before'](call, { args: { command: 'git push' } })
    if (refuses) await expect(before).rejects.toThrow(text)
    else await before
  })

  it('gives a call nothing of an earlier one with the same id, whose result reached no hook', async () => {
    const hooks = answering('Fine.')
    const call = { tool: 'bash', sessionID: 's', callID: 'call_0' }
    await hooks['tool.execute.before'](call, { args: { command: 'git push' } })
    await hooks['tool.execute.before'](call, { args: { command: 'ls' } })
    const output: ToolOutput = { output: 'files' }
    await hooks['tool.execute.after'](call, output)
    expect(output.output).toBe('files')
  })
})

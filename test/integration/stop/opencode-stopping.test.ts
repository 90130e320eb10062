/**
 * The `session.stopping` hook that OpenCode has announced: called before a session stops, it lets a plugin say why the
 * session should continue. No released OpenCode has it, so these tests call the built plugin as the proposals describe.
 */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import type { Hooks, PluginInput, StoppingOutput, UserMessage } from '../../../src/hosts/opencode/api.ts'
import { begun, edit } from '../../support/done-project.ts'
import { PACKAGE } from '../../support/process.ts'
import { createSourceProject, type Project, withMarker } from '../../support/project.ts'

const PLUGIN = pathToFileURL(join(PACKAGE, 'dist', 'opencode', 'postflight-guard.mjs')).href

/** The part of a host that a stop needs: the parents of sessions, messages. Any other call is an error, which is reported. */
function hostWith(parents: Record<string, string>, messages: object[] = []) {
  const calls: string[] = []
  const called = (name: string) => async () => {
    calls.push(name)
    return { data: true }
  }
  const client = {
    session: {
      get: async ({ path }: { path: { id: string } }) => ({ data: { id: path.id, parentID: parents[path.id] } }),
      status: async () => ({ data: {} }),
      messages: async () => ({ data: messages }),
      promptAsync: called('promptAsync'),
    },
    app: { log: called('log') },
    tui: { showToast: called('showToast') },
  }
  return { client: client as unknown as PluginInput['client'], calls }
}

async function load(project: Project, client: PluginInput['client'], options?: object): Promise<Hooks> {
  const { default: plugin } = await import(PLUGIN)
  return plugin.server({ client, directory: project.dir }, options)
}

const MESSAGE = { id: 'msg_0', role: 'user', sessionID: 'ses_main' } as UserMessage

describe.each(['session.stopping', 'experimental.session.stopping'] as const)('%s', (name) => {
  it('blocks a main conversation three times, then allows the stop, and sends no prompt on idle', async () => {
    const project = withMarker({ reason: 'Commit first.', cc_session_id: 'ses_main', agent_id: 'main' })
    const { client, calls } = hostWith({})
    const hooks = await load(project, client)
    const stop = async (): Promise<StoppingOutput> => {
      const output: StoppingOutput = { stop: true }
      await hooks[name]?.({ sessionID: 'ses_main' }, output)
      await hooks.event?.({ event: { type: 'session.idle', properties: { sessionID: 'ses_main' } } })
      return output
    }
    const outputs = [await stop(), await stop(), await stop(), await stop()]
    const blocked = { stop: false, continue: true, message: expect.stringMatching(/^Commit first\./) }
    expect(outputs).toEqual([blocked, blocked, blocked, { stop: true }])
    expect(project.has('specs/259_x/.postflight-abandoned')).toBe(true)
    expect(calls).not.toContain('promptAsync')
  })

  it('records what became of the markers even if a run cannot be used', async () => {
    const project = createSourceProject()
    project.write('flow.json', JSON.stringify({ name: 'flow', phases: [{ id: 'a', prompt: 'p', artifact: 'a.txt' }] }))
    const env = { POSTFLIGHT_HOST_SESSION: 'ses_main', POSTFLIGHT_AGENT: 'main' }
    await project.cli(['workflow', 'start', '7', 'flow', '--definition', 'flow.json'], { env })
    await project.cli(['wait', '7', '--for', 'go-ahead'], { env })
    project.write('specs/007_flow/workflow/.postflight-lock/x', '')
    project.marker('259_x', { cc_session_id: 'ses_main', agent_id: 'main', stop_hook_active: true })
    const hooks = await load(project, hostWith({}).client)
    const output: StoppingOutput = { stop: true }
    await hooks[name]?.({ sessionID: 'ses_main' }, output)
    expect(output).toEqual({ stop: true })
    const [error, bypass] = project.journal().slice(-2)
    expect([error?.event, bypass?.event]).toEqual(['error', 'bypass'])
    expect(error?.detail).toMatch(/^postflight-guard: .*specs\/007_flow\/workflow\/\.postflight-lock cannot be read/)
  })

  it('reports a run whose state cannot be read', async () => {
    const project = createSourceProject()
    await project.cli(['workflow', 'start', '7', 'flow', '--definition', 'four-phases'])
    project.write('specs/007_flow/workflow/state.json', '{')
    const { client, calls } = hostWith({})
    await (await load(project, client))[name]?.({ sessionID: 'ses_main' }, {})
    expect(project.journal().at(-1)).toMatchObject({ event: 'error', task: '007_flow' })
    expect(calls).toEqual(['log', 'showToast'])
  })

  it('allows the stops of sessions without a marker, and of sub-agents whose caller waits for them', async () => {
    const project = withMarker({ cc_session_id: 'ses_main', agent_id: 'ses_child' })
    const { client } = hostWith({ ses_child: 'ses_main' })
    const hooks = await load(project, client)
    for (const sessionID of ['ses_main', 'ses_child', 'ses_other']) {
      const output: StoppingOutput = { stop: true }
      await hooks[name]?.({ sessionID }, output)
      expect(output).toEqual({ stop: true })
    }
    expect(project.has('specs/259_x/.postflight-claims')).toBe(false)
  })
})

it.each([
  ['well: once, although the event comes twice', { finish: 'stop' }, 1],
  ['by an error: never', { error: { name: 'APIError' } }, 0],
  ["by the user's Esc: never", { finish: 'stop', error: { name: 'MessageAbortedError' } }, 0],
  ['with a tool that was refused: never', { finish: 'tool-calls' }, 0],
  ['as a compaction: never', { finish: 'stop', summary: true }, 0],
])('an idle conversation, not its child, is prompted if its turn ended %s', async (_how, end, prompts) => {
  const project = withMarker({ cc_session_id: 'ses_main' })
  const said = { id: 'msg_1', role: 'assistant', parentID: 'msg_0', time: { completed: 1 }, ...end }
  const messages = [{ id: 'msg_0', role: 'user', agent: 'build', model: {} }, said].map((info) => ({ info, parts: [] }))
  const { client, calls } = hostWith({ ses_child: 'ses_main' }, messages)
  const hooks = await load(project, client)
  for (const sessionID of ['ses_child', 'ses_main', 'ses_main']) {
    await hooks.event?.({ event: { type: 'session.idle', properties: { sessionID } } })
  }
  expect(calls.filter((name) => name === 'promptAsync')).toHaveLength(prompts)
  expect(project.has('specs/259_x/.postflight-claims')).toBe(prompts > 0)
})

it('a stop that ends a run is judged by the definition of done, also after `plan_exit`', async ({ onTestFinished }) => {
  const project = await begun()
  vi.stubEnv('HOME', project.home)
  onTestFinished(() => void vi.unstubAllEnvs())
  const hooks = await load(project, hostWith({}).client)
  const [planned, built] = ['plan', 'build'].map((agent) => ({ ...MESSAGE, agent }))
  await hooks['chat.message']?.({ sessionID: 'ses_main' }, { message: planned as UserMessage, parts: [] })
  await hooks['experimental.chat.messages.transform']?.({}, { messages: [{ info: built as UserMessage, parts: [] }] })
  const env = { POSTFLIGHT_HOST_SESSION: 'ses_main', POSTFLIGHT_AGENT: 'main' }
  await project.cli(['workflow', 'start', '7', 'flow', '--definition', 'four-phases'], { env })
  await edit(project, 'src/a.ts')
  await project.cli(['workflow', 'next', '7'], { env })
  await project.cli(['workflow', 'stop', '7'])
  const output: StoppingOutput = { stop: true }
  await hooks['session.stopping']?.({ sessionID: 'ses_main' }, output)
  expect(output.message).toContain('postflight done')
})

it('with POSTFLIGHT_DISABLE=1 the plugin has no hooks', async ({ onTestFinished }) => {
  vi.stubEnv('POSTFLIGHT_DISABLE', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await load(createSourceProject(), hostWith({}).client)).toEqual({})
})

it.each([true, false])('updates the wait of a marker after a command, unless `guard` is false: %j', async (guard) => {
  const wait = { for: 'an answer', prompt_id: 'earlier', count: 1 }
  const project = withMarker({ cc_session_id: 'ses_main', agent_id: 'main', wait })
  const hooks = await load(project, hostWith({}).client, { guard })
  await hooks['chat.message']?.({ sessionID: 'ses_main' }, { message: MESSAGE, parts: [] })
  const call = { tool: 'bash', sessionID: 'ses_main', callID: '1', args: { command: 'postflight inspect' } }
  await hooks['tool.execute.after']?.(call, { output: '' })
  expect(project.read('specs/259_x/.postflight-pending').includes('earlier')).toBe(!guard)
})

/** The plugin listed twice, switched off, and failing. */

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, reasonsIn, reportIn, say, stubborn } from './agents.ts'
import { guardedProject, pluginAt, scene } from './guarded.ts'

const CREATE = 'postflight create 259 x --operation research'

describe.skipIf(hostsSkipped())('the plugin', () => {
  it('acts once if it is listed twice: the same file, and another copy of the package', async () => {
    const guarded = guardedProject()
    const copy = join(guarded.project.base, 'another copy')
    cpSync(guarded.packageFolder, copy, { recursive: true })
    const plugin = pluginAt(guarded.packageFolder)
    guarded.changeConfig((config) => ({ ...config, plugin: [plugin, pluginAt(copy), plugin] }))
    const { model } = await guarded.talk({ main: stubborn(bash(CREATE), say('No.')) }, { turns: 5 })
    expect(model.turns('main')).toHaveLength(5)
    expect(guarded.story()).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
    const inRun = await guarded.run({ main: stubborn(bash('postflight create 260 y'), say('No.')) })
    expect(inRun.model.turns('main')).toHaveLength(5)
  })

  it('does nothing with POSTFLIGHT_DISABLE=1', async () => {
    const { guarded, model } = await scene(
      { main: [bash(`${CREATE}; env`), say('I am done.')] },
      { env: { POSTFLIGHT_DISABLE: '1' } },
    )
    expect(model.turns('main')).toHaveLength(2)
    expect(model.turns('main')[1]?.lastToolResult).not.toContain('POSTFLIGHT_HOST_SESSION')
    expect(guarded.story()).toEqual(['create'])
  })

  it('that fails in `run` does not change the turn, and reports the error on stderr and in the journal', async () => {
    const guarded = guardedProject()
    guarded.addPlugin(
      'sabotage.mjs',
      "client.session.message = () => { throw new Error('sabotage of message') }; return {}",
    )
    const { ran, model } = await guarded.run({ main: [bash(CREATE), say('I am done.')] })
    expect(ran.texts).toEqual(['I am done.'])
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([])
    const said = 'internal error (experimental.text.complete: sabotage of message)'
    expect(ran.stderr).toContain(said)
    expect(guarded.journal().at(-1)).toMatchObject({ event: 'error', detail: expect.stringContaining(said) })
  })

  it('that fails in `serve` leaves the conversation usable, and answers the next stop again', async () => {
    const guarded = guardedProject()
    guarded.addPlugin(
      'sabotage.mjs',
      `const messages = client.session.messages.bind(client.session)
       let left = 1
       client.session.messages = (request) => { if (left-- > 0) throw new Error('sabotage of messages'); return messages(request) }
       return {}`,
    )
    const { server, session, model } = await guarded.begin({ main: stubborn(bash(CREATE), say('No.'), say('No.')) })
    await expect.poll(() => guarded.log(), { timeout: 20_000 }).toContain('sabotage of messages')
    await server.settled()
    expect(model.turns('main')).toHaveLength(2)
    await server.prompt(session, 'and?')
    await model.arrived('main', 5)
    await server.settled()
    expect(model.turns('main')).toHaveLength(6)
    expect(guarded.story()).toEqual(['create', 'error', 'block 1', 'block 2', 'block 3', 'cap 3'])
  })

  it('that can no longer identify sessions breaks neither shell, nor tool, nor sub-agent', async () => {
    const guarded = guardedProject()
    guarded.addPlugin(
      'sabotage.mjs',
      `client.session.get = client.session.messages = client.session.status = () => { throw new Error('sabotage of all') }
       client.app.log = client.tui.showToast = () => { throw new Error('sabotage of the log') }
       return {}`,
    )
    guarded.project.write('specs/259_x/.postflight-pending', '{"reason": "Commit first."}')
    const main = [bash('echo from the shell'), delegate('worker'), say('Thanks.')]
    const { model } = await guarded.talk({ main, worker: [say('Report.')] }, { turns: 3 })
    expect(model.turns('main')[1]?.lastToolResult).toContain('from the shell')
    expect(reportIn(model.turns('main')[2]?.lastToolResult)).toBe('Report.')
  })

  it('that cannot withdraw a message counts it, so that no block reaches the agent uncounted', async () => {
    const guarded = guardedProject()
    guarded.addPlugin(
      'sabotage.mjs',
      "client._client.delete = () => { throw new Error('sabotage of delete') }; return {}",
    )
    const { ran, model } = await guarded.run({
      main: [bash(CREATE), bash('postflight inspect', 'Let me look.'), bash('postflight clear 259'), say('Done.')],
    })
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([expect.stringContaining('Blocked stop 1 of 3')])
    expect(guarded.story().filter((line) => line !== 'error')).toEqual(['create', 'block 1', 'clear'])
    expect(ran.texts).toEqual(['Let me look.', 'Done.'])
  })

  it('notes a conversation whose messages OpenCode cannot read once, not at every stop', async () => {
    const guarded = guardedProject()
    const { server, model } = await guarded.serve({ main: [bash(CREATE), say('One.'), say('Two.'), say('Three.')] })
    const session = await server.createSession()
    const format = { type: 'json_schema', schema: { type: 'object', properties: {} } } as const
    for (const index of [1, 2, 3]) {
      await server.prompt(session, 'go', { format })
      await model.arrived('main', index)
      await server.settled()
    }
    expect(guarded.story()).toEqual(['create', 'error'])
    expect(guarded.journal().at(-1)?.detail).toMatch(
      /^postflight-guard: OpenCode cannot read the messages of this conversation, so its stops are not blocked/,
    )
  })
})

/** A turn that the client runs again by itself after a restart. */

import { describe, expect, it, vi } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, NEVER, reasonsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const CREATE = bash('postflight create 7 demo --reason "Deploy, then commit"')
const WAIT = bash('postflight wait 7 --for "the build"')
const TASK = '007_demo'

function payloadsOf(guarded: GuardedProject): Record<string, unknown>[] {
  const lines = (guarded.read('../payloads') ?? '').split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe.skipIf(hostsSkipped())('a turn that is run again after a restart of the client', () => {
  it('begins with SessionStart and a new prompt: the wait is over, and the count stays', async () => {
    const guarded = guardedProject()
    const payloads = `'${guarded.project.base}/payloads'`
    for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop']) {
      guarded.addHook(event, `cat >> ${payloads}; echo >> ${payloads}`)
    }
    const lines = [CREATE, say('It is done.'), WAIT]
    const first = await guarded.start({ main: ({ index }) => lines[index] ?? NEVER })
    await first.model.arrived('main', 3)
    expect(guarded.marker(TASK)?.wait).toMatchObject({ for: 'the build' })
    first.client.kill()
    const { sessionId } = await first.client.done
    const before = payloadsOf(guarded)
    const main = [say('Here I am.'), bash('postflight clear 7'), say('It is cleared.')]
    const env = { CLAUDE_CODE_RESUME_INTERRUPTED_TURN: '1' }
    const resumed = { prompt: '', interactive: true, args: ['--resume', String(sessionId)], env }
    const { client, model } = await guarded.start({ main }, resumed)
    await vi.waitUntil(() => client.output().stdout.includes('"type":"result"'), 20_000)
    client.send('end')
    await client.done
    const [start, prompt] = payloadsOf(guarded).slice(before.length)
    expect(start).toMatchObject({ hook_event_name: 'SessionStart', source: 'resume', session_id: sessionId })
    const goOn = { hook_event_name: 'UserPromptSubmit', prompt: 'Continue from where you left off.' }
    expect(prompt).toMatchObject({ ...goOn, session_id: sessionId })
    expect(before.map(({ prompt_id: id }) => id)).not.toContain(prompt?.prompt_id)
    const counts = reasonsIn(model.turns('main').at(-1)).map((reason) => /Blocked stop (\d)/.exec(reason)?.[1])
    expect(counts).toEqual(['1', '2'])
    expect(guarded.story()).toContain('wait-end')
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'wait', 'block 2', 'clear'])
  })
})

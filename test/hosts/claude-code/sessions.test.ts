/** Ownership: a session's marker stays its own, also after `--resume`, until another session adopts it. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, dutiful, NEVER, reasonsIn, say, waiting } from './agents.ts'
import { expectCleanEnd, type GuardedProject, guardedProject } from './guarded.ts'

const CREATE = 'postflight create 7 demo --reason "Promised by the first session"'
const TASK = '007_demo'

describe.skipIf(hostsSkipped())('a marker of one session', () => {
  it('never blocks another session that runs at the same time in the same project, nor its sub-agents', async () => {
    const guarded = guardedProject()
    let isSecondOver = false
    const second = () => vi.waitUntil(() => isSecondOver, 100_000)
    const first = await guarded.start({ main: waiting(1, second, dutiful(bash(CREATE), say('First is done.'))) })
    await first.model.arrived('main', 1)
    const before = guarded.marker(TASK)
    expect(before).toMatchObject({ agent_id: 'main' })
    const { ran, model } = await guarded.run({
      main: [delegate('worker'), say('Second is done.')],
      worker: [say('The report.')],
    })
    expect(ran.result).toMatchObject({ result: 'Second is done.' })
    expect(model.turns('main')).toHaveLength(2)
    expect(model.turns('worker')).toHaveLength(1)
    expect(guarded.marker(TASK)).toEqual(before)
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
    isSecondOver = true
    const ended = await first.client.done
    expectCleanEnd(first.model, ended)
    expect(reasonsIn(first.model.turns('main').at(-1))).toHaveLength(1)
    expect(ended.result).toMatchObject({ result: 'First is done.' })
    expect(guarded.files(TASK)).toEqual([])
  })

  it('still blocks that session when it is resumed', async () => {
    const guarded = guardedProject()
    const session = await killedSession(guarded)
    const { ran, model } = await guarded.run(
      { main: dutiful(say('Done after all.')) },
      { prompt: 'go on', args: ['--resume', session] },
    )
    expect(ran.sessionId).toBe(session)
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([expect.stringMatching(/^Promised by the first session\n/)])
    expect(ran.result).toMatchObject({ result: 'Done after all.' })
    expect(guarded.files(TASK)).toEqual([])
  })

  it('does not block a fork of that session, which is notified of it', async () => {
    const guarded = guardedProject()
    const session = await killedSession(guarded)
    const { ran, model } = await guarded.run(
      { main: [say('The fork is done.')] },
      { prompt: 'go on', args: ['--resume', session, '--fork-session'] },
    )
    expect(ran.sessionId).not.toBe(session)
    expect(model.turns('main')[0]?.reminders.join('\n')).toContain(`- ${TASK}, work: pending, of another session`)
    expect(model.turns('main')).toHaveLength(1)
    expect(ran.result).toMatchObject({ result: 'The fork is done.' })
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })

  it('is announced to the next session after the first was killed, and blocks that one after it has adopted the marker', async () => {
    const guarded = guardedProject()
    const killed = await killedSession(guarded)
    const { ran, model } = await guarded.run({ main: dutiful(bash('postflight adopt 7'), say('Done for the first.')) })
    const main = model.turns('main')
    const announced = main[0]?.reminders.find((text) => text.includes('unfinished postflights')) ?? ''
    expect(announced).toContain(`- ${TASK}, work: pending, of another session, which may still be running, `)
    expect(announced).toContain('postflight adopt <task>')
    // The text of a file that may have come with a repository is not shown to a model without a request.
    expect(announced).not.toContain('Promised by the first session')
    expect(reasonsIn(main.at(-1))).toEqual([expect.stringMatching(/^Promised by the first session\n/)])
    expect(ran.result).toMatchObject({ result: 'Done for the first.' })
    expect(ran.sessionId).not.toBe(killed)
    expect(guarded.story()).toEqual(['create', 'claim', 'adopt', 'claim', 'block 1', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
  })
})

/** A session that creates a marker and is killed before its postflight; returns the session's id. */
async function killedSession(guarded: GuardedProject): Promise<string> {
  const session = randomUUID()
  const { client, model } = await guarded.start(
    { main: waiting(1, () => NEVER, [bash(CREATE)]) },
    { args: ['--session-id', session] },
  )
  await model.arrived('main', 1)
  client.kill()
  await client.done
  expect(guarded.marker(TASK)).toMatchObject({ cc_session_id: session, agent_id: 'main' })
  return session
}

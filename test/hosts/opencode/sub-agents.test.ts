/** Sub-agents of OpenCode's `task` tool are held before their caller sees the result. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { Script } from '../model.ts'
import { bash, delegate, delegateInBackground, dutiful, reasonsIn, reportIn, say, stubborn } from './agents.ts'
import { type GuardedProject, guardedProject, scene, talk } from './guarded.ts'

const CREATE = 'postflight create 259 x --operation research'
const REPORT = 'REPORT\n- first finding\n- second finding'

async function delegated(worker: Script, config: object = {}) {
  const guarded = guardedProject({ config })
  const main = [delegate('worker'), say('Thanks.')]
  const { model } = await guarded.talk({ main, worker }, { turns: 2 })
  return { guarded, model, report: reportIn(model.turns('main')[1]?.lastToolResult) }
}

describe.skipIf(hostsSkipped())('a sub-agent with a marker', () => {
  it('is held in `run` before its caller sees the result, and the caller receives the full report once', async () => {
    const worker = dutiful([bash(CREATE), say(REPORT)])
    const { guarded, ran, model } = await scene({ main: [delegate('worker'), say('Thanks.')], worker })
    const [reason] = reasonsIn(model.turns('worker').at(-1))
    expect(reason).toContain('repeat your full report')
    expect(model.turns('main')).toHaveLength(2)
    expect(reportIn(model.turns('main')[1]?.lastToolResult)).toBe(REPORT)
    expect(guarded.story()).toEqual(['create', 'block 1', 'clear'])
    const [created] = guarded.journal()
    expect(created?.host_session).toBe(ran.sessionId)
    expect(created?.agent).toMatch(/^ses_/)
    expect(created?.agent).not.toBe(ran.sessionId)
  })

  it('keeps its whole report, its agent and its model if its last message only says that it is done', async () => {
    const agent = { general: { model: 'scripted/scripted-2', prompt: 'You are general.' } }
    const { model, report } = await delegated(dutiful([bash(CREATE), say(REPORT)], say('Done.')), { agent })
    expect(report).toBe(`${REPORT}\n\nDone.`)
    const turns = model.turns('worker')
    expect(turns.map((turn) => turn.request.model)).toEqual(Array(4).fill('scripted-2'))
    expect(turns.at(-1)?.systemText).toContain('You are general.')
  })

  it('is held at most three times, and its caller is notified', async () => {
    const { guarded, model, report } = await delegated(stubborn(bash(CREATE), say(REPORT)))
    expect(model.turns('worker')).toHaveLength(5)
    expect(report).toMatch(/^REPORT\n- first finding\n- second finding\n\npostflight-guard: task 259_x stopped without/)
    expect(guarded.story()).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
  })

  it('is not held any longer when its turn ends in an error, and returns its text so far', async () => {
    const { guarded, model, report } = await delegated([bash(CREATE), say(REPORT), { failure: { status: 400 } }])
    expect(report).toBe(REPORT)
    expect(model.turns('worker')).toHaveLength(3)
    expect(guarded.story()).toEqual(['create', 'block 1'])
  })

  it('is held beside another one, each by its own marker', async () => {
    const main = [delegate('one', 'two'), say('Thanks.')]
    const one = dutiful([bash('postflight create 1 a'), say('Report of one.')])
    const two = dutiful([bash('postflight create 2 b'), say('Report of two.')])
    const { guarded, model } = await talk({ main, one, two }, { turns: 2 })
    expect(reasonsIn(model.turns('one').at(-1))).toEqual([expect.stringContaining('Task 001_a')])
    expect(reasonsIn(model.turns('two').at(-1))).toEqual([expect.stringContaining('Task 002_b')])
    const blocks = guarded.journal().filter(({ event }) => event === 'block')
    expect(new Set(blocks.map(({ task, agent }) => `${task} ${agent}`)).size).toBe(2)
    expect(blocks).toHaveLength(2)
  })

  it('is held too when a command of the user started it', async () => {
    const command = { work: { template: 'ACTOR:worker go', agent: 'general', subtask: true } }
    const guarded = guardedProject({ config: { command } })
    const worker = dutiful([bash(CREATE), say(REPORT)], say('Done.'))
    const { server, model } = await guarded.serve({ main: [say('Thanks.')], worker })
    await server.command(await server.createSession(), 'work', 'now')
    expect(reportIn(model.turns('main')[0]?.toolResults.at(-1))).toBe(`${REPORT}\n\nDone.`)
    expect(guarded.story()).toEqual(['create', 'block 1', 'clear'])
  })

  it('in the background is held inside its loop, and its caller receives the final report', async () => {
    const guarded = guardedProject()
    const main = [delegateInBackground('worker'), say('Waiting.'), say('Thanks.')]
    const worker = dutiful([bash(CREATE), say(REPORT)])
    const env = { OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS: '1' }
    const { server, model } = await guarded.begin({ main, worker }, { env })
    await model.arrived('main', 2)
    await server.settled()
    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(1)
    expect(reportIn(model.turns('main')[2]?.userTexts.join('\n'))).toBe(REPORT)
    expect(guarded.story()).toEqual(['create', 'block 1', 'clear'])
  })
})

describe.skipIf(hostsSkipped())('a sub-agent without a marker', () => {
  it("is not held while main's marker is pending; main is held afterwards", async () => {
    const guarded = guardedProject()
    const main = dutiful([bash(CREATE), delegate('worker'), say('I am done.')])
    const { model } = await guarded.talk({ main, worker: [say(REPORT)] }, { turns: 5 })
    expect(model.turns('worker')).toHaveLength(1)
    expect(reportIn(model.turns('main')[2]?.lastToolResult)).toBe(REPORT)
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
    expect(guarded.story()).toEqual(['create', 'block 1', 'clear'])
  })
})

const MARKER = 'specs/259_x/.postflight-pending'

describe.skipIf(hostsSkipped())('an unowned marker that plain bash wrote', () => {
  /** A conversation that runs a command and hands work to a sub-agent, which is never dutiful. */
  async function blocksOfWorker(guarded: GuardedProject, command = 'true'): Promise<string[]> {
    const main = [bash(command), delegate('worker'), say('Thanks.')]
    const { model } = await guarded.talk({ main, worker: stubborn(say('The report.')) }, { turns: 3 })
    return reasonsIn(model.turns('worker').at(-1))
  }

  it('made in the conversation holds its sub-agents', async () => {
    const fields = `{ "reason": "Commit first.", "created": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'" }`
    const make = `mkdir -p specs/259_x && echo '${fields}' > ${MARKER}`
    expect(await blocksOfWorker(guardedProject(), make)).toEqual(
      Array(3).fill(expect.stringMatching(/^Commit first\./)),
    )
  })

  it('from before the conversation holds no sub-agent of it', async () => {
    const guarded = guardedProject()
    guarded.project.write(MARKER, JSON.stringify({ created: new Date(Date.now() - 2 * 3_600_000).toISOString() }))
    expect(await blocksOfWorker(guarded)).toEqual([])
    expect(guarded.files('259_x')).toEqual(['.postflight-pending'])
  })
})

/**
 * The hook factories on the real OpenCode: the texts that the model gets from each, and the places where it must get
 * none.
 */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { RequestBody } from '../model.ts'
import { bash, call, delegate, read, say, stubborn } from './agents.ts'
import { mainTurns, projectWithFlow, runWorkflow, worker } from './flow.ts'
import { guardedProject } from './guarded.ts'

const START = bash('postflight workflow start 7 flow --definition flow.yaml')

function textOf({ messages, system }: RequestBody): string {
  return JSON.stringify([messages, system])
}

describe.skipIf(hostsSkipped())('the phase reminder', () => {
  const REMINDER = /^\[postflight-guard\] The workflow "four phases" of task 007_flow is in phase "(\w+)"/

  it("precedes the user's message in `run`, and nothing else: not a title, not our own messages, not a phase", async () => {
    const guarded = projectWithFlow()
    const { model, ran } = await guarded.run({ main: worker([START, say('Started.'), runWorkflow('7'), say('Done.')]) })
    const [before, reminded, told, after] = mainTurns(model.turns('main'))
    expect(before?.userTexts.filter((text) => REMINDER.test(text))).toEqual([])
    expect(reminded?.userTexts).toEqual([expect.stringMatching(REMINDER), 'go'])
    expect(reminded?.userTexts[0]).toContain(
      `is in phase "analyse". It must produce ${guarded.project.dir}/specs/007_flow/`,
    )
    expect(told?.userTexts.at(-1)).toContain('call the tool workflow_run once')
    for (const turn of [told, after]) expect(turn?.userTexts.filter((text) => REMINDER.test(text))).toEqual([])
    const phases = model.turns('main').filter((turn) => !mainTurns(model.turns('main')).includes(turn))
    expect(phases).not.toEqual([])
    for (const turn of phases) expect(textOf(turn.request)).not.toContain('is in phase')
    for (const { body } of model.helpers) expect(textOf(body)).not.toContain('is in phase')
    expect(ran.texts).toEqual(['Started.', 'Done.'])
  })

  it('reaches neither the title nor a compaction in `serve`, is not stored, and has the words of the options', async () => {
    const guarded = projectWithFlow({ options: { phaseReminder: { agents: ['build'], text: 'Slowly.' } } })
    const { server, model } = await guarded.serve({ main: [say('Hello.'), say('It runs.')] })
    const session = await server.createSession()
    const started = guarded.postflight(
      ...['workflow', 'start', '7', 'flow', '--definition', 'flow.yaml', '--host-session', session],
    )
    expect(started, started.stderr).toMatchObject({ status: 0 })
    await server.prompt(session, 'hello')
    await server.settled()
    await expect.poll(() => model.helpers.length, { timeout: 20_000 }).toBeGreaterThan(0)
    const [first] = model.turns('main')
    expect(first?.userTexts).toEqual([expect.stringMatching(/is in phase "analyse"\. .* Slowly\.$/), 'hello'])
    const titles = model.helpers.length
    for (const { body } of model.helpers) expect(textOf(body)).not.toContain('is in phase')
    await server.compact(session)
    await server.settled()
    expect(model.helpers.length).toBeGreaterThan(titles)
    for (const { body } of model.helpers) expect(textOf(body)).not.toContain('is in phase')
    expect(JSON.stringify(await server.messages(session))).not.toContain('is in phase')
  })

  it.each([
    ['is off where the option says so', false],
    ['does not reach agents that the option does not name', { agents: ['plan'] }],
  ])('%s', async (_, phaseReminder) => {
    const guarded = projectWithFlow({ options: { phaseReminder } })
    const main = stubborn(START, say('Started.'), say('So be it.'))
    const { model } = await guarded.talk({ main }, { turns: 3 })
    for (const turn of model.turns('main')) expect(textOf(turn.request)).not.toContain('is in phase')
  })
})

describe.skipIf(hostsSkipped())('the post-read nudge', () => {
  it('comes after every second read of the main conversation, not after other tools', async () => {
    const guarded = guardedProject({ options: { postReadNudge: { every: 2, text: 'NUDGE' } } })
    guarded.project.write('a.txt', 'one\n')
    const main = [read('a.txt'), bash('cat a.txt'), read('a.txt'), read('a.txt', 'a.txt'), say('Done.')]
    const { model } = await guarded.talk({ main }, { turns: 5 })
    const results = model.turns('main').at(-1)?.toolResults ?? []
    const nudged = results.map((text) => text.endsWith('\n\nNUDGE'))
    expect(nudged.slice(0, 3)).toEqual([false, false, true])
    // Of two reads at once, one is the fourth.
    expect(nudged.slice(3).sort()).toEqual([false, true])
  })

  it('is not given to a sub-agent, and has a default text', async () => {
    const guarded = guardedProject({ options: { postReadNudge: { every: 1, agents: ['build'] } } })
    guarded.project.write('a.txt', 'one\n')
    const { model } = await guarded.talk(
      { main: [read('a.txt'), delegate('worker'), say('Done.')], worker: [read('a.txt'), say('Read.')] },
      { turns: 3 },
    )
    expect(model.turns('main')[1]?.lastToolResult).toContain('[postflight-guard] You have read several files')
    expect(model.turns('worker')[1]?.lastToolResult).not.toContain('[postflight-guard]')
  })
})

describe.skipIf(hostsSkipped())('the fix of a failed delegation', () => {
  const GOOD = { description: 'work', prompt: 'ACTOR:worker go', subagent_type: 'general' }

  it('follows each error of `task`, with the agents that exist, and no error of another tool', async () => {
    const guarded = guardedProject({ options: { delegateTaskRetry: true } })
    const calls = [
      call('task', {}),
      call('task', { ...GOOD, subagent_type: 'nobody' }),
      call('task', { ...GOOD, subagent_type: 7 }),
      call('task', { ...GOOD, background: true }),
      call('skill', { name: 'no-such' }),
      call('task', GOOD),
      say('Done.'),
    ]
    const worker = [say('Unknown agent type: it failed')]
    const { server, session, model } = await guarded.talk({ main: calls, worker }, { turns: calls.length })
    const turns = model.turns('main')
    expect(turns.slice(1).map((turn) => turn.lastToolResult?.split('[postflight-guard] ')[1])).toEqual([
      expect.stringMatching(/^Call the task tool again with the argument "description"\..* Agents: .*\bgeneral\b/),
      expect.stringMatching(/^Unknown agent "nobody"\. Agents: .*\bgeneral\b/),
      expect.stringMatching(/^Call the task tool again with another value of "subagent_type"\./),
      'Call the task tool again without the argument "background", and wait for the result.',
      undefined,
      undefined,
    ])
    // The same words in every later request.
    expect(turns.at(-1)?.toolResults[1]).toBe(turns[2]?.lastToolResult)
    expect(JSON.stringify(await server.messages(session))).not.toContain('with one of them as subagent_type')
  })
})

describe.skipIf(hostsSkipped())('the recovery from broken JSON', () => {
  it('explains a call that was not JSON; not an unknown tool, and not the output of other tools', async () => {
    const guarded = guardedProject({ options: { jsonErrorRecovery: true } })
    const ERROR = 'JSON Parse error: Unterminated string'
    guarded.project.write('log.txt', `${ERROR}\n`)
    const broken = [call('read', {}, '{"filePath": "a'), call('read', {}, "{'filePath': 'a'}")]
    const others = [call('no_such_tool', {}), bash('cat log.txt'), read('log.txt'), say('Done.')]
    const { model } = await guarded.talk({ main: [...broken, ...others] }, { turns: 6 })
    const results = model.turns('main').at(-1)?.toolResults ?? []
    const hints = results.map((text) => text.split('[postflight-guard] ')[1])
    expect(hints[0]).toMatch(
      /^The call of "read" did not reach the tool, because its arguments were not valid JSON\.\n/,
    )
    expect(hints[0]).toContain('a string without its closing quote')
    expect(hints[1]).toContain('strings in single quotes')
    expect(hints.slice(2)).toEqual([undefined, undefined, undefined])
    expect(results.slice(3).every((text) => text.includes(ERROR))).toBe(true)
  })
})

describe.skipIf(hostsSkipped())('the header of GitHub Copilot', () => {
  const config = {
    enabled_providers: ['github-copilot'],
    model: 'github-copilot/copilot-1',
    small_model: 'github-copilot/copilot-small',
  }
  const CREATE = bash('postflight create 259 x --operation research')

  it("is on the requests that answer our message, and not on the user's or a title's, in `run`", async () => {
    const guarded = guardedProject({ options: { chatHeaders: true }, config })
    const { model } = await guarded.run({ main: stubborn(CREATE, say('No.')) })
    const marks = model.turns('main').map(({ headers }) => headers['x-initiator'])
    expect(marks).toEqual([undefined, undefined, 'agent', 'agent', 'agent'])
    expect(model.helpers.map(({ headers }) => headers['x-initiator'])).toEqual([undefined])
  })

  it.each([
    ['on them in `serve`', { options: { chatHeaders: true }, config }, 'agent'],
    ['not on those to another provider', { options: { chatHeaders: true } }, undefined],
    ['not there without the option', { options: {}, config }, undefined],
  ])('is %s', async (_, options, mark) => {
    const { model } = await guardedProject(options).talk({ main: stubborn(CREATE, say('No.')) }, { turns: 5 })
    const marks = model.turns('main').map(({ headers }) => headers['x-initiator'])
    expect(marks).toEqual([undefined, undefined, mark, mark, mark])
  })
})

describe.skipIf(hostsSkipped())('a wrong option', () => {
  it('is reported in one line each, and the session continues with the rest', async () => {
    const guarded = guardedProject({
      options: { postReadNudge: { every: 0 }, jsonErrorRecovery: true, unknownThing: 1 },
    })
    guarded.project.write('a.txt', 'one\n')
    const { ran, model } = await guarded.run({ main: [read('a.txt'), call('read', {}, '{'), say('Done.')] })
    const lines = ran.stderr.split('\n').filter((line) => line.startsWith('postflight-guard: '))
    expect(lines).toEqual([
      'postflight-guard: unknown option "unknownThing".',
      'postflight-guard: option "postReadNudge.every" is invalid, so postReadNudge stays off: it must be at least 1.',
    ])
    expect(model.turns('main')[1]?.lastToolResult).not.toContain('[postflight-guard]')
    expect(model.turns('main')[2]?.lastToolResult).toContain('[postflight-guard] The call of "read"')
  })

  it('is in the log of `serve`, which starts and answers', async () => {
    const guarded = guardedProject({ options: { foregroundFallback: { chains: { build: ['gpt'] } } } })
    const { server, session } = await guarded.talk({ main: [say('Here.')] })
    await expect
      .poll(() => guarded.log(), { timeout: 10_000 })
      .toContain('is invalid, so foregroundFallback stays off: not')
    expect(JSON.stringify((await server.messages(session)).at(-1))).toContain('Here.')
  })
})

describe.skipIf(hostsSkipped())('the options `guard` and `workflow`', () => {
  it('switch them off: no marker blocks, and the tool is missing', async () => {
    const guarded = guardedProject({ options: { guard: false, workflow: false } })
    const main = [bash('postflight create 259 x --operation research'), say('I stop.')]
    const { model } = await guarded.talk({ main }, { turns: 2 })
    expect(guarded.marker('259_x')).toBeDefined()
    expect(guarded.story()).toEqual(['create'])
    const tools = (model.turns('main')[0]?.request.tools ?? []).map(({ name }) => name)
    expect(tools).toContain('bash')
    expect(tools).not.toContain('workflow_run')
  })
})

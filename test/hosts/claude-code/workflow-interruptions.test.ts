/** Runs that survive a day of work: background shells, limits of the host, interruptions, kills, and helpers that stop early. */

import { describe, expect, it, vi } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { IN_TASK, leave } from '../four-phases.ts'
import type { Model, Reply } from '../model.ts'
import { bash, call, inBackground, NEVER, promptsIn, reasonsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'
import type { RunningClient } from './run-client.ts'
import { attemptsIn, follower, START } from './workflow-agents.ts'

function projectWith(...phases: readonly object[]): GuardedProject {
  const guarded = guardedProject()
  guarded.project.write('flow.yaml', JSON.stringify({ name: 'day', phases }))
  return guarded
}

const BUILD = { id: 'build', prompt: 'Build it.', artifact: 'built.txt' }
const REPORT = { id: 'report', prompt: 'Report it.', artifact: 'report.txt' }

describe.skipIf(hostsSkipped())('a build in the background that outlasts the turn', () => {
  const [command, description] = [`sleep 2; ${leave('built.txt', 'x')}`, 'build the project']
  const inShell = inBackground(command, description)

  it.each([
    ['an agent that waits for it, as offered', [bash('postflight wait 7 --for "the build"'), say('I wait.')], inShell],
    ['an agent that only ends its turn', [say('I still wait.')], inShell],
    ['the agent of a monitor', [say('I still wait.')], call('Monitor', { command, description, timeout_ms: 60_000 })],
  ])('costs %s no attempt; its end wakes the agent, and the run continues', async (_what, answer, build) => {
    const guarded = projectWith(BUILD, REPORT)
    const main = follower([START, say('Started.')], (reason) => {
      if (reason.includes('phase "build"')) return [build, say('It builds.')]
      if (reason.includes('phase "report"')) return [bash(leave('report.txt', 'x')), say('Reported.')]
      // The hook asks; then the end of the build wakes the agent.
      return [...answer, say('It is built.')]
    })
    const { ran, model } = await guarded.run({ main }, { allowedTools: 'Bash Monitor' })
    const last = model.turns('main').at(-1)
    expect(attemptsIn(last)).toEqual(['build 1', 'report 1'])
    const asked = reasonsIn(last).filter((reason) => reason.includes('running in the background'))
    expect(asked).toEqual([expect.stringContaining('"build the project"')])
    expect(asked[0]).toContain('postflight wait 007_flow --for')
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', prompts: 2 })
    expect(ran.result).toMatchObject({ result: 'Reported.' })
  })
})

describe.skipIf(hostsSkipped())('a server that ran before the prompt went out', () => {
  it('does not keep the run from going on, and attempts are counted as usual', async () => {
    const guarded = projectWith(BUILD, REPORT)
    const serve = inBackground('sleep 600', 'run the dev server')
    // The client does not end while the server runs.
    const { model } = await guarded.start({
      main: follower([serve, START, say('Started.')], (reason) => {
        if (reason.includes('attempt 1 of')) return [say('Not yet.')]
        return [bash(leave(reason.includes('"build"') ? 'built.txt' : 'report.txt', 'x')), say('Done.')]
      }),
    })
    await vi.waitUntil(() => guarded.state().outcome === 'completed', 30_000)
    expect(attemptsIn(model.turns('main').at(-1))).toEqual(['build 1', 'build 2', 'report 1', 'report 2'])
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(4)
  })
})

describe.skipIf(hostsSkipped())('a run that met the host’s limit of eight blocks', () => {
  it('continues when the user types again, with the prompt that the host threw away, as the same attempt', async () => {
    const guarded = projectWith({ ...BUILD, max_attempts: 12 })
    const talks = await guarded.run({ main: ({ index }) => (index === 0 ? START : say('Done.')) })
    expect(attemptsIn(talks.model.turns('main').at(-1))).toHaveLength(8)
    expect(guarded.state()).toMatchObject({ active: true, phase_attempts: 8, prompts: 9 })
    const { model } = await guarded.run(
      // The client shows the ninth block in the conversation that is resumed, although no turn followed it.
      { main: follower([say('I go on.')], () => [bash(leave('built.txt', 'x')), say('Built.')], 9) },
      { prompt: 'go on', args: ['--resume', String(talks.ran.sessionId)] },
    )
    const attempts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 9].map((attempt) => `build ${attempt}`)
    expect(attemptsIn(model.turns('main').at(-1))).toEqual(attempts)
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', phase_attempts: 8, prompts: 10 })
  })
})

/** Starts a client whose model is asked for the work of the first prompt, and never answers. */
async function inPhase(guarded: GuardedProject): Promise<{ client: RunningClient; model: Model }> {
  const { client, model } = await guarded.start({
    main: (turn) => (attemptsIn(turn).length > 0 ? NEVER : turn.index === 0 ? START : say('Started.')),
  })
  await vi.waitUntil(() => attemptsIn(model.turns('main').at(-1)).length > 0, 20_000)
  expect(guarded.state()).toMatchObject({ active: true, phase: 'build', phase_attempts: 0, prompts: 1 })
  return { client, model }
}

describe.skipIf(hostsSkipped())('a client that ends in mid-phase', () => {
  it.each([
    ['interrupted, as by Esc', 'SIGINT'],
    ['killed', 'SIGKILL'],
  ] as const)(
    '(%s): once the session is resumed, the prompt goes out again as the same attempt',
    async (_how, signal) => {
      const guarded = projectWith(BUILD, REPORT)
      const { client, model: first } = await inPhase(guarded)
      client.kill(signal)
      const { sessionId } = await client.done
      const { model } = await guarded.run(
        {
          main: follower(
            [say('Where was I?')],
            (reason) => [bash(leave(reason.includes('"build"') ? 'built.txt' : 'report.txt', 'x')), say('Done.')],
            reasonsIn(first.turns('main').at(-1)).length,
          ),
        },
        { prompt: 'go on', args: ['--resume', String(sessionId)] },
      )
      expect(attemptsIn(model.turns('main').at(-1)).slice(-2)).toEqual(['build 1', 'report 1'])
      expect(promptsIn(model.turns('main').at(-1)).at(-1)).toContain('Report it.')
      expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', phase_attempts: 0, prompts: 3 })
    },
  )
})

describe.skipIf(hostsSkipped())('Esc in mid-phase', () => {
  it.each([
    ['answers', undefined],
    ['runs a command', bash('sleep 30')],
  ])(
    'while the agent %s: the person’s message is answered without the prompt; after the next one it goes out again as the same attempt',
    async (_what, work) => {
      const guarded = projectWith(BUILD)
      let isInterrupted = false
      const left: Reply[] = [START, say('Started.'), ...(work === undefined ? [] : [work])]
      const { client, model } = await guarded.start(
        {
          main: (turn) => {
            const prompts = attemptsIn(turn).length
            if (prompts === 1 && !isInterrupted && left.length === 0) return NEVER
            if (prompts === 2 && guarded.read(`${IN_TASK}/built.txt`) === undefined)
              return bash(leave('built.txt', 'x'))
            return left.shift() ?? say('Here I am.')
          },
        },
        { interactive: true },
      )
      await vi.waitUntil(() => attemptsIn(model.turns('main').at(-1)).length === 1, 20_000)
      if (work !== undefined)
        await vi.waitUntil(() => left.length === 0 && model.requests.some(({ reply }) => reply === work), 20_000)
      isInterrupted = true
      client.send('esc')
      await vi.waitUntil(() => client.output().stdout.includes('"type":"result"'), 20_000)
      client.send({ message: 'Stop. What have you done so far?' })
      await vi.waitUntil(() => client.output().stdout.includes('you interrupted the workflow'), 20_000)
      expect(attemptsIn(model.turns('main').at(-1))).toEqual(['build 1'])
      expect(client.output().stdout).toContain('postflight workflow stop 007_flow --now')
      expect(guarded.state()).toMatchObject({ active: true, prompts: 1 })
      client.send({ message: 'Good, go on.' })
      await vi.waitUntil(() => guarded.state().active === false, 20_000)
      client.send('end')
      await client.done

      expect(attemptsIn(model.turns('main').at(-1))).toEqual(['build 1', 'build 1'])
      expect(guarded.state()).toMatchObject({ outcome: 'completed', phase_attempts: 0, prompts: 2 })
    },
  )
})

describe.skipIf(hostsSkipped())('workflow stop', () => {
  it('stops the run of an agent that the person interrupted at once', async () => {
    const guarded = projectWith(BUILD)
    const { client, model } = await guarded.start(
      {
        main: (turn) => {
          if (turn.index === 0) return START
          if (attemptsIn(turn).length === 0) return say('Started.')
          return model.turns('main').length === 3 ? NEVER : say('I stop.')
        },
      },
      { interactive: true },
    )
    await vi.waitUntil(() => attemptsIn(model.turns('main').at(-1)).length === 1, 20_000)
    client.send('esc')
    await vi.waitUntil(() => client.output().stdout.includes('"type":"result"'), 20_000)
    client.send({ message: 'Stop.' })
    await vi.waitUntil(() => client.output().stdout.includes('you interrupted the workflow'), 20_000)
    expect(guarded.postflight('workflow', 'stop', '7').stdout).toContain('· stopped ·')
    client.send({ message: 'Anything else?' })
    await vi.waitUntil(() => model.turns('main').length === 5, 20_000)
    client.send('end')
    await client.done
    expect(attemptsIn(model.turns('main').at(-1))).toEqual(['build 1'])
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'stopped', prompts: 1 })
  })
})

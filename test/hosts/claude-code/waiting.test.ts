/** Stops that are not the end: work in the background, and a question to the person. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, call, delegate, dutiful, inBackground, reasonsIn, say, stubborn, waiting } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const CREATE = bash('postflight create 7 demo --reason "Deploy, then commit"')
const WAIT = 'postflight wait 7 --for "the build"'
const TASK = '007_demo'

/** The hook for stops alone, as settings from before `PostToolUse` have it. */
function withStopsOnly(): GuardedProject {
  const guarded = guardedProject({ install: false })
  const hook = `"${join(guarded.packageFolder, 'hooks', 'postflight-hook')}"`
  for (const event of ['Stop', 'SubagentStop']) guarded.addHook(event, hook)
  return guarded
}

describe.skipIf(hostsSkipped())('a main conversation', () => {
  it.each([
    ['as installed', () => guardedProject()],
    ['with hooks for stops alone', withStopsOnly],
  ])('%s, waits for a build in the background, and is blocked again when the build wakes it', async (_how, make) => {
    const guarded = make()
    const { ran, model } = await guarded.run({
      main: [
        ...[CREATE, inBackground('sleep 2; echo built', 'build the project'), bash(WAIT), say('I wait for the build.')],
        ...[bash('postflight clear 7'), say('Built, deployed, committed.')],
      ],
    })
    expect(ran.result).toMatchObject({ result: 'Built, deployed, committed.' })
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([])
    expect(guarded.mainEvents()).toEqual(['create', 'wait', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
  })

  it('that asks the person something is not blocked; after the answer it is blocked again', async () => {
    const guarded = guardedProject()
    const asked = await guarded.run({
      main: [CREATE, bash('postflight wait 7 --for "go-ahead to deploy"'), say('May I deploy?')],
    })
    expect(asked.ran.result).toMatchObject({ result: 'May I deploy?' })
    expect(asked.model.turns('main')).toHaveLength(3)
    expect(guarded.marker(TASK)?.wait).toMatchObject({ for: 'go-ahead to deploy', count: 1 })
    const { ran, model } = await guarded.run(
      { main: dutiful(say('Deployed.')) },
      { prompt: 'yes', args: ['--resume', String(asked.ran.sessionId)] },
    )
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
    expect(ran.result).toMatchObject({ result: 'Deployed.' })
    expect(guarded.story()).toContain('wait-end')
    expect(guarded.files(TASK)).toEqual([])
  })
})

describe.skipIf(hostsSkipped())('a main conversation with a server in the background that never ends', () => {
  it('is blocked all the same, and the reason names the shell and offers `wait`', async () => {
    const guarded = guardedProject()
    // The client does not end while the server runs.
    const { model } = await guarded.start({
      main: stubborn(CREATE, inBackground('sleep 600', 'run the dev server'), say('All is done.')),
    })
    const reasons = reasonsIn(await model.arrived('main', 5))
    expect(reasons).toHaveLength(3)
    for (const reason of reasons) {
      expect(reason).toContain('Running in the background: "run the dev server".')
      expect(reason).toContain(`postflight wait ${TASK} --for "<what>"`)
    }
  })
})

describe.skipIf(hostsSkipped())('a main conversation that is woken by itself', () => {
  it('by a dynamic workflow may stop meanwhile, uncounted, and is blocked when the workflow has ended', async () => {
    const guarded = guardedProject()
    const stopped = join(guarded.project.base, 'stopped')
    guarded.addHook('Stop', `touch '${stopped}'`)
    const script = "export const meta = { name: 'demo', description: 'A demo' }\nreturn await agent('ACTOR:helper go')"
    const workflow = call('Workflow', { script })
    const { ran, model } = await guarded.run(
      {
        main: dutiful(CREATE, workflow, say('It runs.'), say('It has ended.')),
        helper: waiting(0, () => vi.waitUntil(() => existsSync(stopped), 20_000), [say('The result.')]),
      },
      { prompt: 'use a workflow', allowedTools: 'Bash Agent Workflow' },
    )
    expect(model.turns('helper')).toHaveLength(1)
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([
      expect.stringContaining('Blocked stop 1 of 3. (After the third, you may stop.)'),
    ])
    expect(ran.result).toMatchObject({ result: 'It has ended.' })
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
  })
})

describe.skipIf(hostsSkipped())('a main conversation that scheduled a wake-up', () => {
  const schedule = call('CronCreate', { cron: '* * * * *', prompt: 'look at the build', recurring: false })
  const TOOLS = { allowedTools: 'Bash CronCreate ScheduleWakeup' }

  it('that comes once may stop meanwhile, uncounted, and is blocked when it was woken', async () => {
    const guarded = guardedProject()
    // With `-p` alone the client does not stay for a wake-up of CronCreate (2.1.330).
    const { client, model } = await guarded.start(
      { main: dutiful(CREATE, schedule, say('I wait.'), say('It is built.')) },
      { ...TOOLS, interactive: true, timeoutMs: 110_000 },
    )
    expect(await model.arrived('main', 3)).toMatchObject({ lastUserText: 'look at the build' })
    expect(guarded.story()).toEqual(['create', 'claim'])
    await model.arrived('main', 5)
    client.send('end')
    await client.done
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([expect.stringContaining('Blocked stop 1 of 3.')])
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
  }, 120_000)

  it('is blocked after a resume, which drops the wake-up', async () => {
    const guarded = guardedProject()
    const wakeUp = call('ScheduleWakeup', { delaySeconds: 3600, reason: 'the build', prompt: 'look at the build' })
    const scheduled = await guarded.start(
      { main: [CREATE, wakeUp, say('I wait.')] },
      { ...TOOLS, args: ['--include-hook-events'] },
    )
    await vi.waitUntil(() => /"hook_event":"Stop".*"exit_code":0/.test(scheduled.client.output().stdout), 20_000)
    scheduled.client.kill()
    const { sessionId } = await scheduled.client.done
    expect(guarded.story()).toEqual(['create', 'claim'])
    const { model } = await guarded.run(
      { main: dutiful(say('It is built.')) },
      { prompt: 'well?', args: ['--resume', String(sessionId)] },
    )
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
  })
})

describe.skipIf(hostsSkipped())('a marker whose creation printed nothing', () => {
  it('is held for main, and lets the sub-agent go that looks around meanwhile', async () => {
    const guarded = guardedProject()
    const look = bash('postflight inspect --json; cat specs/*/.postflight-pending; postflight logs')
    const { ran, model } = await guarded.run({
      main: dutiful(bash('postflight create 7 demo > /dev/null'), delegate('worker'), say('Main is done.')),
      worker: [look, say('The report.')],
    })
    expect(model.turns('worker')).toHaveLength(2)
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
    expect(guarded.journal().find(({ event }) => event === 'claim')).toMatchObject({ agent: 'main' })
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
  })
})

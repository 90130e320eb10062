/** Emergencies: `POSTFLIGHT_DISABLE`, `bypass` and a broken install. The client always goes on. */

import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { leave } from '../four-phases.ts'
import { bash, dutiful, reasonsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject, pathWith, type SceneOptions } from './guarded.ts'
import { attemptsIn, follower, START, stateOf } from './workflow-agents.ts'

const CREATE = 'postflight create 7 demo'
const TASK = '007_demo'

describe.skipIf(hostsSkipped())('in an emergency', () => {
  it('POSTFLIGHT_DISABLE=1 allows the stop and changes nothing', async () => {
    const guarded = guardedProject()

    const { ran, model } = await guarded.run(
      { main: [bash(CREATE), say('Done.')] },
      { env: { POSTFLIGHT_DISABLE: '1' } },
    )

    expect(model.turns('main')).toHaveLength(2)
    expect(ran.result).toMatchObject({ result: 'Done.' })
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
    expect(guarded.story()).toEqual(['create'])
  })

  it('bypass allows the next stop, also after a block, and removes the marker', async () => {
    const guarded = guardedProject()

    const { ran, model } = await guarded.run({
      main: [bash(CREATE), say('Done.'), say('Done, really.'), bash('postflight bypass 7'), say('Done at last.')],
    })

    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(2)
    expect(ran.result).toMatchObject({ result: 'Done at last.' })
    expect(guarded.files(TASK)).toEqual([])
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'block 2', 'bypass-request', 'bypass'])
  })
})

describe.skipIf(hostsSkipped())('in an emergency during a run', () => {
  it('bypass --all, typed in another terminal, allows the next stop; resume continues the run', async () => {
    const guarded = guardedProject()
    const phases = [{ id: 'build', prompt: 'Build it.', artifact: 'built.txt' }]
    guarded.project.write('flow.yaml', JSON.stringify({ name: 'flow', phases }))
    let bypass: ReturnType<GuardedProject['postflight']> | undefined

    const { ran, model } = await guarded.run({
      main: follower([START, say('Started.')], () => {
        bypass ??= guarded.postflight('bypass', '--all')
        return [say('I stop.')]
      }),
    })

    const resume = 'postflight workflow resume 007_flow'
    expect(bypass?.stdout).toBe(`specs/007_flow: the workflow was stopped; to continue it: ${resume}\n`)
    expect(attemptsIn(model.turns('main').at(-1))).toEqual(['build 1'])
    expect(ran.result).toMatchObject({ result: 'I stop.' })
    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'stopped', prompts: 1 })

    const again = await guarded.run(
      { main: follower([bash(resume), say('Resumed.')], () => [bash(leave('built.txt', 'x')), say('Built.')], 1) },
      { prompt: 'go on', args: ['--resume', String(ran.sessionId)] },
    )
    expect(again.ran.result).toMatchObject({ result: 'Built.' })
    expect(stateOf(guarded)).toMatchObject({ outcome: 'completed', prompts: 2 })
  })
})

/** The command that writes a marker without the CLI, which may be broken too. */
const CREATE_BY_HAND = `mkdir -p specs/${TASK} && cat > specs/${TASK}/.postflight-pending << EOF
{ "reason": "by hand", "cc_session_id": "$CLAUDE_CODE_SESSION_ID", "agent_id": "main" }
EOF`

/** The tools that client, launcher and script need, without Node. */
const TOOLS = ['sh', 'bash', 'cat', 'mkdir', 'readlink', 'git', 'ps', 'uname', 'env', 'ls']

describe.skipIf(hostsSkipped())('with a broken install the client goes on, and the marker stays', () => {
  const inPackage = (guarded: GuardedProject, ...names: string[]): string => join(guarded.packageFolder, ...names)

  it('(an unbroken install blocks)', async () => {
    const guarded = guardedProject({ packageIn: 'project' })

    const { model } = await guarded.run({ main: dutiful(bash(CREATE_BY_HAND), say('Done.')) })

    expect(reasonsIn(model.turns('main').at(-1))).toEqual([expect.stringMatching(/^by hand\n/)])
  })

  const breakages: [string, { says: RegExp; breakIt: (guarded: GuardedProject) => SceneOptions | undefined }][] = [
    [
      'dist is missing',
      {
        says: /dist\/hook\.js is missing/,
        breakIt: (guarded) => void rmSync(inPackage(guarded, 'dist'), { recursive: true }),
      },
    ],
    [
      'Node is not on the PATH',
      {
        says: /node is not on the PATH of the hook/,
        breakIt: (guarded) => ({ path: pathWith(guarded.project, TOOLS) }),
      },
    ],
    [
      'the hook file is not executable',
      {
        says: /ermission denied/,
        breakIt: (guarded) => void chmodSync(inPackage(guarded, 'hooks', 'postflight-hook'), 0o644),
      },
    ],
    [
      'the whole package is gone',
      {
        // Like a teammate who has not installed the dependencies: there must be no message.
        says: /^$/,
        breakIt: (guarded) => void rmSync(guarded.packageFolder, { recursive: true }),
      },
    ],
  ]

  it.each(breakages)('%s', async (_what, { says, breakIt }) => {
    const guarded = guardedProject({ packageIn: 'project' })
    const options = breakIt(guarded)

    const { ran, model } = await guarded.run(
      { main: [bash(CREATE_BY_HAND), say('Done.')] },
      { args: ['--include-hook-events'], ...options },
    )

    expect(model.turns('main')).toHaveLength(2)
    expect(ran.result).toMatchObject({ result: 'Done.' })
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
    // The hook was called, and reports the fault in this case.
    const stops = ran.hooks.filter(({ event }) => event === 'Stop')
    expect(stops.map(({ stderr }) => stderr)).toEqual([expect.stringMatching(says)])
    expect(stops[0]?.exitCode).not.toBe(2)
    // The client waits for a hook that hangs until its time limit.
    expect(ran.durationMs).toBeLessThan(10_000)
  })
})

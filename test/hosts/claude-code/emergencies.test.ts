/** Emergencies: `POSTFLIGHT_DISABLE`, `bypass` and a broken install. The client always goes on. */

import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { leave } from '../four-phases.ts'
import { bash, say } from './agents.ts'
import { type GuardedProject, guardedProject, scene } from './guarded.ts'
import { attemptsIn, follower, START } from './workflow-agents.ts'

const CREATE = 'postflight create 7 demo'
const TASK = '007_demo'

describe.skipIf(hostsSkipped())('in an emergency', () => {
  it('POSTFLIGHT_DISABLE=1 allows the stop and changes nothing', async () => {
    const { guarded, ran, model } = await scene(
      { main: [bash(CREATE), say('Done.')] },
      { env: { POSTFLIGHT_DISABLE: '1' } },
    )
    expect(model.turns('main')).toHaveLength(2)
    expect(ran.result).toMatchObject({ result: 'Done.' })
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
    expect(guarded.story()).toEqual(['create'])
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
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'stopped', prompts: 1 })
    const again = await guarded.run(
      { main: follower([bash(resume), say('Resumed.')], () => [bash(leave('built.txt', 'x')), say('Built.')], 1) },
      { prompt: 'go on', args: ['--resume', String(ran.sessionId)] },
    )
    expect(again.ran.result).toMatchObject({ result: 'Built.' })
    expect(guarded.state()).toMatchObject({ outcome: 'completed', prompts: 2 })
  })
})

/** The command that writes a marker without the CLI, which may be broken too. */
const CREATE_BY_HAND = `mkdir -p specs/${TASK} && cat > specs/${TASK}/.postflight-pending << EOF
{ "reason": "by hand", "cc_session_id": "$CLAUDE_CODE_SESSION_ID", "agent_id": "main" }
EOF`

describe.skipIf(hostsSkipped())('with a broken install the client goes on, and the marker stays', () => {
  it.each<[string, { says: RegExp; breakIt: (packageFolder: string) => void }]>([
    [
      'dist is missing',
      { says: /dist\/hook\.js is missing/, breakIt: (folder) => rmSync(join(folder, 'dist'), { recursive: true }) },
    ],
    [
      'the hook file is not executable',
      { says: /ermission denied/, breakIt: (folder) => chmodSync(join(folder, 'hooks/postflight-hook'), 0o644) },
    ],
    // Like a teammate who has not installed the dependencies: there must be no message.
    ['the whole package is gone', { says: /^$/, breakIt: (folder) => rmSync(folder, { recursive: true }) }],
  ])('%s', async (_what, { says, breakIt }) => {
    const guarded = guardedProject({ packageIn: 'project' })
    breakIt(guarded.packageFolder)
    const main = [bash(CREATE_BY_HAND), say('Done.')]
    const { ran, model } = await guarded.run({ main }, { args: ['--include-hook-events'] })
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

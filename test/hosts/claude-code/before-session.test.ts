/** Unowned markers from before the session block none of its sub-agents; those made in it do. */

import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, reasonsIn, say, stubborn } from './agents.ts'
import { type GuardedProject, guardedProject, type SceneOptions } from './guarded.ts'

const TASK = '259_x'
const MARKER = `specs/${TASK}/.postflight-pending`

/** A marker may be older than the session by this much (ms), and still counts as made in it. */
const TOLERANCE_MS = 10_000

const MAKE = `mkdir -p specs/${TASK} && echo '{ "reason": "Made now", "created": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'" }' > ${MARKER}`
const HELD = Array(3).fill(expect.stringMatching(/^Made now\n/))

/** Runs a session whose sub-agent stops, and returns the reasons of its blocks. */
async function reasonsOfWorker(guarded: GuardedProject, options: SceneOptions = {}, first: string[] = []) {
  const { ran, model } = await guarded.run(
    { main: [...first.map(bash), delegate('worker'), say('Main is done.')], worker: stubborn(say('The report.')) },
    options,
  )
  expect(ran.result).toMatchObject({ result: 'Main is done.' })
  return reasonsIn(model.turns('worker').at(-1))
}

describe.skipIf(hostsSkipped())('an unowned marker', () => {
  it('from before the session holds no sub-agent of it', async () => {
    const guarded = guardedProject()
    const created = new Date(Date.now() - 20 * 3_600_000).toISOString()
    guarded.project.write(MARKER, JSON.stringify({ reason: 'Left from before', created }))
    expect(await reasonsOfWorker(guarded)).toEqual([])
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })

  it('written in the session holds its sub-agents', async () => {
    expect(await reasonsOfWorker(guardedProject(), {}, [MAKE])).toEqual(HELD)
  })

  it('written before the session was compacted and resumed holds its sub-agents', async () => {
    const guarded = guardedProject()
    const session = randomUUID()
    await guarded.run({ main: [bash(MAKE), say('First is done.')] }, { args: ['--session-id', session] })
    await setTimeout(TOLERANCE_MS + 500)
    const args = ['--resume', session]
    const compact = { main: () => say('<summary>A marker was made.</summary>') }
    const { ran, model } = await guarded.run(compact, { prompt: '/compact', args })
    expect(ran.events.map(({ subtype }) => subtype)).toContain('compact_boundary')
    // The compaction stops as a sub-agent of the client's own: nothing was counted for it.
    expect(model.turns('main')).toHaveLength(1)
    expect(await reasonsOfWorker(guarded, { prompt: 'go on', args })).toEqual(HELD)
  })

  it('written by the first line of a slash command, before the model was asked anything, holds its sub-agents', async () => {
    const guarded = guardedProject()
    const command = '---\nallowed-tools: Bash(sh *)\n---\n\n!`sh make.sh`\n\nHand the work to a sub-agent.\n'
    guarded.project.write('.claude/commands/begin.md', command)
    guarded.project.write('make.sh', `${MAKE}\n`)
    expect(await reasonsOfWorker(guarded, { prompt: '/begin' })).toEqual(HELD)
  })
})

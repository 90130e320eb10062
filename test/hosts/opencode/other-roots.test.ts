/** A marker in another root than the conversation's, made by a command that goes there by itself. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, dutiful, reasonsIn, reportIn, say, stubborn } from './agents.ts'
import { runWorkflow } from './flow.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const CREATE = 'cd ../worktree && postflight create 259 x --operation research'

function withOtherRoot(): GuardedProject {
  // Otherwise OpenCode asks whether the command may leave the project.
  const guarded = guardedProject({ config: { permission: { external_directory: 'allow' } } })
  mkdirSync(join(guarded.project.base, 'worktree', 'specs'), { recursive: true })
  return guarded
}

describe.skipIf(hostsSkipped())('a marker that `cd ../worktree && postflight create` made', () => {
  it('blocks the conversation, and the command in the reason clears it', async () => {
    const guarded = withOtherRoot()
    const { model } = await guarded.talk({ main: dutiful([bash(CREATE), say('I am done.')]) }, { turns: 4 })
    const last = model.turns('main').at(-1)
    expect(reasonsIn(last)).toEqual([expect.stringContaining('Task 259_x')])
    expect(last?.toolResults.at(-1)).toContain('cleared')
    expect(guarded.files('../../worktree/specs/259_x')).toEqual([])
  })

  it('blocks the sub-agent that made it', async () => {
    const guarded = withOtherRoot()
    const worker = stubborn(bash(CREATE), say('The report.'))
    const { model } = await guarded.talk({ main: [delegate('worker'), say('Thanks.')], worker }, { turns: 2 })
    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(3)
    expect(reportIn(model.turns('main')[1]?.lastToolResult)).toMatch(/^The report\./)
  })
})

it.skipIf(hostsSkipped())(
  'a run that `cd ../worktree && postflight workflow start` began is found by the tool',
  async () => {
    const guarded = withOtherRoot()
    const phases = [{ id: 'a', prompt: 'p', artifact: 'a.md' }]
    guarded.project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
    const start = 'postflight workflow start 7 flow --definition ../project/flow.json'
    const lines = [
      bash(`${start} && postflight workflow stop 7`),
      bash(`cd ../worktree && ${start} && touch specs/007_flow/a.md`),
      ...[say('Started.'), runWorkflow('007_flow'), say('Done.')],
    ]
    const { model } = await guarded.talk({ main: lines }, { turns: 5 })
    expect(model.turns('main').at(-1)?.lastToolResult).toContain('The workflow of task 007_flow is completed.')
  },
)

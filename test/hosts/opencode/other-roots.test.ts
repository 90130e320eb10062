/** A marker in another root than the conversation's, made by a command that goes there by itself. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, reasonsIn, reportIn, say, stubborn } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const CREATE = 'cd ../worktree && postflight create 259 x --operation research'

function withOtherRoot(): GuardedProject {
  // Otherwise OpenCode asks whether the command may leave the project.
  const guarded = guardedProject({ config: { permission: { external_directory: 'allow' } } })
  mkdirSync(join(guarded.project.base, 'worktree', 'specs'), { recursive: true })
  return guarded
}

/** The script of an agent that does as the reason says. */
function clears(first: ReturnType<typeof bash>) {
  let held = false
  return (turn: Parameters<typeof reasonsIn>[0]) => {
    if (turn?.index === 0) return first
    if (held || reasonsIn(turn).length === 0) return say('I am done.')
    held = true
    return bash(/clear the marker: (.+)/.exec(reasonsIn(turn)[0] ?? '')?.[1] ?? 'false')
  }
}

describe.skipIf(hostsSkipped())('a marker that `cd ../worktree && postflight create` made', () => {
  it('blocks the conversation, in `run` and in `serve`, and the reason names its root', async () => {
    const guarded = withOtherRoot()

    const ran = await guarded.run({ main: clears(bash(CREATE)) })
    const { server, model } = await guarded.serve({ main: stubborn(bash(`${CREATE} > /dev/null`), say('No.')) })
    const session = await server.createSession()
    await server.prompt(session, 'go')
    await model.arrived('main', 4)
    await server.settled()

    expect(reasonsIn(ran.model.turns('main').at(-1))).toEqual([expect.stringContaining('Task 259_x')])
    expect(ran.model.turns('main').at(-1)?.toolResults.at(-1)).toContain('cleared')
    expect(model.turns('main')).toHaveLength(5)
    expect(guarded.files('../../worktree/specs/259_x')).toEqual(['.postflight-abandoned'])
  })

  it('blocks the sub-agent that made it', async () => {
    const guarded = withOtherRoot()

    const { model } = await guarded.run({
      main: [delegate('worker'), say('Thanks.')],
      worker: stubborn(bash(CREATE), say('The report.')),
    })

    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(3)
    expect(reportIn(model.turns('main')[1]?.lastToolResult)).toMatch(/^The report\./)
  })
})

/** An answer in a form of its own (`--json-schema`) ends the turn, and the client throws the block of a stop hook away. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, commandsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject, scene } from './guarded.ts'

const CREATE = bash('postflight create 7 demo --reason "Deploy, then commit"')
const TASK = '007_demo'
const SCHEMA = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }
const WITH_SCHEMA = { args: ['--json-schema', JSON.stringify(SCHEMA)] }
function answer(text: string): Reply {
  return { tools: [{ name: 'StructuredOutput', input: { answer: text } }] }
}

/** The reason for which the agent's last call was refused. */
function refusalIn({ lastToolResult = '' }: Turn): string | undefined {
  return /^PreToolUse:StructuredOutput hook error: ([\s\S]*)/.exec(lastToolResult)?.[1]
}

/** An agent that says its lines, follows each refusal, and then answers again. */
function following(lines: readonly Reply[], follow: (reason: string) => Reply): Script {
  const left = [...lines]
  return (turn) => {
    const reason = refusalIn(turn)
    if (reason !== undefined) left.unshift(follow(reason), answer('again'))
    return left.shift()
  }
}

/** The story without the events that the events around them imply. */
function storyOf(guarded: GuardedProject): string[] {
  return guarded.story().filter((event) => event !== 'claim')
}

describe.skipIf(hostsSkipped())('a structured answer of the main conversation', () => {
  it('is refused once, and passes when the marker is cleared', async () => {
    const { guarded, ran, model } = await scene(
      { main: following([CREATE, answer('first')], (reason) => bash(commandsIn(reason).join(' && '))) },
      WITH_SCHEMA,
    )
    expect(ran.result).toMatchObject({ structured_output: { answer: 'again' } })
    expect(refusalIn(model.turns('main')[2] as Turn)).toMatch(/^Deploy, then commit\n[\s\S]*Blocked stop 1 of 3/)
    expect(storyOf(guarded)).toEqual(['create', 'block 1', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
  })

  it('is refused three times, then the marker is given up; the stop that the client throws away counts nothing', async () => {
    const guarded = guardedProject()
    guarded.addHook('Stop', `echo asked >> '${guarded.project.base}/stops'`)

    const { ran, model } = await guarded.run(
      { main: (turn) => (turn.index === 0 ? CREATE : answer('done')) },
      WITH_SCHEMA,
    )

    expect(ran.result).toMatchObject({ structured_output: { answer: 'done' } })
    expect(model.turns('main')).toHaveLength(5)
    expect(guarded.read('../stops')).toBe('asked\n')
    expect(storyOf(guarded)).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
    expect(guarded.files(TASK)).toEqual(['.postflight-abandoned'])
    expect(guarded.postflight('status', '--exit-code').status).toBe(1)
  })
})

describe.skipIf(hostsSkipped())('a structured answer of another agent', () => {
  it('of a dynamic workflow is refused for a marker of its own', async () => {
    const guarded = guardedProject()
    const script = `export const meta = { name: 'demo', description: 'A demo' }\nreturn await agent('ACTOR:helper go', { schema: ${JSON.stringify(SCHEMA)} })`

    const { model } = await guarded.run(
      {
        main: [{ tools: [{ name: 'Workflow', input: { script } }] }, say('It runs.'), say('It has ended.')],
        helper: following([CREATE, answer('first')], (reason) => bash(commandsIn(reason).join(' && '))),
      },
      { prompt: 'use a workflow', allowedTools: 'Bash Agent Workflow' },
    )

    expect(refusalIn(model.turns('helper')[2] as Turn)).toContain('Deploy, then commit')
    expect(storyOf(guarded)).toEqual(['create', 'block 1', 'clear'])
  })

  it('of a hook is not judged', async () => {
    const guarded = guardedProject()
    guarded.project.write(`specs/${TASK}/.postflight-pending`, '')
    const settings = JSON.parse(String(guarded.read('.claude/settings.json')))
    const asking = { matcher: 'Bash', hooks: [{ type: 'agent', prompt: 'ACTOR:checker $ARGUMENTS', timeout: 30 }] }
    settings.hooks.PreToolUse.push(asking)
    guarded.project.writeSettings(settings)

    const { model } = await guarded.run({
      main: [bash('echo hi'), say('Done.')],
      checker: [{ tools: [{ name: 'StructuredOutput', input: { ok: true } }] }],
    })

    expect(model.turns('main').at(-1)?.lastToolResult).toBe('hi')
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })
})

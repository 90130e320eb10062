/** Tools whose call ends the turn of an agent: the client throws the block of a stop hook away. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { leave } from '../four-phases.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, call, commandsIn, delegate, say } from './agents.ts'
import { guardedProject, scene } from './guarded.ts'
import { START } from './workflow-agents.ts'

const CREATE = bash('postflight create 7 demo --reason "Deploy, then commit"')
const TASK = '007_demo'

function refusalIn(turn: Turn | undefined): string | undefined {
  return /^PreToolUse:\w+ hook error: ([\s\S]*)/.exec(turn?.lastToolResult ?? '')?.[1]
}

/** An agent that makes a marker and ends its turn; it follows each refusal, and ends its turn again. */
function following(first: Reply, again: Reply): Script {
  const left = [CREATE, first]
  return (turn) => {
    const reason = refusalIn(turn)
    if (reason !== undefined) left.unshift(bash(commandsIn(reason).join(' && ')), again)
    return left.shift()
  }
}

const SCHEMA = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }
const WITH_SCHEMA = { args: ['--json-schema', JSON.stringify(SCHEMA)] }
const answer = (text: string): Reply => call('StructuredOutput', { answer: text })

describe.skipIf(hostsSkipped())('a structured answer', () => {
  it('of the main conversation is refused once, and passes when the marker is cleared', async () => {
    const { guarded, ran, model } = await scene({ main: following(answer('first'), answer('again')) }, WITH_SCHEMA)
    expect(ran.result).toMatchObject({ structured_output: { answer: 'again' } })
    expect(refusalIn(model.turns('main')[2])).toMatch(/^Deploy, then commit\n[\s\S]*Blocked stop 1 of 3/)
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
  })

  it('is refused three times, then the marker is given up; the stop that the client throws away counts nothing', async () => {
    const guarded = guardedProject()
    guarded.addHook('Stop', `echo asked >> '${guarded.project.base}/stops'`)
    const { ran, model } = await guarded.run(
      { main: ({ index }) => (index === 0 ? CREATE : answer('done')) },
      WITH_SCHEMA,
    )
    expect(ran.result).toMatchObject({ structured_output: { answer: 'done' } })
    expect(model.turns('main')).toHaveLength(5)
    expect(guarded.read('../stops')).toBe('asked\n')
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
    expect(guarded.files(TASK)).toEqual(['.postflight-abandoned'])
    expect(guarded.postflight('status', '--exit-code').status).toBe(1)
  })

  it('is refused for each prompt of a run; the client needs a variable to allow more than four refusals', async () => {
    const guarded = guardedProject()
    guarded.project.write('flow.yaml', '{ name: f, phases: [{ id: p, steps: [a, b, c, d, e, f], step_prompt: Do }] }')
    const work = bash(leave('step-result.json', '{"success": true}'))
    const main: Script = (turn) => [START][turn.index] ?? (refusalIn(turn) === undefined ? answer('done') : work)
    await guarded.run({ main }, { ...WITH_SCHEMA, env: { MAX_STRUCTURED_OUTPUT_RETRIES: '50' } })
    expect(guarded.state()).toMatchObject({ outcome: 'completed', prompts: 6 })
  })

  it('of an agent of a dynamic workflow is refused for a marker of its own', async () => {
    const script = `export const meta = { name: 'demo', description: 'A demo' }\nreturn await agent('ACTOR:helper go', { schema: ${JSON.stringify(SCHEMA)} })`
    const main = [call('Workflow', { script }), say('It runs.'), say('It has ended.')]
    const { guarded, model } = await scene(
      { main, helper: following(answer('first'), answer('again')) },
      { prompt: 'use a workflow', allowedTools: 'Bash Agent Workflow' },
    )
    expect(refusalIn(model.turns('helper')[2])).toContain('Deploy, then commit')
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'clear'])
  })

  it('of the agent of a hook is not judged', async () => {
    const guarded = guardedProject()
    guarded.project.write(`specs/${TASK}/.postflight-pending`, '')
    guarded.addHook('PreToolUse', { type: 'agent', prompt: 'ACTOR:checker $ARGUMENTS', timeout: 30 }, 'Bash')
    const checker = [call('StructuredOutput', { ok: true })]
    const { model } = await guarded.run({ main: [bash('echo hi'), say('Done.')], checker })
    expect(model.turns('main').at(-1)?.lastToolResult).toBe('hi')
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })
})

describe.skipIf(hostsSkipped())('a report that a sub-agent hands back in permission mode `auto`', () => {
  const handBack = (message: string): Reply => call('SubagentHandback', { message })

  /** A sub-agent that makes a marker, is refused, and then hands back these words; how often its caller read the report. */
  async function handedBack(words: string) {
    const guarded = guardedProject()
    // The client asks a server about the calls of the agents, which the test has not.
    const decision = { hookEventName: 'PreToolUse', permissionDecision: 'allow' }
    guarded.addHook('PreToolUse', `echo '${JSON.stringify({ hookSpecificOutput: decision })}'`, 'Agent|Bash')
    const worker = following(handBack('The report.'), handBack(words))
    const main = [delegate('worker'), say('Main is done.')]
    const { model } = await guarded.run({ main, worker }, { args: ['--permission-mode', 'auto'] })
    const seen = JSON.stringify(model.turns('main').at(-1)?.request.messages)
    return { guarded, model, reports: seen.split('The report.').length - 1 }
  }

  it('is refused once, and passes when the marker is cleared', async () => {
    const { guarded, model, reports } = await handedBack('The report.')
    expect(refusalIn(model.turns('worker')[2])).toMatch(/^Deploy, then commit\n[\s\S]*Blocked stop 1 of 3/)
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
    expect(reports).toBe(1)
  })

  it('reaches the caller, also if the sub-agent says less the second time', async () => {
    const { guarded, reports } = await handedBack('Done.')
    expect(reports).toBe(1)
    expect(readdirSync(join(guarded.project.dir, 'specs/.postflight/reports'))).toEqual([])
  })
})

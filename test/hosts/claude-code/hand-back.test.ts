/** In permission mode `auto` a sub-agent reports by a tool whose call ends its run, and the client throws a stop hook's block away. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, commandsIn, delegate, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const CREATE = bash('postflight create 7 demo --reason "Deploy, then commit"')
const TASK = '007_demo'
const AUTO = { args: ['--permission-mode', 'auto'] }

/** A project whose own hook allows the calls of the agents: the client asks a server for that, which the test has not. */
function autoProject(): GuardedProject {
  const guarded = guardedProject()
  const decision = { hookEventName: 'PreToolUse', permissionDecision: 'allow' }
  const command = `echo '${JSON.stringify({ hookSpecificOutput: decision })}'`
  const settings = JSON.parse(String(guarded.read('.claude/settings.json')))
  settings.hooks.PreToolUse.push({ matcher: 'Agent|Bash', hooks: [{ type: 'command', command }] })
  guarded.project.writeSettings(settings)
  return guarded
}

function handBack(message: string): Reply {
  return { tools: [{ name: 'SubagentHandback', input: { message } }] }
}

/** The reason for which the agent's last call was refused. */
function refusalIn({ lastToolResult = '' }: Turn): string | undefined {
  return /^PreToolUse:SubagentHandback hook error: ([\s\S]*)/.exec(lastToolResult)?.[1]
}

/** A sub-agent that follows each refusal, and then reports in these words. */
function following(last: Reply): Script {
  const left = [CREATE, handBack('The report.')]
  return (turn) => {
    const reason = refusalIn(turn)
    if (reason !== undefined) left.unshift(bash(commandsIn(reason).join(' && ')), last)
    return left.shift()
  }
}

/** The events without those that the events around them imply. */
function storyOf(guarded: GuardedProject): string[] {
  return guarded.story().filter((event) => event !== 'claim')
}

/** How often main's last request holds a text. */
function occurrences(turn: Turn | undefined, text: string): number {
  return JSON.stringify(turn?.request.messages).split(text).length - 1
}

describe.skipIf(hostsSkipped())('a report that a sub-agent hands back', () => {
  it('is refused once, and passes when the marker is cleared', async () => {
    const guarded = autoProject()
    const { model } = await guarded.run(
      { main: [delegate('worker'), say('Main is done.')], worker: following(handBack('The report.')) },
      AUTO,
    )
    expect(refusalIn(model.turns('worker')[2] as Turn)).toMatch(/^Deploy, then commit\n[\s\S]*Blocked stop 1 of 3/)
    expect(storyOf(guarded)).toEqual(['create', 'block 1', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
    expect(occurrences(model.turns('main').at(-1), 'The report.')).toBe(1)
  })

  it('reaches the caller, also if the sub-agent says less the second time', async () => {
    const guarded = autoProject()
    const { model } = await guarded.run(
      { main: [delegate('worker'), say('Main is done.')], worker: following(handBack('Done.')) },
      AUTO,
    )
    expect(occurrences(model.turns('main').at(-1), 'The report.')).toBe(1)
    expect(readdirSync(join(guarded.project.dir, 'specs/.postflight/reports'))).toEqual([])
  })
})

/** The reports of sub-agents that were blocked: their caller reads each one once, whatever their last message is. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { whenHeld } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, commandsIn, delegate, reasonsIn, say, useSkill } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const CREATE = 'postflight create 7 demo --reason "Write the summary first"'
const REPORT = `The whole report:\n${Array.from({ length: 150 }, (_, line) => `- finding ${line} "of" many`).join('\n')}`

/** The script of an agent that says its lines, and at a block clears the marker and says no more than that. */
function forgetful(...lines: readonly Reply[]): Script {
  return whenHeld(reasonsIn, lines, (reason) => [bash(commandsIn(reason).join(' && ')), say('Done.')])
}

function handedOver(turn: Turn | undefined): string[] {
  return (turn?.reminders ?? []).filter((text) => /PostToolUse:(?:Agent|Skill) hook additional context/.test(text))
}

function occurrences(turn: Turn | undefined, text: string): number {
  const { toolResults = [], reminders = [], userTexts = [] } = turn ?? {}
  return unindented([...toolResults, ...reminders, ...userTexts].join('\n')).split(text).length - 1
}

/** The client indents a report, and so does the hook. */
function unindented(text: string): string {
  return text.replace(/^ {2}/gm, '')
}

function keptReports({ project }: GuardedProject): string[] {
  const folder = join(project.dir, 'specs/.postflight/reports')
  return existsSync(folder) ? readdirSync(folder) : []
}

describe.skipIf(hostsSkipped())("a blocked sub-agent's report", () => {
  it.each([
    ['sub-agent', delegate('worker')],
    ['skill with `context: fork`', useSkill('worker')],
  ])('reaches main in full and once, when the %s ends with "Done."', async (_kind, start) => {
    const guarded = guardedProject()
    guarded.project.writeSkill('worker', { description: 'Research.', context: 'fork' }, 'ACTOR:worker go')
    const worker = forgetful(bash(CREATE), say(REPORT))
    const { model } = await guarded.run({ main: [start, bash('true'), say('Main is done.')], worker })
    const [, second, last] = model.turns('main')
    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(1)
    expect(second?.lastToolResult).toContain('Done.')
    expect(second?.lastToolResult).not.toContain('finding')
    const [told = '', ...others] = handedOver(second)
    expect(others).toEqual([])
    expect(unindented(told)).toContain(REPORT)
    expect(told).toContain(`the sub-agent ${model.turns('worker')[0]?.agentId}`)
    expect(occurrences(last, REPORT)).toBe(1)
    expect(keptReports(guarded)).toEqual([])
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
  })

  it('that is very long is in a file of the client, of which main gets the path', async () => {
    const guarded = guardedProject()
    const long = Array.from({ length: 3000 }, (_, line) => `- finding ${line}`).join('\n')
    const { model } = await guarded.run({
      main: [delegate('worker'), say('Main is done.')],
      worker: forgetful(bash(CREATE), say(long)),
    })
    const [told] = handedOver(model.turns('main').at(-1))
    const file = /saved to: (\S+additionalContext\.txt)/.exec(told ?? '')?.[1] ?? ''
    expect(unindented(readFileSync(file, 'utf8'))).toContain(long)
  })
})

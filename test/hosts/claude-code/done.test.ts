/** A definition of done: what a repository says once blocks the main agent's stops until it is proven. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { withRules } from '../done-rules.ts'
import type { Reply } from '../model.ts'
import { bash, delegate, reasonsIn, say } from './agents.ts'
import { guardedProject } from './guarded.ts'

const EDIT = bash('echo "$RANDOM$RANDOM" > src/a.ts')
const DONE = bash('postflight done')

describe.skipIf(hostsSkipped())('an agent that changed files which a rule names', () => {
  it('is blocked, learns which test is red, mends it, and ends', async () => {
    const guarded = withRules(guardedProject())
    const { ran, model } = await guarded.run({
      main: [
        ...[bash('echo two > src/a.ts; touch red'), say('Done.'), DONE, say('Done?')],
        ...[bash('rm red; postflight done'), say('Really done.')],
      ],
    })
    const [first, second, ...others] = reasonsIn(model.turns('main').at(-1))
    expect(first).toContain('  - src/**: src/a.ts\n')
    expect(first).toContain('postflight done')
    expect(first).toContain('Blocked stop 1 of 3')
    expect(second).toContain('failed the last time (exit code 1)\nThe end of its output:\n  | test 7 of 9 failed\n')
    expect(others).toEqual([])
    expect(ran.result).toMatchObject({ result: 'Really done.' })
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'block 2', 'clear'])
    expect(guarded.read('runs')).toBe('ran\nran\n')
    expect(guarded.postflight('status', '--exit-code')).toMatchObject({ status: 0 })
  })

  it('gives its structured answer only when the checks are green', async () => {
    const guarded = withRules(guardedProject())
    const schema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }
    const answer = (text: string): Reply => ({ tools: [{ name: 'StructuredOutput', input: { answer: text } }] })
    const { ran, model } = await guarded.run(
      { main: [EDIT, answer('early'), DONE, answer('proven')] },
      { args: ['--json-schema', JSON.stringify(schema)] },
    )
    expect(model.turns('main')[2]?.lastToolResult).toContain('src/a.ts')
    expect(ran.result).toMatchObject({ structured_output: { answer: 'proven' } })
  })
})

describe.skipIf(hostsSkipped())('nobody is blocked', () => {
  it('of the sub-agents: their caller is, who ends last', async () => {
    const guarded = withRules(guardedProject())
    const { model } = await guarded.run({
      main: [delegate('helper'), say('Done.'), DONE, say('Done.')],
      helper: [EDIT, say('I changed it.')],
    })
    expect(model.turns('helper')).toHaveLength(2)
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
  })

  it('by rules that no person has trusted, and the person is notified at the start', async () => {
    const guarded = withRules(guardedProject(), false)
    const { ran } = await guarded.run({ main: [EDIT, say('Done.')] }, { args: ['--include-hook-events'] })
    expect(guarded.story()).toEqual([])
    expect(guarded.read('runs')).toBe(undefined)
    const told = ran.hooks.filter(({ stdout }) => stdout.includes('postflight trust'))
    expect(told.map(({ event }) => event)).toEqual(['SessionStart'])
  })
})

/** A definition of done on OpenCode: what a repository says once blocks the main conversation's stops until it is proven. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { withRules } from '../done-rules.ts'
import { bash, delegate, reasonsIn, say } from './agents.ts'
import { guardedProject } from './guarded.ts'

const EDIT = bash('echo "$$ $(date +%N)" > src/a.ts')
const DONE = bash('postflight done')

describe.skipIf(hostsSkipped())('opencode run: an agent that changed files which a rule names', () => {
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
    expect(second).toContain('failed the last time (exit code 1)\nThe end of its output:\n  | test 7 of 9 failed\n')
    expect(others).toEqual([])
    expect(ran.texts.at(-1)).toBe('Really done.')
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'block 2', 'clear'])
    expect(guarded.read('runs')).toBe('ran\nran\n')
    expect(guarded.postflight('status', '--exit-code')).toMatchObject({ status: 0 })
  })

  it('is not asked by rules that no person has trusted, and the person is notified', async () => {
    const guarded = withRules(guardedProject(), false)
    const { ran } = await guarded.run({ main: [EDIT, say('Done.')] })
    expect(guarded.story()).toEqual([])
    expect(guarded.read('runs')).toBe(undefined)
    expect(ran.stderr.match(/trust/g)).not.toBe(null)
  })
})

describe.skipIf(hostsSkipped())('opencode serve: a main conversation that changed files which a rule names', () => {
  it('is prompted until the checks are green; its sub-agents are never blocked', async () => {
    const guarded = withRules(guardedProject())
    const main = [delegate('helper'), say('Done.'), DONE, say('Proven.')]
    const { model } = await guarded.talk({ main, helper: [EDIT, say('I changed it.')] }, { turns: 4 })
    expect(model.turns('helper')).toHaveLength(2)
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'clear'])
  })

  it('is prompted three times at most, and again after another message and a further change', async () => {
    const guarded = withRules(guardedProject())
    const refusing = [EDIT, say('1'), say('2'), say('3'), say('I give up.')]
    const main = [...refusing, say('Nothing.'), EDIT, say('Done.'), DONE, say('Proven.')]
    const { server, session, model } = await guarded.talk({ main }, { turns: 5 })
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
    for (const turns of [6, 10]) {
      await server.prompt(session, 'and now?')
      await model.arrived('main', turns - 1)
      await server.settled()
      expect(model.turns('main')).toHaveLength(turns)
    }
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(4)
    expect(guarded.postflight('status', '--exit-code')).toMatchObject({ status: 0 })
  })

  it('is not asked if it plans only', async () => {
    const guarded = withRules(guardedProject())
    const { model } = await guarded.talk({ main: [EDIT, say('My plan.')] }, { turns: 2, agent: 'plan' })
    expect(model.turns('main')).toHaveLength(2)
    expect(guarded.story()).toEqual([])
  })
})

/** Checks: "done" is proven by a command, which the agent's own shell runs. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { Reply } from '../model.ts'
import { bash, reasonsIn, say } from './agents.ts'
import { scene } from './guarded.ts'

const TASK = '007_demo'
const CLEAR = bash('postflight clear 7')

/** A check that fails, and names the failing test, until the file `fixed` exists. */
const CREATE = bash(`postflight create 7 demo --check 'echo "test 7 of 9 failed"; test -e fixed'`)

describe.skipIf(hostsSkipped())('an agent that says "done" with a red test', () => {
  it('is blocked, learns which test fails, fixes it, clears and ends', async () => {
    const { guarded, ran, model } = await scene({
      main: [CREATE, say('Done.'), CLEAR, say('Done?'), bash('touch fixed'), CLEAR, say('Really done.')],
    })
    const turns = model.turns('main')
    expect(turns[3]?.lastToolResult).toContain('failed (exit code 1;')
    expect(turns[3]?.lastToolResult).toContain('test 7 of 9 failed')
    const [first, second] = reasonsIn(turns.at(-1))
    expect(first).toContain('  - echo "test 7 of 9 failed"; test -e fixed\n')
    expect(second).toContain('failed the last time (exit code 1)\nThe end of its output:\n  | test 7 of 9 failed\n')
    expect(ran.result).toMatchObject({ result: 'Really done.' })
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'check', 'block 2', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
    expect(guarded.postflight('status', '--exit-code', '--github')).toMatchObject({ status: 0 })
  })
})

describe.skipIf(hostsSkipped())('a check that outlasts the limit of a shell call', () => {
  const SLOW = bash(`postflight create 7 demo --check 'sleep 5'`)
  const CLEAR_BRIEFLY: Reply = { tools: [{ name: 'Bash', input: { command: 'postflight clear 7', timeout: 1500 } }] }

  it('continues in the background: the agent waits, is woken, and the marker is cleared', async () => {
    const { guarded, ran, model } = await scene({
      main: [
        ...[SLOW, CLEAR_BRIEFLY, say('Done.')],
        ...[bash('postflight wait 7 --for "the checks"'), say('I wait.'), say('Cleared.')],
      ],
    })
    const [reason, ...others] = reasonsIn(model.turns('main').at(-1))
    expect(reason).toContain('They have been running since')
    expect(reason).toContain(`To wait for them: postflight wait ${TASK} --for "the checks"`)
    expect(others).toEqual([])
    expect(ran.result).toMatchObject({ result: 'Cleared.' })
    expect(guarded.mainEvents()).toEqual(['create', 'block 1', 'wait', 'clear'])
    expect(guarded.files(TASK)).toEqual([])
  })
})

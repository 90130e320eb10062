/** The guard under `opencode run`: agents are held inside the loop, because the process ends when the session is idle. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, dutiful, reasonsIn, say, stubborn } from './agents.ts'
import { guardedProject, scene } from './guarded.ts'

const TASK = '259_x'
const CREATE = 'postflight create 259 x --operation research --reason "Postflight pending: git commit"'

describe.skipIf(hostsSkipped())('opencode run: a main conversation with a marker', () => {
  it('is held until it clears the marker; the process ends without error, and its last text is the final one', async () => {
    const { guarded, ran, model } = await scene({
      main: dutiful([bash(CREATE), say('I am done.')], say('Really done.')),
    })
    const reasons = reasonsIn(model.turns('main').at(-1))
    expect(reasons).toEqual([expect.stringMatching(/^Postflight pending: git commit\nTask 259_x: /)])
    expect(ran.texts).toEqual(['I am done.', 'Really done.'])
    expect(guarded.files(TASK)).toEqual([])
    expect(guarded.story()).toEqual(['create', 'block 1', 'clear'])
    expect(guarded.journal()[0]).toMatchObject({ agent: 'main', host_session: ran.sessionId })
  })

  it('is held at most three times; then the marker is kept as abandoned, and the user is notified', async () => {
    const { guarded, ran, model } = await scene({ main: stubborn(bash(CREATE), say('I am done.')) })
    expect(model.turns('main')).toHaveLength(5)
    const counts = reasonsIn(model.turns('main').at(-1)).map((reason) => /Blocked stop (\d)/.exec(reason)?.[1])
    expect(counts).toEqual(['1', '2', '3'])
    expect(ran.texts.at(-1)).toBe('I am done.')
    expect(guarded.story()).toEqual(['create', 'block 1', 'block 2', 'block 3', 'cap 3'])
    expect(guarded.files(TASK)).toEqual(['.postflight-abandoned'])
    expect(ran.stderr).toContain('postflight-guard: task 259_x stopped without its postflight after 3 blocked stops')
  })

  it('is not held if the disk is full, instead of being prompted forever', async () => {
    const guarded = guardedProject()
    guarded.addPlugin(
      'full.mjs',
      `const { default: fs } = await import('node:fs')
       const mkdir = fs.mkdirSync
       fs.mkdirSync = (path, options) => {
         if (String(path).includes('claims')) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
         return mkdir(path, options)
       }
       return {}`,
    )
    const { ran, model } = await guarded.run({ main: [bash(CREATE), say('I am done.'), say('I am done.')] })
    expect(model.turns('main')).toHaveLength(3)
    expect(model.turns('main').at(-1)?.userTexts.at(-1)).toContain('This stop is not blocked after all')
    expect(ran.stderr).toContain('ENOSPC')
  })

  it('is not held, and nothing is counted, at a text that a tool call follows in the same answer; no message is left of it', async () => {
    const { guarded, ran, model } = await scene({
      main: [
        bash(CREATE),
        bash('echo one', 'Now the tests.'),
        // The guard handles the text long before the call comes.
        { ...bash('postflight clear 259', 'Now clearing.'), pauseMs: 1_500 },
        say('Done.'),
      ],
    })
    expect(model.turns('main')).toHaveLength(4)
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([])
    expect(ran.texts).toEqual(['Now the tests.', 'Now clearing.', 'Done.'])
    expect(guarded.story()).toEqual(['create', 'clear'])
    // The plugin was loaded.
    expect(guarded.journal()[0]).toMatchObject({ agent: 'main', host_session: ran.sessionId })
    const session = String(ran.sessionId)
    const { server, model: later } = await guarded.serve({ main: [say('Hello again.')] })
    await server.prompt(session, 'again')
    await later.arrived('main', 0)
    await server.settled()
    expect((await server.messages(session)).filter(({ parts }) => parts.length === 0)).toEqual([])
    expect(await server.asked(session)).toHaveLength(2)
    expect(later.turns('main')).toHaveLength(1)
  })

  it('is not held by a message that OpenCode compacts before the agent reads it, and nothing is counted', async () => {
    const full = { ...say('I am done.'), tokens: 198_000 }
    const { guarded, model } = await scene({ main: dutiful([bash(CREATE), full, say('Nothing is left.')]) })
    expect(guarded.story()).toEqual(['create', 'block 1', 'clear'])
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
  })

  it('is held when it is continued, with its own agent and model', async () => {
    const guarded = guardedProject({ config: { agent: { careful: { mode: 'primary', prompt: 'You are careful.' } } } })
    const first = await guarded.run(
      { main: [say('Hello.')] },
      { words: ['--agent', 'careful', '-m', 'scripted/scripted-2'] },
    )
    const { model } = await guarded.run(
      { main: dutiful([bash(CREATE), say('I am done.')]) },
      { words: ['--session', String(first.ran.sessionId), '--agent', 'careful', '-m', 'scripted/scripted-2'] },
    )
    const held = model.turns('main').at(-1)
    expect(reasonsIn(held)).toHaveLength(1)
    expect(model.turns('main').map((turn) => turn.request.model)).toEqual(Array(4).fill('scripted-2'))
    expect(held?.systemText).toContain('You are careful.')
  })

  it('cannot be held at a last step without text, for which OpenCode calls no plugin; its user is notified', async () => {
    const { guarded, ran } = await scene({ main: [bash(CREATE), {}] })
    expect(ran.stderr).toContain('task 259_x stopped without its postflight and could not be blocked')
    expect(guarded.story()).toEqual(['create'])
    expect(guarded.marker(TASK)).toBeDefined()
  })

  it('is not held when its turn ends in an error, and its user is notified', async () => {
    const guarded = guardedProject()
    const { client, model } = await guarded.start({ main: [bash(CREATE), { failure: { status: 400 } }] })
    const ran = await client.done
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr.match(/task 259_x stopped without its postflight and could not be blocked/g)).toHaveLength(1)
    expect(model.turns('main')).toHaveLength(2)
    expect(guarded.story()).toEqual(['create'])
    expect(guarded.marker(TASK)).toBeDefined()
  })
})

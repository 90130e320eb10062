/** Reactive rules as Claude Code's own hooks of type `agent`, written by `postflight install --reactive`. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { Model, Reply, Script, Turn } from '../model.ts'
import { bash, call, delegate, NEVER, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const SUGGESTION = 'docs/api.md still names the old function: update it.'
const NOT_ANSWERED = "A hook didn't answer in time, so it didn't check this action."

const SYNC = { tool: 'bash', command: 'git commit*', prompt: 'ACTOR:sync Do the docs need updates?', timeoutMs: 20_000 }
const GUARD = { ...SYNC, answer: 'block' }

const COMMIT = bash('git add api.txt && git commit -q -m "New API" && git log -1 --format=%s')

function verdict(ok: boolean, reason = ''): Reply {
  return call('StructuredOutput', { ok, reason })
}

function projectWith(rules: readonly object[]): GuardedProject {
  const guarded = guardedProject({ git: true, install: false })
  guarded.project.write('rules.json', JSON.stringify(rules))
  guarded.project.write('api.txt', 'new function\n')
  const installed = guarded.postflight('install', '--reactive', 'rules.json')
  expect(installed, installed.stderr).toMatchObject({ status: 0 })
  return guarded
}

function seenByMain(model: Model): string {
  const turn = model.turns('main').at(-1)
  return [...(turn?.toolResults ?? []), ...(turn?.reminders ?? [])].join('\n')
}

describe.skipIf(hostsSkipped())('a reactive rule on Claude Code', () => {
  it('reads the commit with its own tools, and its suggestion reaches the agent; the commit stays', async () => {
    const guarded = projectWith([SYNC])
    const sync: Reply[] = [bash('git show --stat HEAD'), verdict(false, SUGGESTION)]
    const { model } = await guarded.run({ main: [COMMIT, say('Thanks.')], sync })
    const [asked, read] = model.turns('sync')
    expect(read?.lastToolResult).toContain('api.txt')
    expect(asked?.lastUserText).toContain('git commit -q -m')
    expect(asked?.lastUserText).toContain('"hook_event_name":"PostToolUse"')
    expect(seenByMain(model)).toContain('New API')
    expect(seenByMain(model)).toContain(`Agent hook condition was not met: ${SUGGESTION}`)
    expect(model.turns('main')).toHaveLength(2)
    expect(guarded.subjects()).toEqual(['New API', 'Start'])
  })

  it('says nothing to the agent when the answer is ok, whatever its reason', async () => {
    const guarded = projectWith([SYNC, GUARD])
    const { model } = await guarded.run({ main: [COMMIT, say('Thanks.')], sync: () => verdict(true, SUGGESTION) })
    expect(model.turns('sync')).toHaveLength(2)
    expect(seenByMain(model)).not.toContain(SUGGESTION)
    expect(guarded.subjects()).toEqual(['New API', 'Start'])
  })

  it('blocks the call, with its reason, if the rule may', async () => {
    const guarded = projectWith([GUARD])
    const { model } = await guarded.run({ main: [COMMIT, say('I see.')], sync: [verdict(false, SUGGESTION)] })
    expect(model.turns('sync')[0]?.lastUserText).toContain('"hook_event_name":"PreToolUse"')
    expect(seenByMain(model)).toContain(`Agent hook condition was not met: ${SUGGESTION}`)
    expect(guarded.subjects()).toEqual(['Start'])
  })

  it.each<[string, Script, object, readonly string[]]>([
    ['hangs', () => NEVER, { ...GUARD, timeoutMs: 2_000 }, [NOT_ANSWERED]],
    ['hangs behind the call', () => NEVER, { ...SYNC, timeoutMs: 2_000 }, []],
    ['meets a rate limit', () => ({ failure: { status: 429 } }), { ...GUARD, timeoutMs: 4_000 }, [NOT_ANSWERED]],
    ['gives no verdict', () => say('Looks fine.'), { ...GUARD, timeoutMs: 5_000 }, [NOT_ANSWERED]],
  ])(
    'that %s does not keep the commit from going through, and its agent gets no message',
    async (_, sync, rule, notices) => {
      const guarded = projectWith([rule])
      const { client, model } = await guarded.start({ main: [COMMIT, say('Well.')], sync })
      expect(await client.done).toMatchObject({ exitCode: 0, timedOut: false, notices })
      expect(seenByMain(model)).not.toMatch(/agent hook|hook error|hook blocking|hook didn/i)
      expect(guarded.subjects()).toEqual(['New API', 'Start'])
    },
  )

  it('ends when the user presses Esc, and the call does not run', async () => {
    const guarded = projectWith([GUARD])
    const { client, model } = await guarded.start({ main: [COMMIT], sync: () => NEVER }, { interactive: true })
    await model.arrived('sync', 0)
    client.send('esc')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    client.send('end')
    await client.done
    expect(model.turns('main')).toHaveLength(1)
    expect(guarded.subjects()).toEqual(['Start'])
  })

  it('is not asked about other commands, and never about the calls of its own agent', async () => {
    const guarded = projectWith([GUARD])
    const { model } = await guarded.run({
      main: [bash('git status'), COMMIT, say('Thanks.')],
      sync: [bash('git commit --dry-run'), verdict(true)],
    })
    expect(model.turns('sync')).toHaveLength(2)
    expect(guarded.subjects()).toEqual(['New API', 'Start'])
  })

  it('is asked about the calls of sub-agents', async () => {
    const guarded = projectWith([GUARD])
    const { model } = await guarded.run({
      main: [delegate('worker'), say('Thanks.')],
      worker: [COMMIT, say('It was refused.')],
      sync: [verdict(false, SUGGESTION)],
    })
    expect(model.turns('worker')[1]?.lastToolResult).toContain(SUGGESTION)
    expect(guarded.subjects()).toEqual(['Start'])
  })

  it('has the tools that the session has, whatever the rule lists', async () => {
    const guarded = projectWith([{ ...GUARD, tools: ['read'], model: 'anthropic/claude-haiku-4-5' }])
    const start: Script = (turn: Turn) => (turn.index === 0 ? bash('echo x > made.txt') : verdict(true))
    const { model } = await guarded.run({ main: [COMMIT, say('Thanks.')], sync: start })
    const [turn] = model.turns('sync')
    expect(turn?.request.model).toBe('claude-haiku-4-5')
    expect(turn?.lastUserText).toContain('Use only these tools: Read.')
    expect(turn?.request.tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(['Bash', 'Write']))
    expect(guarded.read('made.txt')).toBe('x\n')
  })

  it('cannot use what the session does not allow', async () => {
    const guarded = projectWith([GUARD])
    const start: Script = (turn: Turn) => (turn.index === 0 ? bash('echo x > made.txt') : verdict(true))
    const { model } = await guarded.run(
      { main: [COMMIT, say('Thanks.')], sync: start },
      { allowedTools: 'Bash(git *)' },
    )
    expect(model.turns('sync')[1]?.lastToolResult).toContain('denied')
    expect(guarded.read('made.txt')).toBeUndefined()
    expect(guarded.subjects()).toEqual(['New API', 'Start'])
  })
})

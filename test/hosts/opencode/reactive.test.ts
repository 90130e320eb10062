/** Reactive sub-agents: a rule's sub-agent analyses a tool call before it runs. */

import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { ReactiveRule } from '../../../src/setup/reactive/reactive-rule.ts'
import { NEVER } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import type { Model, Reply, Script } from '../model.ts'
import { bash, call, delegate, say } from './agents.ts'
import { type Actors, type GuardedProject, guardedProject } from './guarded.ts'

const SUGGESTION = 'docs/api.md still names the old function: update it.'
const NOTE = /No sub-agent analysed this call \(rule bash git commit\*\): /

/** The documentation-sync rule. The first user message of the child names its actor. */
const SYNC: ReactiveRule = {
  tool: 'bash',
  command: 'git commit*',
  prompt: 'ACTOR:sync Look at the staged changes. Do the docs need updates?',
  tools: ['bash', 'read'],
}

const COMMIT = bash('git add api.txt && git commit -q -m "New API" && git log -1 --format=%s')
const COMMITTED = ['New API', 'Start']

/** The work of the sub-agent: it reads the staged diff with its own tools, then says what it found. */
const READS: readonly Reply[] = [
  bash('git diff --cached; git status --short'),
  call('read', { filePath: 'README.md' }),
  say(SUGGESTION),
]

function projectWith(rules: readonly ReactiveRule[], config: object = {}): GuardedProject {
  const guarded = guardedProject({ config, options: { reactive: rules } })
  guarded.project.write('api.txt', 'new function\n')
  execFileSync('git', ['add', 'api.txt'], { cwd: guarded.project.dir, env: { PATH: guarded.project.path } })
  return guarded
}

/** An MCP server with one tool, which answers `pong`. */
const MCP_SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'probe', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'ping', description: 'Pings.', inputSchema: { type: 'object', properties: {} } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'pong' }] }),
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = answers[method]?.(params) ?? {}
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
})
`

/** The last tool result that an agent saw. */
function resultIn(model: Model, actor = 'main'): string {
  return model.turns(actor).at(-1)?.lastToolResult ?? ''
}

/** What came of a conversation whose agent commits, unless its lines say something else. */
interface Commit {
  guarded: GuardedProject
  model: Model
  result: string
}

async function commit(rules: readonly ReactiveRule[], actors: Actors, config?: object): Promise<Commit> {
  const guarded = projectWith(rules, config)
  const { model } = await guarded.talk({ main: [COMMIT, say('Thanks.')], ...actors }, { turns: 2 })
  return { guarded, model, result: resultIn(model) }
}

/** A conversation on a server that the user interrupts while the sub-agent hangs. */
async function interrupted(guarded: GuardedProject, actors: Actors) {
  const { server, session, model } = await guarded.begin({ ...actors, sync: () => NEVER })
  await model.arrived('sync', 0)
  await server.abort(session)
  await server.settled()
  return { server, session, model }
}

describe.skipIf(hostsSkipped())('a reactive sub-agent', () => {
  it.each(['run', 'serve'])(
    'reads the staged diff, and its suggestion reaches the agent that commits (%s)',
    async (mode) => {
      const guarded = projectWith([SYNC])
      const actors = { main: [COMMIT, say('Thanks.')], sync: READS }
      const { model } = mode === 'run' ? await guarded.run(actors) : await guarded.talk(actors, { turns: 2 })
      const [first, diff, read] = model.turns('sync')
      expect(diff?.lastToolResult).toContain('+new function')
      expect(read?.lastToolResult).toContain('Throwaway project')
      expect(first?.lastUserText).toContain('Tool: bash')
      expect(first?.lastUserText).toContain('git commit -q -m')
      expect(resultIn(model)).toMatch(/^New API\n/)
      expect(resultIn(model)).toContain(`(rule bash git commit*):\n\n${SUGGESTION}`)
      expect(model.turns('main')).toHaveLength(2)
      expect(guarded.subjects()).toEqual(COMMITTED)
    },
  )

  it.each<[string, Partial<ReactiveRule>, Script, string]>([
    ['hangs', { timeoutMs: 1_500 }, () => NEVER, 'no answer within 1.5 s. The call went on without it.'],
    ['hangs although it may block', { timeoutMs: 1_000, answer: 'block' }, () => NEVER, 'no answer within 1 s.'],
    ['meets a rate limit', { timeoutMs: 4_000 }, () => ({ failure: { status: 429 } }), 'asked again after an error'],
    ['fails at once', {}, () => ({ failure: { status: 400 } }), "the test's script says 400"],
  ])('that %s does not keep the commit from going through, with a note', async (_, rule, sync, why) => {
    const { guarded, result } = await commit([{ ...SYNC, ...rule }], { sync })
    expect(result).toMatch(NOTE)
    expect(result).toContain(why)
    expect(guarded.subjects()).toEqual(COMMITTED)
  })

  it('that hangs in `run` is given up at the time limit, and the process ends', async () => {
    const guarded = projectWith([{ ...SYNC, timeoutMs: 1_500 }])
    const { model } = await guarded.run({ main: [COMMIT, say('Well.')], sync: () => NEVER })
    expect(resultIn(model)).toMatch(NOTE)
    expect(guarded.subjects()).toEqual(COMMITTED)
  })

  it('ends with its conversation when the user interrupts it, and the call does not run', async () => {
    const guarded = projectWith([SYNC])
    const { server, session, model } = await interrupted(guarded, { main: [COMMIT] })
    expect(guarded.subjects()).toEqual(['Start'])
    const [child] = await server.children(session)
    const last = (await server.messages(child?.id ?? '')).at(-1)
    expect(last?.info).toMatchObject({ error: { name: 'MessageAbortedError' } })
    expect(model.turns('main')).toHaveLength(1)
  })

  it('does not let a file be written after the user has interrupted the conversation', async () => {
    const guarded = projectWith([{ tool: 'write', prompt: 'ACTOR:sync Look.' }])
    const filePath = `${guarded.project.dir}/made.txt`
    await interrupted(guarded, { main: [call('write', { filePath, content: 'x' })] })
    expect(guarded.read('made.txt')).toBeUndefined()
  })

  it('ends when the process is interrupted, and the call does not run', async () => {
    const guarded = projectWith([SYNC])
    const { client, model } = await guarded.start({ main: [COMMIT], sync: () => NEVER })
    await model.arrived('sync', 0)
    client.kill('SIGINT')
    await client.done
    expect(guarded.subjects()).toEqual(['Start'])
  })

  it('analyses the calls of sub-agents, and ends with the conversation above them', async () => {
    const guarded = projectWith([SYNC])
    await interrupted(guarded, { main: [delegate('worker')], worker: [COMMIT] })
    expect(guarded.subjects()).toEqual(['Start'])
  })

  it('is never analysed itself, neither by its own rule nor by another one', async () => {
    const { guarded, model } = await commit([SYNC, { tool: 'bash', prompt: 'ACTOR:other Look.' }], {
      sync: [bash('git commit --dry-run'), say(SUGGESTION)],
      other: [say('Fine.')],
    })
    expect(model.turns('sync')).toHaveLength(2)
    expect(model.turns('sync')[1]?.lastToolResult).toContain('api.txt')
    expect(model.turns('other')).toHaveLength(1)
    expect(guarded.subjects()).toEqual(COMMITTED)
  })

  it('works beside others, and all answers come in the order of the rules', async () => {
    const rules = ['first', 'second', 'third'].map((name) => ({ ...SYNC, prompt: `ACTOR:${name} Look.` }))
    const guarded = projectWith([...rules, { ...SYNC, command: 'git push*', prompt: 'ACTOR:never Look.' }])
    let model: Model | undefined
    // Each waits for the one behind it to be asked; so they run side by side, and the last one answers first.
    const after =
      (next: string | undefined, text: string): Script =>
      async () => {
        if (next !== undefined) await model?.arrived(next, 0)
        await new Promise((resolve) => setTimeout(resolve, next === undefined ? 0 : 300))
        return say(text)
      }
    const served = await guarded.serve({
      main: [COMMIT, say('Thanks.')],
      first: after('second', 'ONE'),
      second: after('third', 'TWO'),
      third: after(undefined, 'THREE'),
    })
    model = served.model
    await served.server.prompt(await served.server.createSession(), 'go')
    await model.arrived('main', 1)
    expect(resultIn(model)).toMatch(/New API[\s\S]+\n\nONE\n\n[\s\S]+\n\nTWO\n\n[\s\S]+\n\nTHREE/)
    expect(model.turns('never')).toEqual([])
  })

  it('refuses a call when its rule may block and its answer begins with BLOCK', async () => {
    const { guarded, model, result } = await commit([SYNC, { ...SYNC, prompt: 'ACTOR:judge Look.', answer: 'block' }], {
      sync: [say(SUGGESTION)],
      judge: [say('BLOCK: the docs are old.')],
    })
    expect(result).toContain('BLOCK: the docs are old.')
    expect(result.indexOf(SUGGESTION)).toBeLessThan(result.indexOf('BLOCK:'))
    expect(model.turns('judge')[0]?.lastUserText).toContain('begin that message with the word BLOCK')
    expect(model.turns('sync')[0]?.lastUserText).not.toContain('BLOCK')
    expect(guarded.subjects()).toEqual(['Start'])
  })

  it('has the agent, the model and the tools of its rule', async () => {
    const { model } = await commit(
      [{ ...SYNC, agent: 'reviewer', model: 'scripted/scripted-2' }],
      { sync: [say(SUGGESTION)] },
      { agent: { reviewer: { mode: 'subagent', prompt: 'You are the reviewer.' } } },
    )
    const [turn] = model.turns('sync')
    expect(turn?.systemText).toContain('You are the reviewer.')
    expect(turn?.request.model).toBe('scripted-2')
    expect(turn?.request.tools?.map(({ name }) => name).sort()).toEqual(['bash', 'read'])
  })

  it('has all tools of its agent if its rule names none, but starts no agents of its own', async () => {
    const { model } = await commit([{ tool: 'bash', prompt: 'ACTOR:sync Look.' }], { sync: [say(SUGGESTION)] })
    const names = model.turns('sync')[0]?.request.tools?.map(({ name }) => name) ?? []
    expect(names).toEqual(expect.arrayContaining(['bash', 'read', 'write', 'grep']))
    expect(names.filter((name) => ['task', 'question', 'workflow_run'].includes(name))).toEqual([])
    expect(model.turns('sync')[0]?.request.model).toBe(model.turns('main')[0]?.request.model)
  })

  it('has no tools of an MCP server that its rule does not list, and a call of one is analysed too', async () => {
    const ping: ReactiveRule = { tool: 'probe_ping', prompt: 'ACTOR:sync Look.', tools: ['bash'] }
    const guarded = projectWith([ping], { mcp: { probe: { type: 'local', command: ['node', 'server.js'] } } })
    guarded.project.write('server.js', MCP_SERVER)
    const actors = { main: [call('probe_ping', {}), say('Thanks.')], sync: [say(SUGGESTION)] }
    const { model } = await guarded.talk(actors, { turns: 2 })
    const toolsOf = (actor: string) => model.turns(actor)[0]?.request.tools?.map(({ name }) => name)
    expect(toolsOf('main')).toContain('probe_ping')
    expect(toolsOf('sync')).toEqual(['bash'])
    expect(resultIn(model)).toMatch(/^pong\n/)
    expect(resultIn(model)).toContain(SUGGESTION)
  })

  it('cannot use a tool that the user denied, although its rule lists it', async () => {
    const { guarded, model, result } = await commit(
      [SYNC],
      { sync: [bash('touch made.txt'), say(SUGGESTION)] },
      { permission: { bash: { '*': 'allow', 'touch *': 'deny' }, read: 'deny' } },
    )
    const [first, second] = model.turns('sync')
    expect(first?.request.tools?.map(({ name }) => name)).toEqual(['bash'])
    expect(second?.lastToolResult).toContain('rule')
    expect(guarded.read('made.txt')).toBeUndefined()
    expect(result).toContain(SUGGESTION)
  })

  it.each([
    [{ agent: 'ghost' }, 'OpenCode has no agent "ghost" (it has '],
    [{ model: 'scripted/ghost' }, 'OpenCode has no model "scripted/ghost"'],
    [{ model: 'ghost/ghost' }, 'OpenCode has no model "ghost/ghost"'],
  ])('is left out with a note if OpenCode does not have %j', async (fields, why) => {
    const { guarded, result } = await commit([{ ...SYNC, ...fields }], {})
    expect(result).toContain(why)
    expect(guarded.subjects()).toEqual(COMMITTED)
  })

  it('tells the agent what it found about a call that failed', async () => {
    const guarded = projectWith([{ tool: 'edit', prompt: 'ACTOR:sync Look.' }])
    const input = { filePath: `${guarded.project.dir}/README.md`, oldString: 'absent', newString: 'x' }
    const main = [call('edit', input), bash('true'), say('Thanks.')]
    const { model } = await guarded.talk({ main, sync: [say(SUGGESTION)] }, { turns: 3 })
    const [, second, third] = model.turns('main')
    expect(second?.lastToolResult).toContain(SUGGESTION)
    expect(third?.toolResults[0]).toContain(SUGGESTION)
  })
})

/** Reactive sub-agents: a rule's sub-agent analyses a tool call before it runs. */

import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { ReactiveRule } from '../../../src/setup/reactive/reactive-rule.ts'
import { hostsSkipped } from '../client-cache.ts'
import type { Model, Reply, Script } from '../model.ts'
import { bash, delegate, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const NEVER = new Promise<never>(() => {})
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

/** The work of the sub-agent: it reads the staged diff with its own tools, then says what it found. */
const READS: readonly Reply[] = [
  bash('git diff --cached; git status --short'),
  { tools: [{ name: 'read', input: { filePath: 'README.md' } }] },
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

function subjects(guarded: GuardedProject): string[] {
  const env = { PATH: guarded.project.path, HOME: guarded.project.home }
  const log = execFileSync('git', ['log', '--format=%s'], { cwd: guarded.project.dir, env, encoding: 'utf8' })
  return log.trim().split('\n')
}

/** The last tool result that the main agent saw. */
function resultIn(model: Model, actor = 'main'): string {
  return model.turns(actor).at(-1)?.lastToolResult ?? ''
}

type Mode = 'run' | 'serve'

/** One conversation, in `run` or in `serve`. */
async function converse(guarded: GuardedProject, mode: Mode, actors: Record<string, Script>): Promise<Model> {
  if (mode === 'run') return (await guarded.run(actors)).model
  const { server, model } = await guarded.serve(actors)
  await server.prompt(await server.createSession(), 'go')
  await server.settled()
  expect(model.errors).toEqual([])
  expect(model.ranOut).toEqual([])
  return model
}

const MODES: Mode[] = ['run', 'serve']

describe.skipIf(hostsSkipped())('a reactive sub-agent', () => {
  it.each(MODES)('reads the staged diff, and its suggestion reaches the agent that commits (%s)', async (mode) => {
    const guarded = projectWith([SYNC])

    const model = await converse(guarded, mode, { main: [COMMIT, say('Thanks.')], sync: READS })

    const [, diff, read] = model.turns('sync')
    expect(diff?.lastToolResult).toContain('+new function')
    expect(read?.lastToolResult).toContain('Throwaway project')
    const first = model.turns('sync')[0]
    expect(first?.lastUserText).toContain('Tool: bash')
    expect(first?.lastUserText).toContain('git commit -q -m')
    expect(resultIn(model)).toMatch(/^New API\n/)
    expect(resultIn(model)).toContain(`(rule bash git commit*):\n\n${SUGGESTION}`)
    expect(model.turns('main')).toHaveLength(2)
    expect(subjects(guarded)).toEqual(['New API', 'Start'])
  })

  it.each(MODES)(
    'that hangs is given up at the time limit, and the commit goes through with a note (%s)',
    async (mode) => {
      const guarded = projectWith([{ ...SYNC, timeoutMs: 1_500 }])

      const model = await converse(guarded, mode, { main: [COMMIT, say('Well.')], sync: () => NEVER })

      expect(resultIn(model)).toMatch(NOTE)
      expect(resultIn(model)).toContain('no answer within 1.5 s. The call went on without it.')
      expect(subjects(guarded)).toEqual(['New API', 'Start'])
    },
  )

  it.each(MODES)('that meets a rate limit does not keep the commit from going through (%s)', async (mode) => {
    const guarded = projectWith([{ ...SYNC, timeoutMs: 4_000 }])

    const model = await converse(guarded, mode, {
      main: [COMMIT, say('Well.')],
      sync: () => ({ failure: { status: 429 } }),
    })

    expect(resultIn(model)).toMatch(NOTE)
    expect(resultIn(model)).toContain('its model was asked again after an error')
    expect(subjects(guarded)).toEqual(['New API', 'Start'])
  })

  it.each(MODES)('that fails at once does not keep the commit from going through (%s)', async (mode) => {
    const guarded = projectWith([SYNC])

    const model = await converse(guarded, mode, {
      main: [COMMIT, say('Well.')],
      sync: () => ({ failure: { status: 400 } }),
    })

    expect(resultIn(model)).toContain("the test's script says 400")
    expect(subjects(guarded)).toEqual(['New API', 'Start'])
  })

  it('ends with its conversation when the user interrupts it, and the call does not run', async () => {
    const guarded = projectWith([SYNC])
    const { server, model } = await guarded.serve({ main: [COMMIT], sync: () => NEVER })
    const session = await server.createSession()

    await server.prompt(session, 'go')
    await model.arrived('sync', 0)
    await server.abort(session)
    await server.settled()

    expect(subjects(guarded)).toEqual(['Start'])
    const [child] = await server.children(session)
    const last = (await server.messages(child?.id ?? '')).at(-1)
    expect(last?.info).toMatchObject({ error: { name: 'MessageAbortedError' } })
    expect(model.turns('main')).toHaveLength(1)
  })

  it('does not let a file be written after the user has interrupted the conversation', async () => {
    const guarded = projectWith([{ tool: 'write', prompt: 'ACTOR:sync Look.' }])
    const filePath = `${guarded.project.dir}/made.txt`
    const { server, model } = await guarded.serve({
      main: [{ tools: [{ name: 'write', input: { filePath, content: 'x' } }] }],
      sync: () => NEVER,
    })
    const session = await server.createSession()

    await server.prompt(session, 'go')
    await model.arrived('sync', 0)
    await server.abort(session)
    await server.settled()

    expect(guarded.read('made.txt')).toBeUndefined()
  })

  it('ends when the process is interrupted, and the call does not run', async () => {
    const guarded = projectWith([SYNC])
    const { client, model } = await guarded.start({ main: [COMMIT], sync: () => NEVER })

    await model.arrived('sync', 0)
    client.kill('SIGINT')
    await client.done

    expect(subjects(guarded)).toEqual(['Start'])
  })

  it('analyses the calls of sub-agents, and ends with the conversation above them', async () => {
    const guarded = projectWith([SYNC])
    const { server, model } = await guarded.serve({
      main: [delegate('worker')],
      worker: [COMMIT],
      sync: () => NEVER,
    })
    const session = await server.createSession()

    await server.prompt(session, 'go')
    await model.arrived('sync', 0)
    await server.abort(session)
    await server.settled()

    expect(subjects(guarded)).toEqual(['Start'])
  })

  it('tells a sub-agent what it found about its call', async () => {
    const guarded = projectWith([SYNC])

    const { model } = await guarded.run({
      main: [delegate('worker'), say('Thanks.')],
      worker: [COMMIT, say('Done.')],
      sync: [say(SUGGESTION)],
    })

    expect(resultIn(model, 'worker')).toContain(SUGGESTION)
    expect(subjects(guarded)).toEqual(['New API', 'Start'])
  })

  it('is never analysed itself, neither by its own rule nor by another one', async () => {
    const other: ReactiveRule = { tool: 'bash', prompt: 'ACTOR:other Look.' }
    const guarded = projectWith([SYNC, other])

    const { model } = await guarded.run({
      main: [COMMIT, say('Thanks.')],
      sync: [bash('git commit --dry-run'), say(SUGGESTION)],
      other: [say('Fine.')],
    })

    expect(model.turns('sync')).toHaveLength(2)
    expect(model.turns('sync')[1]?.lastToolResult).toContain('api.txt')
    expect(model.turns('other')).toHaveLength(1)
    expect(subjects(guarded)).toEqual(['New API', 'Start'])
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

    const started = await guarded.start({
      main: [COMMIT, say('Thanks.')],
      first: after('second', 'ONE'),
      second: after('third', 'TWO'),
      third: after(undefined, 'THREE'),
    })
    model = started.model
    await started.client.done

    expect(resultIn(model)).toMatch(/New API[\s\S]+\n\nONE\n\n[\s\S]+\n\nTWO\n\n[\s\S]+\n\nTHREE/)
    expect(model.turns('never')).toEqual([])
  })

  it('refuses a call when its rule may block and its answer begins with BLOCK', async () => {
    const block: ReactiveRule = { ...SYNC, prompt: 'ACTOR:judge Look.', answer: 'block' }
    const guarded = projectWith([SYNC, block])

    const { model } = await guarded.run({
      main: [COMMIT, say('I see.')],
      sync: [say(SUGGESTION)],
      judge: [say('BLOCK: the docs are old.')],
    })

    const refusal = resultIn(model)
    expect(refusal).toContain('BLOCK: the docs are old.')
    expect(refusal.indexOf(SUGGESTION)).toBeLessThan(refusal.indexOf('BLOCK:'))
    expect(model.turns('judge')[0]?.lastUserText).toContain('begin that message with the word BLOCK')
    expect(model.turns('sync')[0]?.lastUserText).not.toContain('BLOCK')
    expect(subjects(guarded)).toEqual(['Start'])
  })

  it.each([
    ['BLOCK', 'context' as const],
    ['Nothing to BLOCK here', 'block' as const],
    ['block is not a reason', 'block' as const],
  ])('lets the call run after the answer %j of a rule with %s', async (text, answer) => {
    const guarded = projectWith([{ ...SYNC, answer }])

    const { model } = await guarded.run({ main: [COMMIT, say('Thanks.')], sync: [say(text)] })

    expect(resultIn(model)).toContain(text)
    expect(subjects(guarded)).toEqual(['New API', 'Start'])
  })

  it('lets the call run when a rule that may block gave no analysis', async () => {
    const guarded = projectWith([{ ...SYNC, answer: 'block', timeoutMs: 1_000 }])

    const { model } = await guarded.run({ main: [COMMIT, say('Well.')], sync: () => NEVER })

    expect(resultIn(model)).toMatch(NOTE)
    expect(subjects(guarded)).toEqual(['New API', 'Start'])
  })

  it('has the agent, the model and the tools of its rule', async () => {
    const guarded = projectWith([{ ...SYNC, agent: 'reviewer', model: 'scripted/scripted-2' }], {
      agent: { reviewer: { mode: 'subagent', prompt: 'You are the reviewer.' } },
    })

    const { model } = await guarded.run({ main: [COMMIT, say('Thanks.')], sync: [say(SUGGESTION)] })

    const [turn] = model.turns('sync')
    expect(turn?.systemText).toContain('You are the reviewer.')
    expect(turn?.request.model).toBe('scripted-2')
    expect(turn?.request.tools?.map(({ name }) => name).sort()).toEqual(['bash', 'read'])
  })

  it('has all tools of its agent where its rule names none, but starts no agents of its own', async () => {
    const guarded = projectWith([{ tool: 'bash', prompt: 'ACTOR:sync Look.' }])

    const { model } = await guarded.run({ main: [COMMIT, say('Thanks.')], sync: [say(SUGGESTION)] })

    const names = model.turns('sync')[0]?.request.tools?.map(({ name }) => name) ?? []
    expect(names).toEqual(expect.arrayContaining(['bash', 'read', 'write', 'grep']))
    expect(names.filter((name) => ['task', 'question', 'workflow_run'].includes(name))).toEqual([])
    expect(model.turns('sync')[0]?.request.model).toBe(model.turns('main')[0]?.request.model)
  })

  it('has no tools of an MCP server that its rule does not list, and a call of one is analysed too', async () => {
    const ping: ReactiveRule = { tool: 'probe_ping', prompt: 'ACTOR:sync Look.', tools: ['bash'] }
    const guarded = projectWith([ping], { mcp: { probe: { type: 'local', command: ['node', 'server.js'] } } })
    guarded.project.write('server.js', MCP_SERVER)

    const { model } = await guarded.run({
      main: [{ tools: [{ name: 'probe_ping', input: {} }] }, say('Thanks.')],
      sync: [say(SUGGESTION)],
    })

    const toolsOf = (actor: string) => model.turns(actor)[0]?.request.tools?.map(({ name }) => name)
    expect(toolsOf('main')).toContain('probe_ping')
    expect(toolsOf('sync')).toEqual(['bash'])
    expect(resultIn(model)).toMatch(/^pong\n/)
    expect(resultIn(model)).toContain(SUGGESTION)
  })

  it('cannot use a tool that the user denied, although its rule lists it', async () => {
    const guarded = projectWith([SYNC], { permission: { bash: { '*': 'allow', 'touch *': 'deny' }, read: 'deny' } })

    const { model } = await guarded.run({
      main: [COMMIT, say('Thanks.')],
      sync: [bash('touch made.txt'), say(SUGGESTION)],
    })

    const [first, second] = model.turns('sync')
    expect(first?.request.tools?.map(({ name }) => name)).toEqual(['bash'])
    expect(second?.lastToolResult).toContain('rule')
    expect(guarded.read('made.txt')).toBeUndefined()
    expect(resultIn(model)).toContain(SUGGESTION)
  })

  it.each([
    [{ agent: 'ghost' }, 'OpenCode has no agent "ghost" (it has '],
    [{ model: 'scripted/ghost' }, 'OpenCode has no model "scripted/ghost"'],
    [{ model: 'ghost/ghost' }, 'OpenCode has no model "ghost/ghost"'],
  ])('is left out with a note where OpenCode does not have %j', async (fields, why) => {
    const guarded = projectWith([{ ...SYNC, ...fields }])

    const { model } = await guarded.run({ main: [COMMIT, say('Well.')] })

    expect(resultIn(model)).toContain(why)
    expect(subjects(guarded)).toEqual(['New API', 'Start'])
  })

  it('is not asked about other commands, nor about arguments that are not text', async () => {
    const guarded = projectWith([SYNC])
    const broken = (command: unknown): Reply => ({
      tools: [{ name: 'bash', input: { ...(command !== undefined && { command }), description: 'x' } }],
    })

    const { model } = await guarded.run({
      main: [
        bash('git status'),
        bash('echo git commit'),
        broken(5),
        broken(['git commit']),
        broken(undefined),
        say('.'),
      ],
    })

    expect(model.turns('sync')).toEqual([])
    expect(guarded.log()).not.toContain('internal error')
  })

  it('tells the agent what it found about a call that failed', async () => {
    const guarded = projectWith([{ tool: 'edit', prompt: 'ACTOR:sync Look.' }])
    const filePath = `${guarded.project.dir}/README.md`

    const { model } = await guarded.run({
      main: [
        { tools: [{ name: 'edit', input: { filePath, oldString: 'absent', newString: 'x' } }] },
        bash('true'),
        say('Thanks.'),
      ],
      sync: [say(SUGGESTION)],
    })

    const [, second, third] = model.turns('main')
    expect(second?.lastToolResult).toContain(SUGGESTION)
    expect(third?.toolResults[0]).toContain(SUGGESTION)
  })
})

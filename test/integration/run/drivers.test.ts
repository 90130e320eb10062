/** The same run, driven by the stop hook, by `workflow next` and by OpenCode's plugin, has the same journal and history. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { PluginInput, PluginTool } from '../../../src/hosts/opencode/api.ts'
import { IN_SESSION as ENV, IN_TASK as FOLDER, startFlow } from '../../support/flow.ts'
import { SESSION, stop } from '../../support/payloads.ts'
import { PACKAGE } from '../../support/process.ts'
import { createProject, createSourceProject, type Project } from '../../support/project.ts'

const PLUGIN = pathToFileURL(join(PACKAGE, 'dist', 'opencode', 'postflight-guard.mjs')).href

// The plugin runs in this process, and must not write to the user's folder.
vi.stubEnv('XDG_STATE_HOME', createSourceProject().home)
afterAll(() => void vi.unstubAllEnvs())

type Act = (project: Project) => unknown

/** A run: the agent's work on each prompt, and what happens each time that the driver rests, until nothing is left. */
interface Story {
  readonly phases: readonly object[]
  readonly work: readonly Act[]
  readonly rests?: readonly Act[]
}

const writes =
  (name: string, text = 'x'): Act =>
  (project) =>
    project.write(`${FOLDER}/${name}`, text)
const nothing: Act = () => undefined
const runs =
  (env?: Record<string, string>) =>
  (...words: string[]): Act =>
  async (project) => {
    const run = await project.cli(words, env && { env })
    expect(run.status, run.stdout + run.stderr).toBe(0)
  }
const says = runs(ENV)
const person = runs()
const both =
  (...acts: readonly Act[]): Act =>
  async (project) => {
    for (const act of acts) await act(project)
  }

const WAIT = says('wait', '7', '--for', 'an answer')
const good = writes('step-result.json', '{"success": true}')
const bad = writes('step-result.json', '{"success": false}')
const PHASES: readonly object[] = [
  { id: 'plan', prompt: 'p', artifact: 'plan.md' },
  { id: 'make', prompt: 'p', artifact: 'made.md' },
]
const STEPS = [
  { id: 'list', prompt: 'p', artifact: 'list.json' },
  { id: 'work', steps: { from: 'list.json', pointer: '/steps' }, step_prompt: 'Do {{step}}.', max_step_attempts: 2 },
]
const list = (count: number): Act =>
  writes('list.json', JSON.stringify({ steps: Array.from({ length: count }, (_, index) => `s${index}`) }))

const STORIES: Readonly<Record<string, Story>> = {
  'two phases': { phases: PHASES, work: [writes('plan.md'), writes('made.md')] },
  'a step that is done again once, then given up': { phases: STEPS, work: [list(2), bad, bad, good] },
  'a checklist of three steps': { phases: STEPS, work: [list(3), good, good, good] },
  'a check that fails once': {
    phases: [{ id: 'make', prompt: 'p', artifact: 'made.md', check: { run: 'test -f fixed' } }],
    work: [writes('made.md'), both(writes('made.md', 'y'), (project) => project.write('fixed', ''))],
  },
  'a wait': { phases: PHASES, work: [WAIT, writes('made.md')], rests: [writes('plan.md')] },
  'a wait beside a result': {
    phases: PHASES,
    work: [both(writes('plan.md'), WAIT), writes('made.md')],
    rests: [nothing],
  },
  'a wait beside the last result': { phases: PHASES.slice(0, 1), work: [both(WAIT, writes('plan.md'))] },
  'a wait without a result': { phases: PHASES, work: [WAIT, writes('plan.md'), writes('made.md')], rests: [nothing] },
  'an approval': {
    phases: PHASES.map((phase, index) => ({ ...phase, ...(index === 0 && { approve: true }) })),
    work: [writes('plan.md'), writes('made.md')],
    rests: [person('workflow', 'approve', '7')],
  },
  'a stop, and the run resumed': {
    phases: PHASES,
    work: [both(writes('plan.md'), says('workflow', 'stop', '7')), writes('made.md')],
    rests: [says('workflow', 'resume', '7')],
  },
  'a stop at once': { phases: PHASES, work: [says('workflow', 'stop', '7', '--now')] },
}

/** Drives the run until it rests. `answer` is the agent's work on a prompt. */
type Driver = (project: Project, answer: () => Promise<void>) => Promise<() => Promise<void>>

const start = says('workflow', 'start', '7', 'flow', '--definition', 'flow.json')

const byHook: Driver = async (project, answer) => {
  await start(project)
  let turn = 0
  return async () => {
    turn += 1
    for (let isBlocked = false; ; isBlocked = true) {
      const runsCheck = project.has(`${FOLDER}/made.md`) && project.read('flow.json').includes('"check"')
      // The agent runs the check, because a hook has no time for it.
      if (runsCheck) await project.cli(['workflow', 'check', '7'], { env: ENV })
      const payload = stop({ prompt_id: `prompt-${turn}`, stop_hook_active: isBlocked })
      const { answer: said } = await project.hook(payload, { env: ENV })
      if (said.decision !== 'block') return
      await answer()
    }
  }
}

const byNext: Driver = async (project, answer) => {
  await start(project)
  return async () => {
    for (;;) {
      const { command } = (await project.cli(['workflow', 'next', '7', '--json'], { env: ENV })).json()
      if (command !== 'prompt') return
      await answer()
    }
  }
}

const byOpenCode: Driver = async (project, answer) => {
  const { client, idle } = serverFor(answer)
  const { default: plugin } = (await import(PLUGIN)) as {
    default: { server(input: PluginInput): Promise<Record<string, unknown>> }
  }
  const hooks = await plugin.server({ client, directory: project.dir } as PluginInput)
  idle.event = hooks.event as typeof idle.event
  const [tool] = Object.values(hooks.tool as Record<string, PluginTool>)
  let turn = 0
  return async () => {
    turn += 1
    const message = { id: `msg_${turn}`, role: 'user', sessionID: SESSION, agent: 'build', model: MODEL }
    const noteMessage = hooks['chat.message'] as (input: object, output: object) => Promise<void>
    await noteMessage({ sessionID: SESSION, agent: 'build' }, { message, parts: [{ type: 'text', text: 'go' }] })
    const words = { task: '007_flow', definition: turn === 1 ? 'flow.json' : '' }
    const context = { sessionID: SESSION, abort: new AbortController().signal }
    await tool?.execute(words as never, context as never)
  }
}

const MODEL = { providerID: 'p', modelID: 'm' }

type OfSession = { readonly path: { readonly id: string } }

/** OpenCode's server, with an agent that answers each prompt to a session of a phase. */
function serverFor(answer: () => Promise<void>) {
  const messages = new Map<string, object[]>()
  const idle: { event?: ((input: object) => Promise<void>) | undefined } = {}
  let count = 0
  const ok = async () => ({ data: true })
  const client = {
    session: {
      get: async ({ path: { id } }: OfSession) => ({ data: { id, ...(id !== SESSION && { parentID: SESSION }) } }),
      create: async () => ({ data: { id: `ses_${++count}`, parentID: SESSION } }),
      status: async () => ({ data: {} }),
      messages: async ({ path: { id } }: OfSession) => ({ data: messages.get(id) ?? [] }),
      abort: ok,
      promptAsync: async ({ path: { id }, body }: OfSession & { body: { parts: object[] } }) => {
        count += 1
        const user = { id: `msg_u${count}`, role: 'user', sessionID: id, agent: 'build', model: MODEL }
        const said = { id: `msg_a${count}`, role: 'assistant', sessionID: id, parentID: user.id, finish: 'stop' }
        await answer()
        messages.set(id, [
          ...(messages.get(id) ?? []),
          { info: user, parts: body.parts },
          { info: { ...said, time: { created: 1, completed: 2 } }, parts: [{ type: 'text', text: 'Done.' }] },
        ])
        setImmediate(() => idle.event?.({ event: { type: 'session.idle', properties: { sessionID: id } } }))
        return { data: true }
      },
    },
    app: { log: ok, agents: async () => ({ data: [{ name: 'build', mode: 'primary' }] }) },
    config: { get: async () => ({ data: {} }), providers: async () => ({ data: { providers: [] } }) },
    tui: { showToast: ok },
  }
  return { client: client as unknown as PluginInput['client'], idle }
}

/** Plays the story with a driver, and returns what must not depend on it. */
async function play(driver: Driver, { phases, work, rests = [] }: Story, make: () => Project): Promise<object> {
  const project = make()
  project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
  const left = [...work]
  const run = await driver(project, async () => void (await (left.shift() ?? nothing)(project)))
  await run()
  for (const act of rests) {
    await act(project)
    await run()
  }
  expect(left).toEqual([])
  return comparable(project)
}

function comparable(project: Project): object {
  const state = JSON.parse(project.read(`${FOLDER}/workflow/state.json`))
  const lines = project.read(`${FOLDER}/workflow/history.jsonl`).trim().split('\n')
  const history = lines.map((line) => JSON.parse(line))
  return {
    journal: project.journal().map(({ event, task, outcome, count, detail }) => ({
      ...{ event, task, outcome, count },
      // How long a check took differs.
      detail: typeof detail === 'string' ? detail.replace(/[\d.]+ s\)$/, 'N s)') : undefined,
    })),
    history: history.map(({ event, phase, visit, step, attempt, outcome }) => ({
      ...{ event, phase, visit, step, attempt, outcome },
    })),
    outcome: [state.active, state.outcome, state.prompts, state.skips],
  }
}

describe.each(Object.entries(STORIES))('%s', (name, story) => {
  // One story starts the processes that hosts start; the others run the sources.
  const make = name === 'a step that is done again once, then given up' ? createProject : createSourceProject
  it.concurrent('is the same run, whichever driver it has', { timeout: 120_000 }, async () => {
    const hook = await play(byHook, story, make)
    expect(await play(byNext, story, make)).toEqual(hook)
    expect(await play(byOpenCode, story, make)).toEqual(hook)
    expect(hook).toMatchSnapshot()
  })
})

it('next says that the run waits, as status does, counts nothing, and continues', async () => {
  const project = await startFlow(PHASES, { env: ENV })
  const next = () => project.next({ env: ENV })
  await next()
  await WAIT(project)
  const waits = { command: 'wait', why: 'waits for: an answer' }
  const peeked = await project.cli(['workflow', 'next', '7', '--peek', '--json'], { env: ENV })
  for (const document of [peeked.json(), await next()]) expect(document).toMatchObject(waits)
  expect((await project.workflow('status', '7')).stdout).toContain(waits.why)
  expect(project.state()).toMatchObject({ prompts: 1 })
  expect(await next()).toMatchObject({ command: 'prompt', phase: 'plan', attempt: 2 })
  expect(project.state()).toMatchObject({ prompts: 2 })
})

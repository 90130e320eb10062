/** A workflow on the real OpenCode: each phase in a child session, also after kills, interruptions and on other hosts. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NEVER } from '../agents.ts'
import { bash as claudeBash, reasonsIn as claudeReasonsIn } from '../claude-code/agents.ts'
import { guardedProject as claudeProject } from '../claude-code/guarded.ts'
import { worker as claudeWorker } from '../claude-code/workflow-agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { IN_TASK, leave, placeOf, TASK, WORK } from '../four-phases.ts'
import type { Model } from '../model.ts'
import { bash, call, delegateInBackground, reasonsIn, say } from './agents.ts'
import { mainTurns, PLACES, placesIn, projectWithFlow, promptOf, runWorkflow, statusOf, worker } from './flow.ts'
import type { GuardedProject, Talk } from './guarded.ts'

const ARCHIVE = ['1-1.json', '2-1.json', '2-2.json', '3-1.json', '3-2.json', '3-3.json']
const START_FLOW = runWorkflow(TASK, 'flow.yaml')
const IN_BACKGROUND = { OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS: '1' }
const START_BY_CLI = bash('postflight workflow start 7 flow --definition flow.yaml')

/** The work of all phases but one, whose turn never ends. */
const hangingAt = (hangs: string) => (place: string) => (place === hangs ? NEVER : undefined)

function resultIn(model: Model): string {
  return mainTurns(model.turns('main')).at(-1)?.lastToolResult ?? ''
}

async function reached(model: Model, place: string): Promise<void> {
  await expect.poll(() => placesIn(model.turns('main')).at(-1), { timeout: 60_000 }).toBe(place)
}

function drive(guarded: GuardedProject, instead?: Parameters<typeof worker>[1], start = START_FLOW): Promise<Talk> {
  return guarded.talk({ main: worker([start, say('All is done.')], instead) })
}

async function expectFinishedFrom(guarded: GuardedProject, place: number): Promise<void> {
  const { session, model } = await drive(guarded, undefined, runWorkflow('7'))
  expect(placesIn(model.turns('main'))).toEqual(PLACES.slice(place))
  expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', host_session: session })
}

describe.skipIf(hostsSkipped())('a workflow on OpenCode', () => {
  it('completes in `run`, by its command, whose words OpenCode puts in quotes: a step is retried, one is skipped, and each phase has a session', async () => {
    const guarded = projectWithFlow()
    const { ran, model } = await guarded.run(
      { main: worker([say('All is done.')]) },
      { words: ['--command', 'postflight-workflow'], message: `${TASK} flow.yaml` },
    )
    expect(placesIn(model.turns('main'))).toEqual(PLACES)
    expect(ran.texts).toEqual(['All is done.'])
    const ended = { active: false, outcome: 'completed', host_session: ran.sessionId, definition_file: 'flow.yaml' }
    expect(guarded.state()).toMatchObject(ended)
    expect(statusOf(guarded)).toMatchObject({ active: false, outcome: 'completed' })
    expect(guarded.read(`${IN_TASK}/step-results/execute/2-1.json`)).toContain('no luck')
    expect(guarded.files(`${TASK}/step-results/execute`)).toEqual(ARCHIVE)
    expect(guarded.marker(TASK)).toBeUndefined()
    const { server } = await guarded.serve({ main: [] })
    const children = await server.children(String(ran.sessionId))
    expect(children.map(({ title }) => title).sort()).toEqual(
      ['analyse', 'execute', 'plan', 'report'].map((phase) => `Workflow: ${phase}`),
    )
    for (const { permission } of children) {
      expect(permission).toContainEqual({ permission: 'question', pattern: '*', action: 'deny' })
    }
  })

  it('completes in `serve`, by its command; its phases have the agent and the model of the conversation', async () => {
    const guarded = projectWithFlow({
      config: { agent: { careful: { mode: 'primary', prompt: 'You are careful.', model: 'scripted/scripted-1' } } },
    })
    const further = { agent: 'careful', model: { providerID: 'scripted', modelID: 'scripted-2' } }
    const { server, model } = await guarded.serve({ main: worker([say('Hello.'), say('All is done.')]) })
    const session = await server.createSession()
    await server.prompt(session, 'hello', further)
    await model.arrived('main', 0)
    await server.settled()
    await server.command(session, 'postflight-workflow', `${TASK} flow.yaml`)
    expect(placesIn(model.turns('main'))).toEqual(PLACES)
    const phases = model.turns('main').filter((turn) => promptOf(turn) !== undefined)
    expect(new Set(phases.map((turn) => turn.request.model))).toEqual(new Set(['scripted-2']))
    expect(phases.every((turn) => turn.systemText.includes('You are careful.'))).toBe(true)
    const tools = phases.flatMap((turn) => (turn.request.tools ?? []).map(({ name }) => name))
    expect(tools).toContain('bash')
    expect(tools).not.toContain('question')
    expect(tools).not.toContain('workflow_run')
    expect(mainTurns(model.turns('main')).at(-1)?.lastUserText).toContain(
      'The workflow of task 007_flow is completed: 1 step or artifact was skipped',
    )
    expect(guarded.state()).toMatchObject({ outcome: 'completed', host_session: session })
    expect(await server.children(session)).toHaveLength(4)
  })

  it('continues in a new process, by its tool, where a killed one left it', async () => {
    const guarded = projectWithFlow()
    const { client, model } = await guarded.start({ main: worker([START_FLOW], hangingAt('execute step 2 1')) })
    await reached(model, 'execute step 2 1')
    client.kill()
    await client.done
    expect(guarded.state()).toMatchObject({ active: true, phase: 'execute', current_step: 1, step_attempts: 0 })
    expect((await guarded.talk({ main: [say('Only passing.')] })).model.turns('main')).toHaveLength(1)
    const next = await guarded.run({ main: worker([runWorkflow('7'), say('All is done.')]) })
    expect(placesIn(next.model.turns('main'))).toEqual(PLACES.slice(3))
    expect(resultIn(next.model)).toMatch(
      /^The workflow of task 007_flow is completed: 1 step or artifact was skipped [^\n]+\.\n6 prompts were sent/,
    )
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', host_session: next.ran.sessionId })
    expect(guarded.files(`${TASK}/step-results/execute`)).toEqual(ARCHIVE)
  })

  it('stops, resumable, when the user interrupts it, and sends no further prompt', async () => {
    const guarded = projectWithFlow()
    const { server, session, model } = await guarded.begin({ main: worker([START_FLOW], hangingAt('plan 1')) })
    await reached(model, 'plan 1')
    await server.abort(session)
    await expect.poll(() => guarded.state().outcome, { timeout: 20_000 }).toBe('stopped')
    await server.settled()
    expect(guarded.state()).toMatchObject({ active: false, phase: 'plan', why: 'it was interrupted in OpenCode' })
    expect(placesIn(model.turns('main'))).toEqual(PLACES.slice(0, 2))
    await expectFinishedFrom(guarded, 1)
  })

  it('ends at once when it is aborted', async () => {
    const guarded = projectWithFlow()
    const { model } = await guarded.begin({ main: worker([START_FLOW, say('It is over.')], hangingAt('plan 1')) })
    await reached(model, 'plan 1')
    guarded.postflight('workflow', 'abort', '7')
    await expect.poll(() => resultIn(model), { timeout: 20_000 }).toContain('is aborted')
  })

  it('ends at once when it is aborted while a marker blocks its phase', async () => {
    const guarded = projectWithFlow()
    const main = worker([START_FLOW, say('It is over.')], (place, turn) => {
      if (place !== 'plan 1') return undefined
      if (reasonsIn(turn).length > 0) return NEVER
      return turn.lastToolResult === undefined ? bash('postflight create 9 x --operation research') : say('Done.')
    })
    const { server, model } = await guarded.begin({ main })
    await expect.poll(() => guarded.story(), { timeout: 60_000 }).toContain('block 1')
    guarded.postflight('workflow', 'abort', '7')
    await expect.poll(() => resultIn(model), { timeout: 20_000 }).toContain('is aborted')
    await server.settled()
    expect(guarded.mainEvents()).not.toContain('block 2')
  })

  it.each([
    ['workflow stop', 'postflight workflow stop 7'],
    ['bypass --all', 'postflight bypass --all'],
  ])('gets no further prompt after %s, although the phase left no result', async (_what, command) => {
    const guarded = projectWithFlow()
    const { model } = await drive(guarded, (place, turn) => {
      if (place !== 'plan 1') return undefined
      return turn.lastToolResult === undefined ? bash(command) : say('Nothing yet.')
    })
    expect(placesIn(model.turns('main')).filter((place) => place.startsWith('plan'))).toEqual(['plan 1'])
    expect(resultIn(model)).toContain('is stopped')
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'stopped' })
  })

  it('that the agent started with the CLI gets a driver: when the agent ends its turn, it is asked to call the tool', async () => {
    const guarded = projectWithFlow()
    const { ran, model } = await guarded.run({
      main: worker([START_BY_CLI, say('Started.'), runWorkflow('7'), say('All is done.')]),
    })
    expect(mainTurns(model.turns('main'))[2]?.lastUserText).toContain(
      'call the tool workflow_run once, with the task "007_flow"',
    )
    expect(ran.texts).toEqual(['Started.', 'All is done.'])
    expect(guarded.state()).toMatchObject({ outcome: 'completed' })
  })

  it('sends no prompt in plan mode; afterwards it asks an agent that does not want to call the tool once', async () => {
    const main = worker([START_BY_CLI, runWorkflow('7'), say('My plan.'), say('Well.'), say('I would rather not.')])
    const { server, session, model } = await projectWithFlow().talk({ main }, { turns: 3, agent: 'plan' })
    expect(model.turns('main')).toHaveLength(3)
    expect(resultIn(model)).toContain('no prompt in plan mode')
    await server.prompt(session, 'go', { agent: 'build' })
    await model.arrived('main', 4)
    await server.settled()
    expect(model.turns('main')).toHaveLength(5)
  })

  it('waits for a sub-agent that works in the background for a phase', async () => {
    const guarded = projectWithFlow({ config: { subagent_depth: 2 } })
    const main = worker([START_FLOW, say('All is done.')], (place, { toolResults }) => {
      if (place !== 'analyse 1') return undefined
      return toolResults.length === 0 ? delegateInBackground('helper') : say('Waiting.')
    })
    const helper = [{ ...bash(WORK['analyse 1'] ?? ''), pauseMs: 2_000 }, say('The report.')]
    const { model } = await guarded.begin({ main, helper }, { env: IN_BACKGROUND })
    await expect.poll(() => guarded.state().outcome, { timeout: 60_000 }).toBe('completed')
    expect(placesIn(model.turns('main'))).toEqual(PLACES)
  })

  it("holds a phase's own session until its postflight is done", async () => {
    const guarded = projectWithFlow()
    const { model } = await drive(guarded, (place, turn) => {
      if (reasonsIn(turn).length > 0) {
        return turn.lastToolResult === undefined ? bash('postflight clear 8') : say('Done.')
      }
      if (place !== 'analyse 1' || turn.lastToolResult !== undefined) return undefined
      return bash(`${WORK[place]} && postflight create 8 other --operation analysis`)
    })
    const held = model.turns('main').filter((turn) => reasonsIn(turn).length > 0)
    expect(held).toHaveLength(2)
    expect(held.every((turn) => placeOf(promptOf(turn) ?? '') === 'analyse 1')).toBe(true)
    expect(guarded.state()).toMatchObject({ outcome: 'completed' })
    expect(guarded.story().filter((line) => /create|block|clear/.test(line))).toEqual(['create', 'block 1', 'clear'])
  })

  it('ends as stopped when a turn of a phase fails, and says why, also while a sub-agent works; its definition does not start it again', async () => {
    const guarded = projectWithFlow({ config: { subagent_depth: 2 } })
    const main = worker([START_FLOW, START_FLOW, say('So be it.')], (place, { toolResults }) => {
      if (place !== 'plan 1') return undefined
      return toolResults.length === 0 ? delegateInBackground('helper') : { failure: { status: 400 } }
    })
    const { model } = await guarded.begin({ main, helper: () => NEVER }, { env: IN_BACKGROUND })
    await expect.poll(() => mainTurns(model.turns('main')).at(-1)?.toolResults, { timeout: 60_000 }).toHaveLength(2)
    const [why, again] = mainTurns(model.turns('main')).at(-1)?.toolResults ?? []
    expect(why).toMatch(/is stopped: the turn in OpenCode failed: .*the test's script says 400/)
    expect(again).toContain('has begun already. To continue it here, call workflow_run again, with an empty definition')
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'stopped', phase: 'plan', phase_attempts: 0 })
  })

  it("gives a phase the agent and the model that it asks for, or the conversation's if OpenCode does not have them", async () => {
    const guarded = projectWithFlow({ config: { agent: { general: { prompt: 'You are general.' } } } })
    const wishes = [
      { agent: 'general', model: 'scripted/scripted-2' },
      { agent: 'general-purpose', model: 'opus' },
      { model: 'anthropic/claude-opus-4-1' },
      { model: 'scripted/scripted-9' },
    ]
    const phases = wishes.map((wish, at) => ({ id: `p${at}`, prompt: 'Do it.', artifact: `p${at}.md`, ...wish }))
    guarded.project.write('wishes.json', JSON.stringify({ name: 'wishes', phases }))

    const lines = [runWorkflow(TASK, 'wishes.json'), say('All is done.')]
    const { model } = await guarded.talk({
      main: (turn) => {
        const phase = /phase "(\w+)"/.exec(turn.lastUserText)?.[1]
        if (phase === undefined) return lines.shift()
        return turn.lastToolResult === undefined ? bash(leave(`${phase}.md`, 'Done.')) : say('Done.')
      },
    })

    const [known, ...unknown] = phases.map(({ id }) =>
      model.turns('main').find((turn) => turn.lastUserText.includes(`phase "${id}"`)),
    )
    expect(known?.request.model).toBe('scripted-2')
    expect(known?.systemText).toContain('You are general.')
    expect(unknown.map((turn) => turn?.request.model)).toEqual(Array(3).fill('scripted-1'))
    expect(unknown[0]?.systemText).not.toContain('You are general.')
    const result = model.turns('main').at(-1)?.lastToolResult
    expect(result).toContain('OpenCode has no agent "general-purpose"')
    for (const wish of wishes.slice(1)) expect(result).toContain(`OpenCode has no model "${wish.model}"`)
    expect(guarded.state()).toMatchObject({ outcome: 'completed' })
    expect(result).not.toContain('"general"')
  })

  it('is driven once when it is started twice at the same time', async () => {
    const guarded = projectWithFlow()
    const tools = [START_FLOW, runWorkflow(TASK)].flatMap((reply) => reply.tools ?? [])
    const { model } = await drive(guarded, undefined, { tools })
    expect(placesIn(model.turns('main'))).toEqual(PLACES)
    expect(mainTurns(model.turns('main')).at(-1)?.toolResults).toEqual([
      expect.stringContaining('is completed'),
      'The workflow of task 007_flow is already running: wait for it.',
    ])
  })

  it('reports a wrong task or definition, and starts nothing', async () => {
    const guarded = projectWithFlow()
    guarded.project.write('broken.yaml', 'name: broken\nphases: []\n')
    guarded.project.write('specs/008_other/README.md', 'Another task.\n')
    const wrong = [
      ['7'],
      [TASK, 'broken.yaml'],
      [TASK, 'nowhere.yaml'],
      ['7', 'flow.yaml'],
      ['specs/8_t', 'flow.yaml'],
    ] as const
    const calls = wrong.map(([task, definition]) => runWorkflow(task, definition))
    const inputs = call('workflow_run', { task: TASK, definition: 'flow.yaml', inputs: 'issue' })
    const { model } = await guarded.talk({ main: [...calls, inputs, say('So be it.')] }, { turns: 7 })
    const results = model.turns('main').at(-1)?.toolResults ?? []
    expect(results[0]).toContain('task 7 has no folder')
    expect(results[1]).toMatch(/^broken\.yaml:2:/)
    expect(results[2]).toMatch(/nowhere\.yaml does not exist: .*shipped examples: four-phases, /)
    expect(results[3]).toContain('give a slug after the number, to name the folder: `007_my_slug`')
    expect(results[4]).toContain('task 8 already has the folder 008_other')
    expect(results[5]).toContain('takes NAME=VALUE')
    expect(existsSync(join(guarded.project.dir, IN_TASK))).toBe(false)
  })
})

describe.skipIf(hostsSkipped())('a workflow over two hosts', () => {
  it('that began on OpenCode and was stopped is finished on Claude Code', async () => {
    const claude = claudeProject({ git: true })
    const guarded = projectWithFlow({ within: claude })
    await guarded.run({
      main: worker([START_FLOW, say('It stopped.')], (place, turn) =>
        place === 'plan 1' && turn.lastToolResult === undefined
          ? bash(`${WORK[place]} && postflight workflow stop 7`)
          : undefined,
      ),
    })
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'stopped', phase: 'execute' })
    const { model } = await claude.run({
      main: claudeWorker(claudeBash('postflight workflow resume 7'), say('Resumed.')),
    })
    expect(claudeReasonsIn(model.turns('main').at(-1)).map(placeOf)).toEqual(PLACES.slice(2))
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed' })
    expect(statusOf(guarded)).toMatchObject({ outcome: 'completed' })
  })
})

/** A workflow that is driven by the built hook: which session gets its prompts, and when. */

import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { type Flow, IN_SESSION, IN_TASK, startFlow } from '../../support/flow.ts'
import { type Fields, OTHER_SESSION, SESSION, sessionStart, stop, subagentStop } from '../../support/payloads.ts'
import { HOOK_BUNDLE } from '../../support/process.ts'
import { claudeHookEnv, createProject, createSourceProject, type HookRun } from '../../support/project.ts'

const STATE = `${IN_TASK}/workflow/state.json`

const PHASES = [
  { id: 'list', prompt: 'Make the list.', artifact: 'list.json', check: { json: true }, max_attempts: 2 },
  { id: 'work', steps: { from: 'list.json', pointer: '/steps' }, step_prompt: 'Do {{step}}.', agent: 'worker' },
]

const CLAUDE = { AI_AGENT: 'claude-code_2-1-329_harness' }

/** A run of this session. `make`: `createProject` for what starts several hooks at once, and once for the whole way. */
const started = (phases: readonly object[] = PHASES, make = createSourceProject) =>
  startFlow(phases, { env: IN_SESSION, make })

async function prompted(): Promise<Flow> {
  const project = await started()
  await project.stopped()
  return project
}

const write = (project: Flow, name: string, value: unknown) => project.put(name, JSON.stringify(value))

const sessionBegins = (project: Flow, source: string): Promise<HookRun> =>
  project.hook(sessionStart(source), { words: ['SessionStart'], env: claudeHookEnv(project, SESSION) })

/** A hook process that is started first and gets its payload later. */
function startedEarly(project: Flow): (payload: Fields) => Promise<HookRun['answer']> {
  const env = { ...project.env, ...claudeHookEnv(project, SESSION) }
  const child = spawn(process.execPath, [HOOK_BUNDLE], { cwd: project.dir, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const printed = text(child.stdout)
  return async (payload) => {
    child.stdin.end(JSON.stringify({ cwd: project.dir, ...payload }))
    return JSON.parse(await printed) as HookRun['answer']
  }
}

describe('the stop hook drives a workflow', () => {
  it('to its end, prompt by prompt, and tells the user', async () => {
    const project = await started(PHASES, createProject)
    const begun = { decision: 'block', reason: expect.stringContaining('Make the list.') }
    expect(await project.stopped()).toMatchObject(begun)
    write(project, 'list.json', { steps: ['one', 'two'] })
    const first = await project.stopped()
    expect(first.reason).toContain('Do one.')
    expect(first.reason).toContain('of the type worker')
    project.leave(true)
    expect(await project.stopped(subagentStop())).toEqual({})
    expect(project.has(`${IN_TASK}/step-results/work/1-1.json`)).toBe(true)
    expect((await project.stopped()).reason).toContain('Do two.')
    project.leave(true)
    expect((await project.stopped()).systemMessage).toMatch(/task 007_flow has ended \(completed\)/)
    expect(project.has('specs/.postflight/running/007_flow')).toBe(false)
    expect(await project.stopped()).toEqual({})
    expect(project.journal().map(({ event, detail }) => `${event} ${detail}`)).toEqual([
      'workflow started: flow',
      'workflow prompt: list, attempt 1',
      'workflow prompt: work, step 1 of 2: one, attempt 1',
      'workflow prompt: work, step 2 of 2: two, attempt 1',
      'workflow completed',
    ])
  })

  it.each([
    ['no prompt was given out yet', async () => {}],
    ['a prompt was given out', (project: Flow) => project.stopped()],
    [
      'a step was done and the next prompt was not given out',
      async (project: Flow) => {
        await project.stopped()
        write(project, 'list.json', { steps: ['one', 'two'] })
        await project.stopped()
        project.leave(true)
        await project.stopped(subagentStop())
      },
    ],
  ])('only in the session that started it (CPO#64, CC#15047) or resumed it, even if %s', async (_when, before) => {
    const project = await started()
    const theirs = stop({ session_id: OTHER_SESSION })
    await before(project)
    expect(await project.stopped(theirs)).toEqual({})
    await project.cli(['workflow', 'resume', '7'], { env: { CLAUDE_CODE_SESSION_ID: OTHER_SESSION } })
    expect(await project.stopped()).toEqual({})
    expect((await project.stopped(theirs)).reason).toContain('attempt 1 of ')
  })

  it('in its own session, if it is resumed in a plain terminal without a session', async () => {
    const project = await prompted()
    const resumed = await project.cli(['workflow', 'resume', '7'])
    expect(resumed).toMatchObject({ status: 0, stdout: expect.stringContaining(`session ${SESSION} drives it\n`) })
    expect(resumed.stdout).not.toContain('taken over')
    expect(resumed.stdout).not.toContain('workflow next')
    expect((await project.stopped()).reason).toContain('attempt 1 of 2')
  })

  it('with the same prompt, as one attempt, if the host runs the hook twice at one stop', async () => {
    const project = await started(PHASES, createProject)
    for (const [wanted, finish] of [
      ['list.json', () => write(project, 'list.json', { steps: ['one'] })],
      ['Do one.', () => {}],
    ] as const) {
      // It starts before the other one has answered, and reads its payload after that.
      const late = startedEarly(project)
      const first = await project.stopped()
      expect(first.reason).toContain(wanted)
      expect(await late(stop())).toEqual(first)
      finish()
    }
    expect(await project.status()).toMatchObject({ prompts: 2, attempt: 1, outcome: null })
  })

  it('with the next prompt for a hook that started before the last prompt was given out and done: a clock may be set back', async () => {
    const project = await started(PHASES, createProject)
    const late = startedEarly(project)
    expect((await project.stopped()).decision).toBe('block')
    write(project, 'list.json', { steps: ['one'] })
    expect((await late(stop())).reason).toContain('Do one.')
    expect(await project.status()).toMatchObject({ prompts: 2, attempt: 1 })
  })

  it('with one attempt for every fourth of very many hooks at one stop', async () => {
    const project = await started(PHASES, createProject)
    const lates = [1, 2, 3, 4, 5].map(() => startedEarly(project))
    const first = await project.stopped()
    const answers = await Promise.all(lates.map((late) => late(stop())))
    const same = answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(first)).length
    // Bounded, even if a clock is wrong.
    expect(same).toBe(3)
    expect(await project.status()).toMatchObject({ attempt: 2, prompts: 2 })
  })

  it('without blocking a sub-agent, and without counting while one runs in the background (CC#55754), a wake-up is scheduled, or the mode is plan', async () => {
    const project = await prompted()
    const background = stop({ background_tasks: [{ id: 'a', type: 'subagent', status: 'running' }] })
    const scheduled = stop({ session_crons: [{ id: 'c', schedule: '41 13 * * *', recurring: false, prompt: 'look' }] })
    for (const payload of [subagentStop(), background, scheduled, subagentStop(), background]) {
      expect(await project.stopped(payload)).toEqual({})
    }
    const planning = await project.stopped(stop({ permission_mode: 'plan' }))
    expect(planning).toEqual({ systemMessage: expect.stringContaining('sends no prompt in plan mode') })
    expect(await project.status()).toMatchObject({ prompts: 1, attempt: 1 })
  })

  it('without judging a draft at the stop of a helper: what fails is judged when the agent comes back', async () => {
    const next = { pass: 'end', fail: 'debug', verdict: '/passed' }
    const check = { id: 'check', prompt: 'Check.', artifact: 'c.json', next }
    const project = await started([check, { id: 'debug', steps: ['mend'] }])
    await project.stopped()
    write(project, 'c.json', { passed: false })
    expect(await project.stopped(subagentStop())).toEqual({})
    expect(await project.status()).toMatchObject({ phase: 'check', attempt: 1 })
    expect((await project.stopped()).reason).toContain('phase "debug"')
  })

  it('with a prompt once on Claude Code: as context, beside a reason of one line', async () => {
    const project = await started()
    const answer = await project.stopped(stop(), CLAUDE)
    const context = answer.hookSpecificOutput?.additionalContext ?? ''
    expect(answer).toMatchObject({ decision: 'block', hookSpecificOutput: { hookEventName: 'Stop' } })
    expect(context).toContain('Make the list.')
    expect(answer.reason).toMatch(/^Workflow "flow", task 007_flow: phase "list", attempt 1 of 2\. /)
    expect(answer.reason).toContain(`${context.split('\n')[0]} The prompt follows. (A person ends the run with: `)
    expect(answer.reason).not.toContain('\n')
  })

  it('with the text of its step in the line that a person sees', async () => {
    const project = await prompted()
    write(project, 'list.json', { steps: ['add\nthe route', 'test it'] })
    const answer = await project.stopped(stop(), CLAUDE)
    expect(answer.reason).toContain('phase "work", step 1 of 2: add the route, attempt 1 of ')
    expect(answer.hookSpecificOutput?.additionalContext).not.toContain('step 1 of 2:')
  })

  it('after a person who interrupts was heard: their stop is allowed, with a notice; the next message brings the same prompt', async () => {
    const project = await started()
    expect((await project.stopped()).reason).toContain('attempt 1 of 2')
    // Nor does another run of the session use that stop.
    await project.cli(['workflow', 'start', '8', 'other', '--definition', 'flow.json'], { env: IN_SESSION })
    const typed = stop({ prompt_id: 'prompt-2' })
    const answer = await project.stopped(typed)
    const systemMessage = expect.stringMatching(/: you interrupted .*`postflight workflow stop 007_flow/)
    expect(answer).toEqual({ systemMessage })
    expect(project.journal().at(-1)).toMatchObject({ event: 'workflow', detail: 'interrupted: the stop was allowed' })
    // The same stop, for a hook that is wired twice.
    expect(await project.stopped(typed)).toEqual(answer)
    expect(await project.status()).toMatchObject({ prompts: 1, attempt: 1 })
    expect((await project.stopped(stop({ prompt_id: 'prompt-3' }))).reason).toContain('attempt 1 of 2')
    expect(await project.status()).toMatchObject({ prompts: 2, attempt: 1 })
  })

  it('after a compaction as without one: the agent works on', async () => {
    const project = await prompted()
    await sessionBegins(project, 'compact')
    expect((await project.cli(['workflow', 'stop', '7'])).stdout).toContain('stopping')
    expect(await project.status()).toMatchObject({ outcome: null })
  })

  it.each<[string, string?]>([['work in progress'], ['a result that lies there already', '{"steps": ["half of it"]}']])(
    'never after workflow stop: %s is judged at the next stop, and the run is over',
    async (_what, result) => {
      const project = await started()
      await project.stopped()
      if (result !== undefined) project.write(`${IN_TASK}/list.json`, result)
      expect((await project.cli(['workflow', 'stop', '7'])).stdout).toContain('stopping')
      if (result === undefined) expect(await project.stopped(subagentStop())).toEqual({})
      expect(await project.status()).toMatchObject({ outcome: null })
      expect((await project.stopped(stop({ stop_hook_active: true }))).systemMessage).toContain('has ended (stopped)')
      expect(await project.status()).toMatchObject({ prompts: 1, outcome: 'stopped' })
    },
  )

  it.each<[string, (project: Flow) => Promise<unknown>]>([
    ['interrupted', (project) => project.stopped(stop({ prompt_id: 'prompt-2' }))],
    [
      'waiting',
      async (project) => {
        await project.cli(['wait', '7', '--for', 'an answer'], { env: IN_SESSION })
        return project.stopped(stop({ stop_hook_active: true }))
      },
    ],
  ])('never after workflow stop of an agent that is idle (%s): the run stops at once', async (_why, idle) => {
    const project = await prompted()
    await idle(project)
    expect((await project.cli(['workflow', 'stop', '7', '--json'])).json()).toMatchObject({ outcome: 'stopped' })
    expect(await project.stopped(stop({ prompt_id: 'prompt-3' }))).toEqual({})
  })

  it('without counting while a build that the agent started runs: it is asked once whether it waits', async () => {
    const project = await started()
    const server = { id: 's', type: 'shell', status: 'running', description: 'a server' }
    const build = { id: 'b', type: 'shell', status: 'running', description: 'a build' }
    await project.stopped(stop({ background_tasks: [server] }))
    const building = stop({ stop_hook_active: true, background_tasks: [server, build] })
    expect((await project.stopped(building)).reason).toMatch(/"a build".*postflight wait 007_flow --for/s)
    expect(await project.stopped(building)).toEqual({})
    expect(await project.status()).toMatchObject({ prompts: 1, attempt: 1 })
    const ended = stop({ prompt_id: 'prompt-2', background_tasks: [server] })
    expect((await project.stopped(ended)).reason).toContain('attempt 2 of 2')
  })

  it('after the guard: another task’s marker comes first, and costs no attempt', async () => {
    const project = await prompted()
    project.marker('008_other', { cc_session_id: SESSION, agent_id: 'main', reason: 'commit first' })
    expect((await project.stopped()).reason).toContain('commit first')
    rmSync(project.at('specs/008_other'), { recursive: true })
    expect((await project.stopped()).reason).toContain('attempt 2 of 2')
  })

  it('with a file for a prompt that is too long for a block', async () => {
    const long = 'long '.repeat(2000)
    const project = await started([{ id: 'a', prompt: long, artifact: 'a.txt' }])
    expect((await project.stopped()).reason).toContain('workflow/prompt.md')
    expect(project.read(`${IN_TASK}/workflow/prompt.md`)).toContain(long.trim())
  })

  it.each([
    ['cut in half', '{"version": 1, "name"'],
    ['of another version', '{"version": 99}'],
    ['empty', ''],
  ])('until the state is %s: then the stop goes through, and the user is notified', async (_what, broken) => {
    const project = await started()
    project.write(STATE, broken)
    const answer = await project.stopped()
    expect(answer.decision).toBeUndefined()
    expect(answer.systemMessage).toContain(STATE)
    expect(project.read(STATE)).toBe(broken)
  })

  it('within its time, even if other processes hold the locks of many runs: it skips the rest, and the user is notified', async () => {
    const project = createSourceProject()
    const file = project.write('flow.json', JSON.stringify({ name: 'flow', phases: PHASES }))
    const tasks = Array.from({ length: 9 }, (_, at) => `${at + 1}`)
    for (const task of tasks)
      await project.cli(['workflow', 'start', task, 'flow', '--definition', file], { env: IN_SESSION })
    for (const task of tasks) project.write(`specs/00${task}_flow/workflow/.postflight-lock`, '')
    const run = await project.hook(stop(), { env: claudeHookEnv(project, SESSION), judgesForMs: 100 })
    expect(run.answer.systemMessage).toContain('8 workflows did not continue')
    // It waited for the first lock only.
    expect(run.durationMs).toBeLessThan(3000)
  })
})

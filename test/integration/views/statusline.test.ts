/** `postflight-hook StatusLine` and `postflight statusline`: the line under a conversation. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SESSION } from '../../support/payloads.ts'
import { LAUNCHER, runProcess } from '../../support/process.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

/** The parts of Claude Code's JSON for a status line that matter here. */
const hostJson = ({ dir }: Project, session_id = SESSION): string =>
  JSON.stringify({ session_id, cwd: dir, workspace: { current_dir: dir, project_dir: dir } })

/** The line as a host gets it: through the launcher. */
async function line(project: Project, env: Readonly<Record<string, string>> = {}, session = SESSION): Promise<string> {
  const options = { cwd: project.dir, env: { ...project.env, ...env }, input: hostJson(project, session) }
  const run = await runProcess(LAUNCHER, ['StatusLine'], options)
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' })
  return run.stdout
}

const next = (project: Project) => project.cli(['workflow', 'next', '7'], { env: ours })
const ours = { POSTFLIGHT_HOST_SESSION: SESSION }

async function withMarker(...words: string[]): Promise<Project> {
  const project = createSourceProject()
  await project.cli(['create', '259', 'prove', '--operation', 'research', ...words], { env: ours })
  return project
}

/** Starts a run of these phases, or of one with two steps. */
async function withRun(
  project: Project,
  more: readonly object[] = [],
  steps = ['one', 'two'],
  parallel = 1,
): Promise<void> {
  const phases = [{ id: 'build', steps, parallel, step_prompt: 'Do {{step}}.' }, ...more]
  project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
  const words = ['workflow', 'start', '7', 'flow', '--definition', 'flow.json', '--host-session', SESSION]
  expect((await project.cli(words)).status).toBe(0)
}

describe('the status line', () => {
  it('is empty, without Node, if nothing is pending', async () => {
    const project = createSourceProject({ files: { 'specs/001_x/plan.md': '' } })
    rmSync(join(project.base, 'bin', 'node'))
    expect(await line(project)).toBe('')
  })

  it('shows the pending marker of its session, its steps and the stops that it blocked, and only counts those of others', async () => {
    const project = await withMarker('--step', 'update status', '--step', 'git commit', '--agent', 'main')
    expect(await line(project)).toBe('⚑ 259 research, 0/2 steps\n')
    await project.cli(['step', '259', '1'])
    await project.hook({ hook_event_name: 'Stop', session_id: SESSION })
    expect(await line(project)).toBe('⚑ 259 research, 1/2 steps, blocked 1/3\n')
    expect(await line(project, {}, 'another')).toBe('+1 elsewhere\n')
  })

  it('shows a wait, and an abandoned marker', async () => {
    const project = await withMarker('--agent', 'main')
    await project.cli(['wait', '259', '--for', 'go-ahead to deploy'], { env: ours })
    expect(await line(project)).toBe('⏸ 259 waits: go-ahead to deploy\n')
    project.marker('260_given_up', { cc_session_id: SESSION, id: 'pf_aaaaaaaaaaaa', agent_id: 'main' })
    for (let stop = 0; stop < 4; stop++) {
      await project.hook({ hook_event_name: 'Stop', session_id: SESSION, prompt_id: 'p' })
    }
    expect(await line(project)).toBe('⏸ 259 waits: go-ahead to deploy · ✗ 260 abandoned\n')
  })

  it('shows a run and its step, and nothing once the run has ended', async () => {
    const project = createSourceProject()
    await withRun(project)
    await next(project)
    expect(await line(project)).toBe('▶ 7 build 1/2\n')
    await next(project)
    expect(await line(project)).toBe('▶ 7 build 1/2, attempt 2/3\n')
    await project.cli(['wait', '7', '--for', 'answers'], { env: ours })
    expect(await line(project)).toBe('⏸ 7 waits: answers\n')
    await project.cli(['workflow', 'abort', '7'])
    expect(await line(project)).toBe('')
  })

  it('says how many steps are in progress, and that a run waits for approval', async () => {
    const project = createSourceProject()
    const report = { id: 'report', prompt: 'p', artifact: 'report.md', approve: true }
    await withRun(project, [report], ['one', 'two', 'three'], 2)
    await next(project)
    expect(await line(project)).toBe('▶ 7 build 1/3, 2 at once\n')
    for (const step of [1, 2, 3]) {
      project.write(`specs/007_flow/step-result-${step}.json`, '{"success":true}')
      if (step > 1) await next(project)
    }
    project.write('specs/007_flow/report.md', 'x')
    await next(project)
    expect(await line(project)).toBe('⏸ 7 waits for approval: report\n')
  })

  it('shows what cannot be read, and a name without its control characters', async () => {
    const project = createSourceProject({ files: { 'specs/003_folder/.postflight-pending/x': '' } })
    await withRun(project)
    project.write('specs/007_flow/workflow/state.json', '{')
    project.marker('evil\u001b[31m\u0007', { cc_session_id: SESSION, operation: 'a\nb' })
    expect(await line(project)).toBe('⚑ evil[31m a b · ! 3 unreadable · ! 7 unreadable\n')
  })

  it('finds the project by the JSON if the command is started elsewhere', async () => {
    const project = await withMarker()
    const elsewhere = createSourceProject({ specs: false })
    expect((await elsewhere.cli(['statusline'], { input: hostJson(project) })).stdout).toBe('⚑ 259 research\n')
    const rooted = await elsewhere.cli(['statusline', '--root', project.dir], { input: 'not JSON' })
    expect(rooted.stdout).toBe('⚑ 259 research\n')
  })

  it('is empty with POSTFLIGHT_DISABLE=1, and if Node is missing', async () => {
    const project = await withMarker()
    expect(await line(project, { POSTFLIGHT_DISABLE: '1' })).toBe('')
    expect((await project.cli(['statusline'], { env: { POSTFLIGHT_DISABLE: '1' }, input: '{}' })).stdout).toBe('')
    const env = { PATH: join(project.base, 'nowhere'), HOME: project.home, CLAUDECODE: '1' }
    const run = await runProcess(LAUNCHER, ['StatusLine'], { cwd: project.dir, env, input: '{}' })
    expect([run.status, run.stdout]).toEqual([0, ''])
  })

  it('does not wait for a host that sends nothing', async () => {
    const project = await withMarker()
    const run = await project.cli(['statusline', '--json'], { input: 'open' })
    expect(run.json()).toEqual({ text: '⚑ 259 research', pending: 1, waiting: 0, running: 0, abandoned: 0 })
    expect(run.durationMs).toBeLessThan(5_000)
  })
})

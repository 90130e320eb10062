/** `workflow status --watch` without a terminal: its pictures, and every way in which it ends. */

import { describe, expect, it } from 'vitest'
import { type Flow, flowProject, IN_TASK, startFlow } from '../../support/flow.ts'
import { CLI, startCli } from '../../support/process.ts'

const PHASES = [{ id: 'only', prompt: 'do it', artifact: 'out.txt' }]

const start = (project: Flow, task = '7') => project.workflow('start', task, 'flow', '--definition', 'flow.json')

/** Starts the watcher, which runs until the test ends. */
const watch = (project: Flow, onTestFinished: (action: () => void) => void, ...words: string[]) =>
  startCli(project, ['workflow', 'status', '--watch', ...words], onTestFinished)

const goOn = async (project: Flow) => expect(await project.workflow('next', '7')).toMatchObject({ status: 0 })

async function finish(project: Flow): Promise<void> {
  project.put('out.txt', 'x')
  await goOn(project)
}

const patient = { timeout: 10_000 }

describe.concurrent('workflow status --watch', () => {
  it('shows the picture again when it changes, and ends with the run', async ({ expect, onTestFinished }) => {
    const project = await startFlow(PHASES)
    const { stdout, ended } = watch(project, onTestFinished, '7')
    await expect.poll(stdout, patient).toMatch(/running · 0 prompts[\s\S]*▶ only/)
    await goOn(project)
    await expect.poll(stdout, patient).toMatch(/running · 1 prompt,/)
    await finish(project)
    expect(await ended).toBe(0)
    // Three pictures with an empty line between them, and none because of a new age alone.
    const pictures = stdout().split('\n\n')
    const shown = pictures.map((picture) => /running|completed/.exec(picture)?.[0])
    expect(shown).toEqual(['running', 'running', 'completed'])
    expect(stdout()).toContain('✓ only')
  })

  it('shows the text of a step, as the report does later', async ({ expect, onTestFinished }) => {
    const steps = { from: 'tasks.md', checklist: true }
    const project = flowProject([{ id: 'list', steps, step_prompt: 'Do {{step}}.' }, ...PHASES])
    project.put('tasks.md', '- [x] begin\n- [ ] add the route\n- [ ] test it\n')
    await start(project)
    await goOn(project)
    const { stdout } = watch(project, onTestFinished, '7')
    await expect.poll(stdout, patient).toContain('step 1 of 2: add the route, attempt 1 of 3')
    for (const _step of [1, 2]) {
      project.leave(true)
      await goOn(project)
    }
    await project.cli(['report', '--html', 'page.html'])
    for (const text of ['>1. add the route', '>2. test it']) expect(project.read('page.html')).toContain(text)
  })

  it('of every run ends when the last run has ended', async ({ expect, onTestFinished }) => {
    const project = await startFlow(PHASES)
    await start(project, '8')
    const { stdout, ended } = watch(project, onTestFinished, '--json')
    await expect.poll(stdout, patient).toContain('008_flow')
    await goOn(project)
    await finish(project)
    await expect.poll(stdout, patient).toContain('"outcome":"completed"')
    await project.cli(['workflow', 'abort', '8'])
    // One of them was aborted.
    expect(await ended).toBe(1)
    const { workflows } = JSON.parse(stdout().trimEnd().split('\n').at(-1) ?? '')
    expect(workflows.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['completed', 'aborted'])
  })

  it('prints no new picture just because a phase in progress took longer', async ({ expect, onTestFinished }) => {
    const project = await startFlow(PHASES)
    await goOn(project)
    const { stdout, ended } = watch(project, onTestFinished, '7', '--json')
    await expect.poll(stdout, patient).toContain('"active":true')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await finish(project)
    await ended
    expect(stdout().trimEnd().split('\n')).toHaveLength(2)
  })

  it('with --quiet only waits for the end', async ({ expect, onTestFinished }) => {
    const project = await startFlow(PHASES)
    const { stdout, ended } = watch(project, onTestFinished, '7', '--quiet')
    await goOn(project)
    await finish(project)
    expect([await ended, stdout()]).toEqual([0, ''])
  })

  it('ends with exit code 0 after Ctrl-C, its usual end', async ({ expect, onTestFinished }) => {
    const project = await startFlow(PHASES)
    const { child, stdout, ended } = watch(project, onTestFinished, '7')
    await expect.poll(stdout, patient).toContain('only')
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  it('ends at the next change after its reader is gone', async ({ expect }) => {
    const project = await startFlow(PHASES)
    await goOn(project)
    let hasEnded = false
    const piped = project.shell(`node "${CLI}" workflow status 7 --watch | head -n 1`).then((run) => {
      hasEnded = true
      return run
    })
    const change = async (): Promise<boolean> => {
      // In the middle of a phase both change the run, and neither ends it.
      await project.workflow('stop', '7')
      await project.workflow('resume', '7')
      return hasEnded
    }
    await expect.poll(change, { timeout: 20_000, interval: 100 }).toBe(true)
    expect(await piped).toMatchObject({ status: 0, stderr: '' })
  })

  it.for<[string, string[], string | undefined, RegExp]>([
    ['of a task without a folder', ['7'], 'specs/008_other/plan.md', /task 7 yet: waiting/],
    ['of a task without a run', ['7'], `${IN_TASK}/plan.md`, /task 7 yet: waiting/],
    ['in a project without specs/', ['7'], undefined, /task 7 yet: waiting/],
    ['of every run', [], `${IN_TASK}/plan.md`, /no workflows here/],
  ])('%s waits for it, and ends with it', async ([_what, words, before, waiting], { expect, onTestFinished }) => {
    const project = flowProject(PHASES)
    if (before !== undefined) project.write(before, '')
    const { stdout, ended } = watch(project, onTestFinished, ...words)
    await expect.poll(stdout, patient).toMatch(waiting)
    await start(project)
    await expect.poll(stdout, patient).toMatch(/running · 0 prompts/)
    await finish(project)
    expect(await ended).toBe(0)
    expect(stdout()).toContain('completed')
  })

  it('ends at once if nothing runs', async ({ expect }) => {
    const project = await startFlow(PHASES)
    await project.cli(['workflow', 'abort', '7'])
    expect(await project.cli(['workflow', 'status', '7', '--watch'])).toMatchObject({ status: 1 })
  })
})

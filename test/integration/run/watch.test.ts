/** `workflow status --watch` without a terminal: its pictures, and every way in which it ends. */

import { describe, expect, it } from 'vitest'
import { CLI, startCli } from '../../support/process.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

const IN_TASK = 'specs/007_flow'

/** A run of one phase. */
async function started(): Promise<Project> {
  const project = createSourceProject()
  const file = project.write(
    'flow.json',
    JSON.stringify({ name: 'one', phases: [{ id: 'only', prompt: 'do it', artifact: 'out.txt' }] }),
  )
  const run = await project.cli(['workflow', 'start', '7', 'flow', '--definition', file])
  expect(run.status, run.stderr).toBe(0)
  return project
}

/** Starts the watcher, which runs until the test ends. */
function watch(project: Project, onTestFinished: (action: () => void) => void, ...words: string[]) {
  return startCli(project, ['workflow', 'status', '--watch', ...words], onTestFinished)
}

/** Moves the run on: to a prompt, or to its end. */
async function goOn(project: Project): Promise<void> {
  expect((await project.cli(['workflow', 'next', '7'])).status).toBe(0)
}

async function finish(project: Project): Promise<void> {
  project.write(`${IN_TASK}/out.txt`, 'x')
  await goOn(project)
}

const patient = { timeout: 10_000 }

describe.concurrent('workflow status --watch', () => {
  it('shows the picture again when it changes, and ends with the run', async ({ expect, onTestFinished }) => {
    const project = await started()
    const { stdout, ended } = watch(project, onTestFinished, '7')
    await expect.poll(stdout, patient).toMatch(/running · 0 prompts[\s\S]*▶ only/)
    await goOn(project)
    await expect.poll(stdout, patient).toMatch(/running · 1 prompt,/)
    await finish(project)
    expect(await ended).toBe(0)
    // Three pictures with an empty line between them, and none because of a new age alone.
    expect(
      stdout()
        .split('\n\n')
        .map((picture) => /running|completed/.exec(picture)?.[0]),
    ).toEqual(['running', 'running', 'completed'])
    expect(stdout()).toContain('✓ only')
  })

  it.for([
    ['a checklist', { from: 'tasks.md', checklist: true }],
    ['the definition', ['add the route', 'test it']],
  ])(
    'shows the text of a step from %s, while it runs and in the report of the past phase',
    async ([, steps], { expect, onTestFinished }) => {
      const project = createSourceProject()
      project.write(`${IN_TASK}/tasks.md`, '- [x] begin\n- [ ] add the route\n- [ ] test it\n')
      const listed = { id: 'list', steps, step_prompt: 'Do {{step}}.' }
      const last = { id: 'only', prompt: 'do it', artifact: 'out.txt' }
      project.write('flow.json', JSON.stringify({ name: 'one', phases: [listed, last] }))
      await project.cli(['workflow', 'start', '7', '--definition', 'flow.json'])
      await goOn(project)
      const { stdout } = watch(project, onTestFinished, '7')
      await expect.poll(stdout, patient).toContain('step 1 of 2: add the route, attempt 1 of 3')
      for (const _step of [1, 2]) {
        project.write(`${IN_TASK}/step-result.json`, '{"success": true}')
        await goOn(project)
      }
      await project.cli(['report', '--html', 'page.html'])
      expect(project.read('page.html')).toContain('>1. add the route')
      expect(project.read('page.html')).toContain('>2. test it')
    },
  )

  it('of every run ends when the last run has ended', async ({ expect, onTestFinished }) => {
    const project = await started()
    await project.cli(['workflow', 'start', '8', 'other', '--definition', project.at('flow.json')])
    const { stdout, ended } = watch(project, onTestFinished, '--json')
    await expect.poll(stdout, patient).toContain('008_other')
    await goOn(project)
    await finish(project)
    await expect.poll(stdout, patient).toContain('"outcome":"completed"')
    await project.cli(['workflow', 'abort', '8'])
    // One of them was aborted.
    expect(await ended).toBe(1)
    // With --json, each line is a document.
    const documents = stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(documents.at(-1).workflows.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'completed',
      'aborted',
    ])
  })

  it('prints no new picture just because a phase in progress took longer', async ({ expect, onTestFinished }) => {
    const project = await started()
    await goOn(project)
    const { stdout, ended } = watch(project, onTestFinished, '7', '--json')
    await expect.poll(stdout, patient).toContain('"active":true')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await finish(project)
    await ended
    expect(stdout().trimEnd().split('\n')).toHaveLength(2)
  })

  it('with --quiet only waits for the end', async ({ expect, onTestFinished }) => {
    const project = await started()
    const { stdout, ended } = watch(project, onTestFinished, '7', '--quiet')
    await goOn(project)
    await finish(project)
    expect([await ended, stdout()]).toEqual([0, ''])
  })

  it('ends with exit code 0 after Ctrl-C, its usual end', async ({ expect, onTestFinished }) => {
    const project = await started()
    const { child, stdout, ended } = watch(project, onTestFinished, '7')
    await expect.poll(stdout, patient).toContain('only')
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  it('ends at the next change after its reader is gone', async ({ expect }) => {
    const project = await started()
    await goOn(project)
    let hasEnded = false
    const piped = project.shell(`node "${CLI}" workflow status 7 --watch | head -n 1`).then((run) => {
      hasEnded = true
      return run
    })
    await expect
      .poll(
        async () => {
          // In the middle of a phase both change the run, and neither ends it.
          await project.cli(['workflow', 'stop', '7'])
          await project.cli(['workflow', 'resume', '7'])
          return hasEnded
        },
        { timeout: 20_000, interval: 100 },
      )
      .toBe(true)
    expect(await piped).toMatchObject({ status: 0, stderr: '' })
  })

  it.for([
    [
      'of a task without a folder',
      ['7'],
      (project: Project) => project.write('specs/008_other/plan.md', ''),
      /task 7 yet: waiting/,
    ],
    [
      'of a task without a run',
      ['7'],
      (project: Project) => project.write(`${IN_TASK}/plan.md`, ''),
      /task 7 yet: waiting/,
    ],
    ['in a project without specs/', ['7'], () => '', /task 7 yet: waiting/],
    ['of every run', [], (project: Project) => project.write(`${IN_TASK}/plan.md`, ''), /no workflows here/],
  ] as const)(
    '%s waits for it, and ends with it',
    async ([_what, words, before, waiting], { expect, onTestFinished }) => {
      const project = createSourceProject()
      before(project)
      const phases = [{ id: 'only', prompt: 'do it', artifact: 'out.txt' }]
      project.write('flow.json', JSON.stringify({ name: 'one', phases }))
      const { stdout, ended } = watch(project, onTestFinished, ...words)
      await expect.poll(stdout, patient).toMatch(waiting)
      await project.cli(['workflow', 'start', '7', 'flow', '--definition', project.at('flow.json')])
      await expect.poll(stdout, patient).toMatch(/running · 0 prompts/)
      await finish(project)
      expect(await ended).toBe(0)
      expect(stdout()).toContain('completed')
    },
  )

  it('ends at once where nothing runs', async ({ expect }) => {
    const project = await started()
    await project.cli(['workflow', 'abort', '7'])
    expect(await project.cli(['workflow', 'status', '7', '--watch'])).toMatchObject({ status: 1 })
  })
})

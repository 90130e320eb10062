/** A person steers a run: at once, from another phase, a step again, without a step. */

import { describe, expect, it } from 'vitest'
import { createSourceProject, type JsonDocument, type Project } from '../../support/project.ts'

const IN_TASK = 'specs/007_flow'

const STEPS = { id: 'work', steps: ['one', 'two', 'three'], step_prompt: 'Do {{step}}.', max_step_attempts: 1 }

async function start(phases: readonly object[]): Promise<Project> {
  const project = createSourceProject()
  project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
  await project.cli(['workflow', 'start', '7', 'flow', '--definition', 'flow.json'])
  return project
}

async function next(project: Project): Promise<JsonDocument> {
  return (await project.cli(['workflow', 'next', '7', '--json'])).json()
}

function leave(project: Project, success: boolean, file = 'step-result.json'): void {
  project.write(`${IN_TASK}/${file}`, JSON.stringify({ success }))
}

function stateOf(project: Project): JsonDocument {
  return JSON.parse(project.read(`${IN_TASK}/workflow/state.json`))
}

describe('workflow stop --now', () => {
  it('stops a run immediately, and a result that the prompt still produces counts when it is resumed', async () => {
    const project = await start([STEPS])
    await next(project)

    const stopped = await project.cli(['workflow', 'stop', '7', '--now', '--json'])

    expect(stopped.json()).toMatchObject({ active: false, outcome: 'stopped', why: 'it was stopped immediately' })
    expect(await next(project)).toMatchObject({ command: 'finish', outcome: 'stopped' })
    leave(project, true)
    await project.cli(['workflow', 'resume', '7'])
    expect(await next(project)).toMatchObject({ command: 'prompt', step: 2, attempt: 1 })
  })

  it('sends the prompt again as the same attempt if it left no result', async () => {
    const project = await start([STEPS])
    await next(project)
    await project.cli(['workflow', 'stop', '7', '--now'])
    await project.cli(['workflow', 'resume', '7'])

    expect(await next(project)).toMatchObject({ command: 'prompt', step: 1, attempt: 1 })
  })

  it('reports a run that had ended', async () => {
    const project = await start([STEPS])
    await project.cli(['workflow', 'abort', '7'])

    const run = await project.cli(['workflow', 'stop', '7', '--now'])

    expect(run.stdout).toContain('had already ended (aborted)')
  })
})

describe('workflow resume --from', () => {
  const PHASES = ['a', 'b', 'c'].map((id) => ({ id, prompt: `Do ${id}.`, artifact: `${id}.md` }))

  it('goes back to a phase, and does it and those after it again', async () => {
    const project = await start(PHASES)
    for (const id of ['a', 'b']) {
      await next(project)
      project.write(`${IN_TASK}/${id}.md`, `first ${id}`)
    }
    expect(await next(project)).toMatchObject({ phase: 'c' })

    await project.cli(['workflow', 'resume', '7', '--from', 'a'])

    expect((await project.cli(['workflow', 'status', '7'])).stdout).toContain('visit 2 of 2')
    const phases: string[] = []
    for (const id of ['a', 'b', 'c']) {
      phases.push((await next(project)).phase)
      project.write(`${IN_TASK}/${id}.md`, `second ${id}`)
    }
    expect(phases).toEqual(['a', 'b', 'c'])
    expect(await next(project)).toMatchObject({ command: 'finish', outcome: 'completed' })
    expect(project.read(`${IN_TASK}/artifacts/a/1-a.md`)).toBe('first a')
    expect(project.read(`${IN_TASK}/artifacts/b/1-b.md`)).toBe('first b')
  })

  it.each([
    ['c', 'has not reached phase "c" yet: --from takes a phase that was entered before (a).'],
    ['d', 'its phases are a, b, c.'],
  ])('is refused for phase %s, and changes nothing: %s', async (phase, why) => {
    const project = await start(PHASES)
    await next(project)
    const before = project.snapshot('specs')

    const refused = await project.cli(['workflow', 'resume', '7', '--from', phase])

    expect(refused).toMatchObject({ status: 64, stderr: expect.stringContaining(why) })
    expect(project.snapshot('specs')).toEqual(before)
  })

  it('can be done twice', async () => {
    const project = await start(PHASES)
    await next(project)
    await project.cli(['workflow', 'resume', '7', '--from', 'a'])
    await project.cli(['workflow', 'resume', '7', '--from', 'a'])

    for (const id of ['a', 'b', 'c']) {
      expect(await next(project)).toMatchObject({ phase: id })
      project.write(`${IN_TASK}/${id}.md`, id)
    }
    expect(await next(project)).toMatchObject({ outcome: 'completed' })
  })

  it('shows unfinished phases that it passes over as skipped, and the verdict counts them', async () => {
    const project = await start(PHASES)
    for (const id of ['a', 'b']) {
      await next(project)
      project.write(`${IN_TASK}/${id}.md`, 'x')
    }
    await next(project)
    await project.cli(['workflow', 'resume', '7', '--from', 'a'])
    await project.cli(['workflow', 'resume', '7', '--from', 'c'])
    await next(project)
    project.write(`${IN_TASK}/c.md`, 'x')

    expect(await next(project)).toMatchObject({
      outcome: 'completed',
      why: expect.stringContaining('2 steps or artifacts'),
    })

    const shown = await project.cli(['workflow', 'status', '7'])
    expect(shown.stdout).toMatch(/– a .*skipped/)
    expect(shown.stdout).toMatch(/– b .*skipped/)
    expect(shown.stdout).toMatch(/✓ c /)
    expect((await project.cli(['workflow', 'history', '7'])).stdout).toMatch(
      /phase-skipped +a +visit 2, resume --from c/,
    )
    const verdict = await project.cli(['status', '--exit-code'])
    expect(verdict).toMatchObject({ status: 1, stdout: expect.stringContaining('completed with skips') })
    expect((await project.cli(['report', '7'])).stdout).toContain('a: skipped (resume --from c)')
  })

  it('never passes over an approval, in any shell', async () => {
    const project = await start([PHASES[0] ?? {}, { ...PHASES[1], approve: true }, PHASES[2] ?? {}])
    await next(project)
    project.write(`${IN_TASK}/a.md`, 'x')
    await next(project)
    project.write(`${IN_TASK}/b.md`, 'x')
    await next(project)
    await project.cli(['workflow', 'approve', '7'])
    expect(await next(project)).toMatchObject({ phase: 'c' })
    await project.cli(['workflow', 'resume', '7', '--from', 'b'])
    const before = project.snapshot('specs')

    const refused = await project.cli(['workflow', 'resume', '7', '--from', 'c'])

    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot pass over phase "b": a person must approve its result first.'),
    })
    expect(project.snapshot('specs')).toEqual(before)
  })
})

describe('workflow retry', () => {
  it('tries a step again that was skipped, with all its attempts; its results have new names', async () => {
    const project = await start([STEPS])
    await next(project)
    leave(project, false)
    expect(await next(project)).toMatchObject({ step: 2 })

    const run = await project.cli(['workflow', 'retry', '7', '--step', '1'])

    expect(run).toMatchObject({ status: 0, stderr: '' })
    leave(project, true)
    expect(await next(project)).toMatchObject({ step: 1, attempt: 2 })
    leave(project, true)
    expect(await next(project)).toMatchObject({ step: 3 })
    leave(project, true)
    expect(await next(project)).toMatchObject({ command: 'finish', outcome: 'completed', why: null })
    expect(project.has(`${IN_TASK}/step-results/work/1-1.json`)).toBe(true)
    expect(project.has(`${IN_TASK}/step-results/work/1-2.json`)).toBe(true)
    expect(stateOf(project)).toMatchObject({ skips: 0 })
  })

  it('does not hand out more at once than the phase allows', async () => {
    const project = await start([{ ...STEPS, steps: ['1', '2', '3', '4'], parallel: 2 }])
    await next(project)
    leave(project, false, 'step-result-1.json')
    leave(project, true, 'step-result-2.json')
    await next(project)

    await project.cli(['workflow', 'retry', '7', '--step', '1'])
    leave(project, true, 'step-result-4.json')
    const { batch, step } = await next(project)

    expect(stateOf(project).ended_steps).toMatchObject([
      { step: 1, outcome: 'done' },
      { step: 3, outcome: 'done' },
      { step: 2, outcome: 'skipped' },
    ])
    expect([step, batch]).toEqual([1, null])
  })
})

describe('retry and skip', () => {
  it.each([
    ['retry', '9', 'has 3 steps'],
    ['retry', '1', 'is done'],
    ['retry', '2', 'still has attempts left'],
    ['retry', '3', 'still has attempts left'],
    ['skip', '1', 'is done'],
  ])('%s refuses step %s, which %s', async (command, step, why) => {
    const project = await start([STEPS])
    await next(project)
    leave(project, true)
    await next(project)
    const before = project.snapshot('specs')

    const run = await project.cli(['workflow', command, '7', '--step', step])

    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining(why) })
    expect(project.snapshot('specs')).toEqual(before)
  })

  it.each(['retry', 'skip'])('leave a run unchanged that cannot be resumed: %s', async (command) => {
    const project = await start([STEPS])
    await next(project)
    await project.cli(['workflow', 'skip', '7', '--step', '1'])
    await project.cli(['workflow', 'abort', '7'])
    const before = project.snapshot('specs')

    const run = await project.cli(['workflow', command, '7', '--step', '1'])

    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('has ended (aborted)') })
    expect(project.snapshot('specs')).toEqual(before)
  })
})

describe('workflow skip', () => {
  it('goes on without a step that is in progress, and its late result does not count', async () => {
    const project = await start([STEPS])
    await next(project)

    await project.cli(['workflow', 'skip', '7', '--step', '1'])

    leave(project, true)
    expect(await next(project)).toMatchObject({ command: 'prompt', step: 2, attempt: 1 })
    expect(stateOf(project)).toMatchObject({ skips: 1, ended_steps: [{ step: 0, outcome: 'skipped' }] })
  })

  it('leaves out a step that has not begun, and the end names the gap', async () => {
    const project = await start([STEPS])
    await next(project)
    await project.cli(['workflow', 'skip', '7', '--step', '2'])
    await project.cli(['workflow', 'skip', '7', '--step', '2'])
    leave(project, true)
    expect(await next(project)).toMatchObject({ step: 3 })
    leave(project, true)

    const { outcome, why } = await next(project)

    expect([outcome, why]).toEqual(['completed', expect.stringContaining('1 step or artifact was skipped')])
    const history = await project.cli(['workflow', 'history', '7'])
    expect(history.stdout).toMatch(/step-skipped.*step 2.*skipped by a person/)
  })

  it('of the last open step ends the phase', async () => {
    const project = await start([STEPS])
    await next(project)
    leave(project, true)
    await next(project)
    leave(project, true)
    await next(project)

    const run = await project.cli(['workflow', 'skip', '7', '--step', '3', '--json'])

    expect(run.json()).toMatchObject({ active: false, outcome: 'completed' })
  })

  it('refuses a phase without steps', async () => {
    const project = await start([STEPS])
    const run = await project.cli(['workflow', 'skip', '7', '--step', '1'])
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('is not working on steps now') })
  })
})

describe('durations', () => {
  it('of each phase are shown by status and history', async () => {
    const project = await start([
      { id: 'a', prompt: 'Do a.', artifact: 'a.md' },
      { id: 'b', prompt: 'Do b.', artifact: 'b.md' },
    ])
    await next(project)
    await new Promise((resolve) => setTimeout(resolve, 20))
    project.write(`${IN_TASK}/a.md`, 'a')
    await next(project)

    const { phases } = (await project.cli(['workflow', 'status', '7', '--json'])).json()
    const { durations } = (await project.cli(['workflow', 'history', '7', '--json'])).json()

    expect(phases[0].duration_ms).toBeGreaterThanOrEqual(15)
    expect(phases[1].duration_ms).toBeGreaterThanOrEqual(0)
    expect(Object.keys(durations)).toEqual(['a', 'b'])
    expect((await project.cli(['workflow', 'status', '7'])).stdout).toMatch(/a\.md · .*s\b/)
  })
})

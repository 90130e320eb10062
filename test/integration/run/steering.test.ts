/** A person steers a run: at once, from another phase, a step again, without a step. */

import { describe, expect, it } from 'vitest'
import { IN_TASK, startFlow as start } from '../../support/flow.ts'

const STEPS = { id: 'work', steps: ['one', 'two', 'three'], step_prompt: 'Do {{step}}.', max_step_attempts: 1 }

describe('workflow stop --now', () => {
  it('stops a run immediately, and a result that the prompt still produces counts when it is resumed', async () => {
    const project = await start([STEPS])
    await project.next()

    const stopped = await project.workflow('stop', '7', '--now', '--json')

    expect(stopped.json()).toMatchObject({ active: false, outcome: 'stopped', why: 'it was stopped immediately' })
    expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'stopped' })
    project.leave(true)
    await project.workflow('resume', '7')
    expect(await project.next()).toMatchObject({ command: 'prompt', step: 2, attempt: 1 })
  })

  it('sends the prompt again as the same attempt if it left no result', async () => {
    const project = await start([STEPS])
    await project.next()
    await project.workflow('stop', '7', '--now')
    await project.workflow('resume', '7')

    expect(await project.next()).toMatchObject({ command: 'prompt', step: 1, attempt: 1 })
  })

  it('reports a run that had ended', async () => {
    const project = await start([STEPS])
    await project.workflow('abort', '7')

    const run = await project.workflow('stop', '7', '--now')

    expect(run.stdout).toContain('had already ended (aborted)')
  })
})

describe('workflow resume --from', () => {
  const PHASES = ['a', 'b', 'c'].map((id) => ({ id, prompt: `Do ${id}.`, artifact: `${id}.md` }))

  it('goes back to a phase, and does it and those after it again', async () => {
    const project = await start(PHASES)
    for (const id of ['a', 'b']) {
      await project.next()
      project.put(`${id}.md`, `first ${id}`)
    }
    expect(await project.next()).toMatchObject({ phase: 'c' })

    await project.workflow('resume', '7', '--from', 'a')

    expect((await project.workflow('status', '7')).stdout).toContain('visit 2 of 2')
    const phases: string[] = []
    for (const id of ['a', 'b', 'c']) {
      phases.push((await project.next()).phase)
      project.put(`${id}.md`, `second ${id}`)
    }
    expect(phases).toEqual(['a', 'b', 'c'])
    expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'completed' })
    expect(project.read(`${IN_TASK}/artifacts/a/1-a.md`)).toBe('first a')
    expect(project.read(`${IN_TASK}/artifacts/b/1-b.md`)).toBe('first b')
  })

  it.each([
    ['c', 'has not reached phase "c" yet: --from takes a phase that was entered before (a).'],
    ['d', 'its phases are a, b, c.'],
  ])('is refused for phase %s, and changes nothing: %s', async (phase, why) => {
    const project = await start(PHASES)
    await project.next()
    const before = project.snapshot('specs')

    const refused = await project.workflow('resume', '7', '--from', phase)

    expect(refused).toMatchObject({ status: 64, stderr: expect.stringContaining(why) })
    expect(project.snapshot('specs')).toEqual(before)
  })

  it('can be done twice', async () => {
    const project = await start(PHASES)
    await project.next()
    await project.workflow('resume', '7', '--from', 'a')
    await project.workflow('resume', '7', '--from', 'a')

    for (const id of ['a', 'b', 'c']) {
      expect(await project.next()).toMatchObject({ phase: id })
      project.put(`${id}.md`, id)
    }
    expect(await project.next()).toMatchObject({ outcome: 'completed' })
  })

  it('shows unfinished phases that it passes over as skipped, and the verdict counts them', async () => {
    const project = await start(PHASES)
    for (const id of ['a', 'b']) {
      await project.next()
      project.put(`${id}.md`, 'x')
    }
    await project.next()
    await project.workflow('resume', '7', '--from', 'a')
    await project.workflow('resume', '7', '--from', 'c')
    await project.next()
    project.put('c.md', 'x')

    expect(await project.next()).toMatchObject({
      outcome: 'completed',
      why: expect.stringContaining('2 steps or artifacts'),
    })

    const shown = await project.workflow('status', '7')
    expect(shown.stdout).toMatch(/– a .*skipped/)
    expect(shown.stdout).toMatch(/– b .*skipped/)
    expect(shown.stdout).toMatch(/✓ c /)
    expect((await project.workflow('history', '7')).stdout).toMatch(/phase-skipped +a +visit 2, resume --from c/)
    const verdict = await project.cli(['status', '--exit-code'])
    expect(verdict).toMatchObject({ status: 1, stdout: expect.stringContaining('completed with skips') })
    expect((await project.cli(['report', '7'])).stdout).toContain('a: skipped (resume --from c)')
  })

  it('never passes over an approval, in any shell', async () => {
    const project = await start([PHASES[0] ?? {}, { ...PHASES[1], approve: true }, PHASES[2] ?? {}])
    await project.next()
    project.put('a.md', 'x')
    await project.next()
    project.put('b.md', 'x')
    await project.next()
    await project.workflow('approve', '7')
    expect(await project.next()).toMatchObject({ phase: 'c' })
    await project.workflow('resume', '7', '--from', 'b')
    const before = project.snapshot('specs')

    const refused = await project.workflow('resume', '7', '--from', 'c')

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
    await project.next()
    project.leave(false)
    expect(await project.next()).toMatchObject({ step: 2 })

    const run = await project.workflow('retry', '7', '--step', '1')

    expect(run).toMatchObject({ status: 0, stderr: '' })
    project.leave(true)
    expect(await project.next()).toMatchObject({ step: 1, attempt: 2 })
    project.leave(true)
    expect(await project.next()).toMatchObject({ step: 3 })
    project.leave(true)
    expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'completed', why: null })
    expect(project.has(`${IN_TASK}/step-results/work/1-1.json`)).toBe(true)
    expect(project.has(`${IN_TASK}/step-results/work/1-2.json`)).toBe(true)
    expect(project.state()).toMatchObject({ skips: 0 })
  })

  it('does not hand out more at once than the phase allows', async () => {
    const project = await start([{ ...STEPS, steps: ['1', '2', '3', '4'], parallel: 2 }])
    await project.next()
    project.leave(false, 'step-result-1.json')
    project.leave(true, 'step-result-2.json')
    await project.next()

    await project.workflow('retry', '7', '--step', '1')
    project.leave(true, 'step-result-4.json')
    const { batch, step } = await project.next()

    expect(project.state().ended_steps).toMatchObject([
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
    await project.next()
    project.leave(true)
    await project.next()
    const before = project.snapshot('specs')

    const run = await project.workflow(command, '7', '--step', step)

    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining(why) })
    expect(project.snapshot('specs')).toEqual(before)
  })

  it.each(['retry', 'skip'])('leave a run unchanged that cannot be resumed: %s', async (command) => {
    const project = await start([STEPS])
    await project.next()
    await project.workflow('skip', '7', '--step', '1')
    await project.workflow('abort', '7')
    const before = project.snapshot('specs')

    const run = await project.workflow(command, '7', '--step', '1')

    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('has ended (aborted)') })
    expect(project.snapshot('specs')).toEqual(before)
  })
})

describe('workflow skip', () => {
  it('goes on without a step that is in progress, and its late result does not count', async () => {
    const project = await start([STEPS])
    await project.next()

    await project.workflow('skip', '7', '--step', '1')

    project.leave(true)
    expect(await project.next()).toMatchObject({ command: 'prompt', step: 2, attempt: 1 })
    expect(project.state()).toMatchObject({ skips: 1, ended_steps: [{ step: 0, outcome: 'skipped' }] })
  })

  it('leaves out a step that has not begun, and the end names the gap', async () => {
    const project = await start([STEPS])
    await project.next()
    await project.workflow('skip', '7', '--step', '2')
    await project.workflow('skip', '7', '--step', '2')
    project.leave(true)
    expect(await project.next()).toMatchObject({ step: 3 })
    project.leave(true)

    const { outcome, why } = await project.next()

    expect([outcome, why]).toEqual(['completed', expect.stringContaining('1 step or artifact was skipped')])
    const history = await project.workflow('history', '7')
    expect(history.stdout).toMatch(/step-skipped.*step 2.*skipped by a person/)
  })

  it('of the last open step ends the phase', async () => {
    const project = await start([STEPS])
    await project.next()
    project.leave(true)
    await project.next()
    project.leave(true)
    await project.next()

    const run = await project.workflow('skip', '7', '--step', '3', '--json')

    expect(run.json()).toMatchObject({ active: false, outcome: 'completed' })
  })

  it('refuses a phase without steps', async () => {
    const project = await start([STEPS])
    const run = await project.workflow('skip', '7', '--step', '1')
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('is not working on steps now') })
  })
})

it('durations of each phase are shown by status and history', async () => {
  const project = await start([
    { id: 'a', prompt: 'Do a.', artifact: 'a.md' },
    { id: 'b', prompt: 'Do b.', artifact: 'b.md' },
  ])
  await project.next()
  await new Promise((resolve) => setTimeout(resolve, 20))
  project.put('a.md', 'a')
  await project.next()

  const { phases } = (await project.workflow('status', '7', '--json')).json()
  const { durations } = (await project.workflow('history', '7', '--json')).json()

  expect(phases[0].duration_ms).toBeGreaterThanOrEqual(15)
  expect(phases[1].duration_ms).toBeGreaterThanOrEqual(0)
  expect(Object.keys(durations)).toEqual(['a', 'b'])
  expect((await project.workflow('status', '7')).stdout).toMatch(/a\.md · .*s\b/)
})

/** A person steers a run: at once, from another phase, a step again, without a step. */

import { describe, expect, it } from 'vitest'
import { type Flow, IN_TASK, startFlow as start } from '../../support/flow.ts'

const STEPS = { id: 'work', steps: ['one', 'two', 'three'], step_prompt: 'Do {{step}}.', max_step_attempts: 1 }

describe('workflow stop --now', () => {
  it('stops a run immediately; resumed, its prompt goes out again, and a result that came meanwhile counts', async () => {
    const project = await start([STEPS])
    await project.next()
    const stopped = await project.workflow('stop', '7', '--now', '--json')
    expect(stopped.json()).toMatchObject({ active: false, outcome: 'stopped', why: 'it was stopped immediately' })
    expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'stopped' })
    await project.workflow('resume', '7')
    expect(await project.next()).toMatchObject({ command: 'prompt', step: 1, attempt: 1 })
    await project.workflow('stop', '7', '--now')
    project.leave(true)
    await project.workflow('resume', '7')
    expect(await project.next()).toMatchObject({ command: 'prompt', step: 2, attempt: 1 })
  })

  it('and stop without it, and abort, report a run that had ended, and change nothing', async () => {
    const project = await start([STEPS])
    await project.workflow('abort', '7')
    const before = project.snapshot('specs')
    for (const words of ['stop 7 --now', 'stop 7', 'abort 7']) {
      const run = await project.workflow(...words.split(' '))
      expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining('had already ended (aborted)') })
    }
    expect(project.snapshot('specs')).toEqual(before)
  })
})

describe('workflow resume --from', () => {
  const PHASES = ['a', 'b', 'c'].map((id) => ({ id, prompt: `Do ${id}.`, artifact: `${id}.md` }))

  /** Does these phases, which must be due. */
  async function work(project: Flow, ids: string, text: string): Promise<void> {
    for (const id of ids) {
      expect(await project.next()).toMatchObject({ phase: id })
      project.put(`${id}.md`, `${text} ${id}`)
    }
  }

  it('goes back to a phase, and does it and those after it again', async () => {
    const project = await start(PHASES)
    await work(project, 'ab', 'first')
    expect(await project.next()).toMatchObject({ phase: 'c' })
    await project.workflow('resume', '7', '--from', 'a')
    expect((await project.workflow('status', '7')).stdout).toContain('visit 2 of 2')
    await work(project, 'abc', 'second')
    expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'completed' })
    expect(project.read(`${IN_TASK}/artifacts/a/1-a.md`)).toBe('first a')
    expect(project.read(`${IN_TASK}/artifacts/b/1-b.md`)).toBe('first b')
  })

  it.each([
    ['c', 'has not reached phase "c" yet'],
    ['d', 'its phases are a, b, c.'],
  ])('is refused for phase %s, and changes nothing: %s', async (phase, why) => {
    const project = await start(PHASES)
    await project.next()
    const before = project.snapshot('specs')
    const refused = await project.workflow('resume', '7', '--from', phase)
    expect(refused).toMatchObject({ status: 64, stderr: expect.stringContaining(why) })
    expect(project.snapshot('specs')).toEqual(before)
  })

  it('shows unfinished phases that it passes over as skipped, and the verdict counts them', async () => {
    const project = await start(PHASES)
    await work(project, 'ab', 'first')
    await project.next()
    await project.workflow('resume', '7', '--from', 'a')
    await project.workflow('resume', '7', '--from', 'c')
    await work(project, 'c', 'second')
    const { outcome, why } = await project.next()
    expect([outcome, why]).toEqual(['completed', expect.stringContaining('2 steps or artifacts')])
    expect((await project.workflow('status', '7')).stdout).toMatch(/– a .*skipped.*– b .*skipped.*✓ c /s)
    expect((await project.workflow('history', '7')).stdout).toMatch(/phase-skipped +a +visit 2, resume --from c/)
    const verdict = await project.cli(['status', '--exit-code'])
    expect(verdict).toMatchObject({ status: 1, stdout: expect.stringContaining('completed with skips') })
    expect((await project.cli(['report', '7'])).stdout).toContain('a: skipped (resume --from c)')
  })

  it('never passes over an approval, in any shell', async () => {
    const project = await start([{ ...PHASES[0], approve: true }, PHASES[1] ?? {}])
    await work(project, 'a', 'first')
    await project.next()
    await project.workflow('approve', '7')
    expect(await project.next()).toMatchObject({ phase: 'b' })
    await project.workflow('resume', '7', '--from', 'a')
    const before = project.snapshot('specs')
    const refused = await project.workflow('resume', '7', '--from', 'b')
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot pass over phase "a"') })
    expect(project.snapshot('specs')).toEqual(before)
  })
})

describe('retry and skip', () => {
  it('retry tries a step again that was skipped, with all its attempts; its results have new names', async () => {
    const project = await start([STEPS])
    await project.next()
    project.leave(false)
    expect(await project.next()).toMatchObject({ step: 2 })
    expect(await project.workflow('retry', '7', '--step', '1')).toMatchObject({ status: 0, stderr: '' })
    for (const place of [
      { step: 1, attempt: 2 },
      { step: 3, attempt: 1 },
      { command: 'finish', outcome: 'completed', why: null },
    ]) {
      project.leave(true)
      expect(await project.next()).toMatchObject(place)
    }
    const archived = Object.keys(project.snapshot(`${IN_TASK}/step-results/work`))
    expect(archived).toEqual(expect.arrayContaining(['1-1.json', '1-2.json']))
    expect(project.state()).toMatchObject({ skips: 0 })
  })

  it('skip continues without a step that is in progress, whose late result does not count', async () => {
    const project = await start([STEPS])
    await project.next()
    await project.workflow('skip', '7', '--step', '1')
    project.leave(true)
    expect(await project.next()).toMatchObject({ command: 'prompt', step: 2, attempt: 1 })
    expect(project.state()).toMatchObject({ skips: 1, ended_steps: [{ step: 0, outcome: 'skipped' }] })
  })

  it('skip leaves out steps that have not begun; the history names them, and the last open one ends the phase', async () => {
    const project = await start([STEPS])
    await project.next()
    for (const said of [
      'given up: 2 two; `postflight workflow retry 007_flow --step N`',
      'step 2 had already been given up',
    ]) {
      expect((await project.workflow('skip', '7', '--step', '2')).stdout).toContain(said)
    }
    project.leave(true)
    expect(await project.next()).toMatchObject({ step: 3 })
    const last = (await project.workflow('skip', '7', '--step', '3', '--json')).json()
    expect(last).toMatchObject({ active: false, outcome: 'completed', why: expect.stringContaining('2 steps') })
    expect((await project.workflow('history', '7')).stdout).toMatch(/step-skipped.*step 2.*skipped by a person/)
  })

  it.each(['status', 'abort'])('%s says that steps were skipped that have no line of their own', async (word) => {
    const project = await start([STEPS, { id: 'b', prompt: 'B', artifact: 'b.json' }])
    const noted = 'earlier, 2 steps or artifacts were skipped (`postflight workflow history 007_flow` says which)'
    await project.next()
    for (const step of ['2', '3']) {
      expect((await project.workflow('skip', '7', '--step', step)).stdout).not.toContain('earlier')
    }
    if (word === 'status') {
      project.leave(true)
      expect(await project.next()).toMatchObject({ phase: 'b' })
    }
    expect((await project.workflow(word, '7')).stdout).toContain(noted)
  })

  it('refuse a step that may not be changed, and change nothing', async () => {
    const project = await start([STEPS])
    const refuses = async (words: string, why: string): Promise<void> => {
      const before = project.snapshot('specs')
      const run = await project.workflow(...words.split(' '))
      expect(run, words).toMatchObject({ status: 1, stderr: expect.stringContaining(why) })
      expect(project.snapshot('specs')).toEqual(before)
    }
    await refuses('skip 7 --step 1', 'is not working on steps now')
    await project.next()
    project.leave(true)
    await project.next()
    await refuses('retry 7 --step 9', 'has 3 steps')
    for (const step of [2, 3]) await refuses(`retry 7 --step ${step}`, 'still has attempts left')
    for (const command of ['retry', 'skip']) await refuses(`${command} 7 --step 1`, 'is done')
    await project.workflow('abort', '7')
    for (const command of ['retry', 'skip']) await refuses(`${command} 7 --step 2`, 'has ended (aborted)')
  })
})

it('durations of each phase are shown by status and history', async () => {
  const project = await start(['a', 'b'].map((id) => ({ id, prompt: `Do ${id}.`, artifact: `${id}.md` })))
  await project.next()
  await new Promise((resolve) => setTimeout(resolve, 20))
  project.put('a.md', 'a')
  await project.next()
  const { phases } = await project.status()
  const { durations } = (await project.workflow('history', '7', '--json')).json()
  expect(phases[0].duration_ms).toBeGreaterThanOrEqual(15)
  expect(phases[1].duration_ms).toBeGreaterThanOrEqual(0)
  expect(Object.keys(durations)).toEqual(['a', 'b'])
  expect((await project.workflow('status', '7')).stdout).toMatch(/a\.md · .*s\b/)
})

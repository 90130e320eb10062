/** Steps that are the tasks of a Markdown list: which tasks are read, and that a tick changes one character. */

import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { tickTask } from '../../../src/run/store/observe-run.ts'
import { instrument } from '../../stress/support/instrument.ts'
import { type Flow, flowProject, IN_TASK } from '../../support/flow.ts'
import { createProject, createSourceProject, type JsonDocument } from '../../support/project.ts'

const START = ['start', '7', 'flow', '--definition', 'flow.json']
const LIST = `${IN_TASK}/tasks.md`

const STEPS = { from: 'tasks.md', checklist: true }
const WORK = { id: 'work', steps: STEPS, step_prompt: 'Do: {{step}}', max_step_attempts: 2 }

const TASKS = [
  '\ufeff# Tasks – größer\r\n\r\n- [x] was done before\r\n- [ ] one\r\n  * [ ] two, nested\r\n',
  '\r\n    1) [ ] three, deeper\r\n```\r\n- [ ] code\r\n```\r\n> - [ ] four, quoted\n- [ ] one\n\nthe end\t \n\n',
].join('')

/** A project with a run whose only phase works through `tasks`. */
async function start(tasks: string | Uint8Array, phase: object = {}, make = createSourceProject): Promise<Flow> {
  const project = flowProject([{ ...WORK, ...phase }], {}, make)
  project.write(LIST, tasks)
  expect(await project.workflow(...START)).toMatchObject({ status: 0, stderr: '' })
  return project
}

/** Does every step, and returns their texts in order. */
async function doAll(project: Flow): Promise<string[]> {
  const done: string[] = []
  for (;;) {
    const { command, prompt } = await project.next()
    if (command !== 'prompt') return done
    done.push(/^Do: (.*)$/m.exec(prompt)?.[1] ?? '')
    project.leave(true)
  }
}

describe('a checklist', () => {
  it('counts in the size of its run: at the start, on the way, and no more at its end', async () => {
    const project = flowProject([{ ...WORK, max_step_attempts: 3, max_attempts: 1 }])
    project.write(LIST, `${'- [ ] a task\n'.repeat(6)}- [x] was done before\n`)
    const status = async (): Promise<string | undefined> =>
      /\d+ prompts?[^·\n]*(?= ·)/.exec((await project.workflow('status', '7')).stdout)?.[0]
    const started = await project.workflow(...START)
    // Each of the six steps may take three attempts, and three prompts may go out again.
    expect(started.stdout.split('\n')[0]).toBe(`started "flow" in ${IN_TASK}: 1 phase, 6 steps, at most 21 prompts`)
    await project.next()
    project.leave(true)
    await project.next()
    expect(await status()).toBe('2 prompts, at most 19')
    expect(await project.status()).toMatchObject({ prompt_bound: 19 })
    project.leave(true)
    await doAll(project)
    expect(await status()).toBe('6 prompts')
  })

  it.each([
    [20, /: 20 phases, 20 steps, at most 120 prompts\n/],
    [21, /: 21 phases, at most 3123 prompts \(steps not known yet count as 1000\)\n/],
  ])('is read for the size only if there are few: %i lists', async (count, said) => {
    const lists = Array.from({ length: count }, (_, index) => index)
    const work = { step_prompt: 'Do: {{step}}', max_step_attempts: 3 }
    const phases = lists.map((index) => ({ ...work, id: `p${index}`, steps: { from: 'a.json', pointer: `/${index}` } }))
    const project = flowProject(phases)
    project.put('a.json', JSON.stringify(lists.map((index) => [`step ${index}`])))
    expect((await project.workflow(...START)).stdout).toMatch(said)
  })

  it('that does not exist yet counts as 1,000 steps, until it is written', async () => {
    const project = flowProject([{ id: 'plan', prompt: 'Plan.', artifact: 'tasks.md', max_attempts: 2 }, WORK])
    const started = await project.workflow(...START)
    expect(started.stdout).toMatch(/: 2 phases, at most 2008 prompts \(steps not known yet count as 1000\)\n/)
    await project.next()
    project.write(LIST, '- [ ] one\n- [ ] two\n')
    await project.next()
    expect((await project.workflow('status', '7')).stdout).toContain('2 prompts, at most 8 ')
    expect((await project.workflow('validate', 'flow.json')).stdout).toContain('at most 2008 prompts')
  })

  it('has one step for each open task at any depth, in its order, and each is ticked when it is done', async () => {
    const project = await start(TASKS)
    expect(await doAll(project)).toEqual(['one', 'two, nested', 'three, deeper', 'four, quoted', 'one'])
    expect(project.read(LIST)).toBe(TASKS.replaceAll('[ ]', '[x]').replace('[x] code', '[ ] code'))
  })

  it('is read and ticked by the built hook and CLI too', async () => {
    const project = await start('- [ ] one\n- [ ] two\n', {}, createProject)
    expect(await doAll(project)).toEqual(['one', 'two'])
    expect(project.read(LIST)).toBe('- [x] one\n- [x] two\n')
  })

  it('is changed by one byte at a tick: the file stays the same file, with its rights', async () => {
    const project = await start(TASKS)
    chmodSync(project.at(LIST), 0o640)
    const before = statSync(project.at(LIST))
    const bytes = readFileSync(project.at(LIST))
    await project.next()
    project.leave(true)
    await project.next()
    const after = readFileSync(project.at(LIST))
    expect([...after].flatMap((byte, at) => (byte === bytes[at] ? [] : [at]))).toEqual([bytes.indexOf('[ ] one') + 1])
    expect(statSync(project.at(LIST))).toMatchObject({ ino: before.ino, mode: before.mode, size: before.size })
  })

  it.each<[string, string | Uint8Array, string]>([
    ['no list', '# Tasks\n\n```\n- [ ] code\n```\n', 'has no task list'],
    ['a text that is not UTF-8', Uint8Array.from([0x2d, 0x20, 0x5b, 0x20, 0x5d, 0x20, 0xff, 0x0a]), 'is not UTF-8'],
    ['lists a thousand deep', `${'- '.repeat(1000)}[ ] a\n`, 'is nested too deeply'],
    ['more than 128 KiB', `- [ ] a\n${'a'.repeat(140_000)}`, 'larger than 131072 bytes'],
    ['more than a thousand open tasks', '- [ ] a\n'.repeat(1001), 'lists 1001 steps'],
  ])('with %s stalls the run, and is read again after it was repaired', async (_, text, why) => {
    const project = await start(text)
    expect(await project.next()).toMatchObject({ outcome: 'stalled', why: expect.stringContaining(why) })
    writeFileSync(project.at(LIST), '- [ ] mended\n')
    await project.workflow('resume', '7')
    expect(await doAll(project)).toEqual(['mended'])
  })
})

const NEXT = { pass: 'end', fail: 'work', verdict: '/ok', reason: '/why' }
const REVIEW = { id: 'review', prompt: 'Review it.', artifact: 'review.json', next: NEXT }

/** A project with a run that works through `tasks`, and reviews the work. */
async function startReviewed(tasks: string): Promise<Flow> {
  const project = flowProject([WORK, REVIEW])
  project.write(LIST, tasks)
  await project.workflow(...START)
  return project
}

describe('a loop back to a checklist', () => {
  /** Plays a run whose first review fails. Returns the place of each prompt, with the text of a step. */
  async function play(project: Flow, verdict: object, meanwhile = (): void => {}): Promise<string[]> {
    const places: string[] = []
    for (;;) {
      const { command, phase, step, prompt } = await project.next()
      if (command !== 'prompt') return places
      if (phase === 'work') {
        places.push(`${phase} ${step}: ${/^Do: (.*)$/m.exec(prompt)?.[1]}`)
        project.leave(true)
        continue
      }
      const isFirst = !places.includes('review')
      places.push('review')
      if (isFirst) meanwhile()
      project.put('review.json', JSON.stringify(isFirst ? verdict : { ok: true }))
    }
  }

  it('whose tasks are all ticked has one step: the reason', async () => {
    const project = await startReviewed('- [ ] one\n')
    const places = await play(project, { ok: false, why: 'the button is red' })
    expect(places).toEqual(['work 1: one', 'review', 'work 1: the button is red', 'review'])
    expect(project.read(LIST)).toBe('- [x] one\n')
    expect(await project.status()).toMatchObject({ outcome: 'completed' })
  })

  it('has the tasks that the review added, and no other step', async () => {
    const project = await startReviewed('- [ ] one\n')
    const add = () => void project.write(LIST, '- [x] one\n- [ ] two\n')
    const places = await play(project, { ok: false, why: 'two is missing' }, add)
    expect(places).toEqual(['work 1: one', 'review', 'work 1: two', 'review'])
  })

  it('is simulated as it runs', async () => {
    const project = await startReviewed('- [ ] one\n- [ ] two\n')
    const real = await play(project, { ok: false, why: 'it failed' })
    const words = ['workflow', 'simulate', 'flow.json', '--fail', 'review:1', '--steps', 'work=2', '--json']
    const { prompts } = (await project.cli(words)).json()
    const placed = prompts.map(({ phase, step }: JsonDocument) => (step === null ? phase : `${phase} ${step}`))
    expect(placed).toEqual(real.map((place) => place.replace(/:.*/, '')))
    expect(placed).toEqual(['work 1', 'work 2', 'review', 'work 1', 'review'])
  })

  it('is named by validate, on the phase that leads back', async () => {
    const project = await startReviewed('- [ ] one\n')
    const { stdout, status } = await project.workflow('validate', 'flow.json')
    expect(status).toBe(0)
    expect(stdout).toContain('leads back to phase "work", whose tasks are all ticked by then')
  })
})

it('a ticked task is on the disk before the state that counts it as done', () => {
  const project = createProject()
  project.write('specs/259_x/tasks.md', '- [ ] one\n- [ ] two\n')
  const calls: string[] = []
  const { end } = instrument([project.dir], (call, run) => {
    calls.push(`${call.name} ${path.basename(call.file)}`)
    return run()
  })
  try {
    tickTask(project.at('specs/259_x'), 'tasks.md', { text: 'two', item: 1 })
  } finally {
    end()
  }
  expect(project.read('specs/259_x/tasks.md')).toBe('- [ ] one\n- [x] two\n')
  expect(calls.slice(calls.indexOf('writeSync tasks.md'), -1)).toEqual(['writeSync tasks.md', 'fsyncSync tasks.md'])
})

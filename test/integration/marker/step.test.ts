import { describe, expect, it } from 'vitest'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { createProject, createSourceProject, type Project } from '../../support/project.ts'

const MARKER = 'specs/259_x/.postflight-pending'
const NAMES = ['update status', 'link artifacts', 'git commit', 'git push']

function withSteps(steps: unknown = NAMES.map((name) => ({ name, done: false })), project = createSourceProject()) {
  project.marker('259_x', { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a', custom: 1, steps })
  return project
}

function doneOf(project: Project): unknown[] {
  const { steps } = JSON.parse(project.read(MARKER)) as { steps: { name: string; done: boolean }[] }
  return steps.filter((one) => one.done).map((one) => one.name)
}

describe.concurrent('step', () => {
  it.each([
    ['its number', '2', 'link artifacts'],
    ['its name', 'git commit', 'git commit'],
    ['its name with other spaces', ' git  commit ', 'git commit'],
  ])('ticks a step by %s', async (_by, word, name) => {
    const project = withSteps()
    const run = await project.cli(['step', '259', word])
    expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining(`${name} (3 to go)`) })
    expect(doneOf(project)).toEqual([name])
  })

  it('removes the tick with --undo, and says and records nothing of a step that does not change', async () => {
    const project = withSteps()
    const said: string[] = []
    for (const more of [[], [], ['--undo'], ['--undo']])
      said.push((await project.cli(['step', '259', '1', ...more])).stdout)
    expect(said.map((line) => /already done|was not done/.test(line))).toEqual([false, true, false, true])
    expect(project.journal()).toHaveLength(2)
    expect(doneOf(project)).toEqual([])
  })

  it('prints a document with --json, and records the step in the journal', async () => {
    const project = withSteps()
    const run = await project.cli(['step', '259', '3', '--json'])
    const step = { number: 3, name: 'git commit', done: true }
    expect(run.json()).toEqual({ task: '259_x', step, remaining: 3, failed: null })
    expect(project.journal()).toMatchObject([{ event: 'step', task: '259_x', detail: 'done: git commit' }])
  })

  it('changes nothing else in the marker, nor its count', async () => {
    const project = withSteps([{ name: 'a', done: false, note: 'kept' }, 'b'])
    const before = JSON.parse(project.read(MARKER))
    await project.hook(subagentStop())
    await project.cli(['step', '259', 'b'])
    const steps = [
      { name: 'a', done: false, note: 'kept' },
      { name: 'b', done: true },
    ]
    expect(JSON.parse(project.read(MARKER))).toEqual({ ...before, steps })
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 2 of 3')
  })

  it.each([
    ['ambiguous', 'git', 64, '3 "git commit", 4 "git push"'],
    ['unknown', 'deploy', 64, '1 "update status"'],
    ['out of range', '5', 64, 'no step "5"'],
    ['zero', '0', 64, 'no step "0"'],
    ['empty', '', 64, 'no step ""'],
  ])('refuses a step that is %s', async (_what, word, status, said) => {
    const project = withSteps()
    const before = project.snapshot('specs/259_x')
    expect(await project.cli(['step', '259', word])).toMatchObject({ status, stderr: expect.stringContaining(said) })
    expect(project.snapshot('specs/259_x')).toEqual(before)
  })

  it.each<[string, string | undefined, number, string]>([
    ['no checklist', '{"reason":"x"}', 1, 'has no checklist'],
    ['no marker', undefined, 1, 'no marker in specs/259_x'],
    ['a marker that does not parse', 'garbage', 65, `${MARKER} is not JSON (`],
    ['an empty marker', '', 65, `${MARKER} is empty: fix it by hand`],
    ['a checklist of another shape', '{"steps":"all of them"}', 1, 'has no checklist'],
  ])('says so if there is %s', async (_what, text, status, said) => {
    const project = createSourceProject()
    if (text === undefined) project.write('specs/259_x/plan.md', '')
    else project.marker('259_x', text)
    expect(await project.cli(['step', '259', '1'])).toMatchObject({ status, stderr: expect.stringContaining(said) })
    if (text !== undefined) expect(project.read(MARKER)).toBe(text)
  })

  it('loses no tick of several processes at once, and says when the last one is done', async () => {
    const names = Array.from({ length: 4 }, (_, index) => `step ${String.fromCharCode(97 + index)}`)
    const project = withSteps(names, createProject())
    const runs = await Promise.all(names.map((name) => project.cli(['step', '259', name])))
    expect(runs.map((run) => run.status)).toEqual(names.map(() => 0))
    expect(runs.filter(({ stdout }) => stdout.includes('all done: clear the marker'))).toHaveLength(1)
    expect(doneOf(project)).toEqual(names)
  })
})

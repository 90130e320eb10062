/** What an earlier run, a clone or git left in a task folder does not count for a run. */

import fs, { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type Flow, flowProject, IN_TASK } from '../../support/flow.ts'

const TASKS = '- [ ] add the route\n- [ ] test it\n'
const CHECKLIST = { id: 'work', steps: { from: 'tasks.md', checklist: true }, max_step_attempts: 2 }

function projectWith(...phases: readonly object[]): Flow {
  const project = flowProject(phases)
  project.put('tasks.md', TASKS)
  return project
}

const start = (project: Flow, ...more: string[]) => project.workflow('start', '7', '--definition', 'flow.json', ...more)

/** Step results under the names that a run would give to its own. */
function leaveArchive(project: Flow, result: object, place = 'step-results/work'): void {
  for (const name of ['1-1', '1-2', '2-1', '2-2']) project.put(`${place}/${name}.json`, JSON.stringify(result))
}

describe('step results of an earlier run', () => {
  it('do not count after that run was forgotten, and are set aside', async () => {
    const project = projectWith(CHECKLIST)
    await start(project)
    for (const step of [1, 2]) {
      expect(await project.next()).toMatchObject({ step, attempt: 1 })
      project.put('step-result.json', '{"success": true, "of": "the first run"}')
    }
    expect(await project.next()).toMatchObject({ outcome: 'completed' })
    rmSync(project.at(IN_TASK, 'workflow'), { recursive: true })
    project.put('tasks.md', TASKS)
    const again = await start(project)
    expect(again.stdout).toContain('  files of an earlier run are now in specs/007_flow/workflow-runs/1: ')
    expect(project.read(`${IN_TASK}/workflow-runs/1/step-results/work/2-1.json`)).toContain('the first run')
    for (const attempt of [1, 2]) expect(await project.next()).toMatchObject({ command: 'prompt', step: 1, attempt })
    expect(project.read(`${IN_TASK}/tasks.md`)).toBe(TASKS)
  })

  it.each([
    ['that succeeded', { success: true }],
    ['that failed', { success: false, summary: 'no luck' }],
  ])('%s do not count if they come with a clone or with git while the run continues', async (_what, result) => {
    for (const when of ['before the start', 'before the prompt', 'after the prompt']) {
      const project = projectWith(CHECKLIST)
      if (when === 'before the start') leaveArchive(project, result)
      await start(project)
      if (when === 'before the prompt') leaveArchive(project, result)
      expect(await project.next(), when).toMatchObject({ command: 'prompt', step: 1, attempt: 1 })
      if (when === 'after the prompt') leaveArchive(project, result)
      const again = await project.next()
      expect(again, when).toMatchObject({ command: 'prompt', step: 1, attempt: 2 })
      expect(again.prompt).toContain('step-result.json is missing')
      project.put('step-result.json', '{"success": true, "of": "this run"}')
      expect(await project.next(), when).toMatchObject({ command: 'prompt', step: 2, attempt: 1 })
      expect(project.read(`${IN_TASK}/tasks.md`)).toBe('- [x] add the route\n- [ ] test it\n')
      project.put('step-result.json', '{"success": true}')
      expect(await project.next(), when).toMatchObject({ command: 'finish', outcome: 'completed' })
    }
  })

  it('do not count in a phase with several steps at once, nor in a later visit', async () => {
    const verdict = { pass: 'end', fail: 'work', verdict: '/passed' }
    const project = projectWith(
      { id: 'work', steps: ['one', 'two'], parallel: 2, max_step_attempts: 2 },
      { id: 'judge', prompt: 'Judge.', artifact: 'verdict.json', next: verdict },
    )
    await start(project)
    leaveArchive(project, { success: true })
    leaveArchive(project, { success: true }, 'step-results/work/visit-2')
    for (const _attempt of [1, 2]) expect((await project.next()).batch).toHaveLength(2)
    for (const step of [1, 2]) project.put(`step-result-${step}.json`, '{"success": true}')
    expect(await project.next()).toMatchObject({ phase: 'judge' })
    project.put('verdict.json', '{"passed": false}')
    expect(await project.next()).toMatchObject({ phase: 'work', batch: [{ attempt: 1 }, { attempt: 1 }] })
    expect((await project.next()).batch).toMatchObject([{ attempt: 2 }, { attempt: 2 }])
  })

  it('do not count with --fresh, whatever phases the earlier run had, even if nothing can be moved to another folder', async () => {
    const project = projectWith({ id: 'other', steps: ['one'] })
    await start(project)
    await project.workflow('abort', '7')
    leaveArchive(project, { success: true })
    project.put('step-result-1.json', '{"success": true}')
    project.write('flow.json', JSON.stringify({ name: 'flow', phases: [CHECKLIST] }))
    const { renameSync } = fs
    const rename = vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
      if (dirname(String(from)) !== dirname(String(to))) throw Object.assign(new Error(), { code: 'EXDEV' })
      renameSync(from, to)
    })
    await start(project, '--fresh')
    rename.mockRestore()
    expect(project.has(`${IN_TASK}/workflow-runs/1/step-results/work/2-2.json`)).toBe(true)
    for (const name of ['step-results', 'step-result-1.json']) expect(project.has(`${IN_TASK}/${name}`)).toBe(false)
    expect(await project.next()).toMatchObject({ command: 'prompt', step: 1, attempt: 1 })
  })
})

describe('other files of an earlier run', () => {
  it("are set aside: archived artifacts, receipts and step results. A person's own files and the artifacts stay", async () => {
    const project = projectWith(CHECKLIST, { id: 'report', prompt: 'Report.', artifact: 'report.md' })
    const left = ['artifacts/report/1-report.md', 'checks/report/1-1.json', 'step-result.json', 'step-result-2.json']
    left.push('artifacts/report/2-report.2.md', 'checks/work/2-1.json')
    const own = ['artifacts/drawing.svg', 'checks/list.md', 'plan.md', 'report.md']
    own.push('artifacts/report/notes.md', 'artifacts/report/2024-plan.md', 'artifacts/work/1-notes.md')
    own.push('checks/report/1-1.md', 'checks/report/list.json')
    for (const file of [...left, ...own]) project.put(`${file}`, '{"success": true}')
    await start(project)
    const has = (file: string, at = ''): boolean => project.has(`${IN_TASK}/${at}${file}`)
    for (const file of left) expect([has(file), has(file, 'workflow-runs/1/')], file).toEqual([false, true])
    for (const file of own) expect(has(file), file).toBe(true)
    expect(project.has(`${IN_TASK}/checks/work`)).toBe(false)
  })

  it('are not named in a prompt as the previous result', async () => {
    const project = projectWith({ id: 'plan', prompt: 'Plan.', artifact: 'plan.md' })
    project.put('artifacts/plan/0-plan.md', 'of another run')
    await start(project)
    expect((await project.next()).prompt).not.toContain('0-plan.md')
  })

  it('leave no folder behind if there were none', async () => {
    const project = projectWith(CHECKLIST)
    expect((await start(project)).stdout).not.toContain('earlier run')
    expect(project.has(`${IN_TASK}/workflow-runs`)).toBe(false)
  })
})

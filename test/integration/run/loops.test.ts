/** Loops of workflows on a disk: the prompts of a phase that is entered again. */

import { describe, expect, it } from 'vitest'
import { PACKAGE } from '../../support/process.ts'
import { createSourceProject, type JsonDocument, type Project } from '../../support/project.ts'

const IN_TASK = 'specs/007_flow'

async function next(project: Project): Promise<JsonDocument> {
  const run = await project.cli(['workflow', 'next', '7', '--json'])
  expect(run.status, run.stderr).toBe(0)
  return run.json()
}

describe('generate, validate, debug', () => {
  it('tells each phase of the loop the errors and where its last result is', async () => {
    const project = createSourceProject()
    const definition = `${PACKAGE}/examples/generate-validate-debug.json`
    await project.cli(['workflow', 'start', '7', 'flow', '--definition', definition])
    await next(project)
    project.write(`${IN_TASK}/generated.json`, '{}')
    await next(project)
    project.write(`${IN_TASK}/validation.json`, '{"passed": false, "errors": ["line 3\\u001b[31m", "line 9"]}')

    const debug = await next(project)
    expect(debug.prompt).toContain(`Fix the errors that ${project.dir}/${IN_TASK}/validation.json names`)
    expect(debug.prompt).toContain(
      'This phase follows the phase "validate", whose verdict was "fail":\n- line 3[31m\n- line 9\n\n',
    )

    project.write(`${IN_TASK}/fixes.json`, '{}')
    const again = await next(project)
    expect(again.prompt).toContain('This is visit 2 of this phase. It follows the phase "debug".')
    const archived = `${IN_TASK}/artifacts/validate/1-validation.json`
    expect(again.prompt).toContain(`The previous result is now in the file ${project.dir}/${archived}.`)
    expect(project.read(archived)).toContain('line 9')
  })

  it('names the newest file if the name in the archive was taken, and none if nothing was archived', async () => {
    const phase = { id: 'only', prompt: 'p', artifact: 'a.txt', gate: 'advisory', next: 'only', max_visits: 3 }
    const project = createSourceProject()
    const file = project.write('flow.json', JSON.stringify({ name: 'loop', phases: [phase] }))
    await project.cli(['workflow', 'start', '7', 'flow', '--definition', file])
    project.write(`${IN_TASK}/artifacts/only/1-a.txt`, 'from elsewhere')
    await next(project)
    project.write(`${IN_TASK}/a.txt`, 'first')
    const second = await next(project)
    const archived = `${IN_TASK}/artifacts/only/1-a.2.txt`
    expect(second.prompt).toContain(`now in the file ${project.dir}/${archived}.`)
    expect(project.read(archived)).toBe('first')
    // The second visit leaves no result.
    expect((await next(project)).prompt).not.toContain('now in the file')
  })
})

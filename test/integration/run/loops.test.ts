/** Loops of workflows on a disk: the prompts of a phase that is entered again. */

import { describe, expect, it } from 'vitest'
import { flowProject, IN_TASK, startFlow } from '../../support/flow.ts'
import { PACKAGE } from '../../support/process.ts'

describe('generate, validate, debug', () => {
  it('tells each phase of the loop the errors and where its last result is', async () => {
    const project = flowProject([])
    const definition = `${PACKAGE}/examples/generate-validate-debug.json`
    await project.workflow('start', '7', 'flow', '--definition', definition)
    await project.next()
    project.put('generated.json', '{}')
    await project.next()
    project.put('validation.json', '{"passed": false, "errors": ["line 3\\u001b[31m", "line 9"]}')
    const debug = await project.next()
    expect(debug.agent).toBe('debugger')
    expect(debug.prompt).toContain(`Fix the errors that ${project.dir}/${IN_TASK}/validation.json names`)
    expect(debug.prompt).toContain(
      'This phase follows the phase "validate", whose verdict was "fail":\n- line 3[31m\n- line 9\n\n',
    )
    project.put('fixes.json', '{}')
    const again = await project.next()
    expect(again.prompt).toContain('This is visit 2 of this phase. It follows the phase "debug".')
    const archived = `${IN_TASK}/artifacts/validate/1-validation.json`
    expect(again.prompt).toContain(`The previous result is now in the file ${project.dir}/${archived}.`)
    expect(project.read(archived)).toContain('line 9')
    project.put('validation.json', '{"passed": true, "errors": []}')
    expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'completed', prompt: null })
    expect(project.has('specs/.postflight/running/007_flow')).toBe(false)
  })

  it('names the newest file if the name in the archive was taken, and none if nothing was archived', async () => {
    const phase = { id: 'only', prompt: 'p', artifact: 'a.txt', gate: 'advisory', next: 'only', max_visits: 3 }
    const project = await startFlow([phase])
    project.put('artifacts/only/1-a.txt', 'from elsewhere')
    await project.next()
    project.put('a.txt', 'first')
    const second = await project.next()
    const archived = `${IN_TASK}/artifacts/only/1-a.2.txt`
    expect(second.prompt).toContain(`now in the file ${project.dir}/${archived}.`)
    expect(project.read(archived)).toBe('first')
    // The second visit leaves no result.
    expect((await project.next()).prompt).not.toContain('now in the file')
  })
})

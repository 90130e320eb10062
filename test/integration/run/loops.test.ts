/** Loops of workflows on a disk: the prompts of a phase that is entered again. */

import { expect, it } from 'vitest'
import { IN_TASK, startFlow } from '../../support/flow.ts'

it('the prompt of a phase that is entered again names the newest file if the name in the archive was taken, and none if nothing was archived', async () => {
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

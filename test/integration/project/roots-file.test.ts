/** Commands that change markers tell the plugin of their host in which root. */

import { describe, expect, it } from 'vitest'
import { createSourceProject } from '../../support/project.ts'

const CREATE = ['create', '259', 'x', '--operation', 'research']

describe('the file that POSTFLIGHT_ROOTS_FILE names', () => {
  it('gets the root of each command that changes a marker, once', async () => {
    const project = createSourceProject()
    const env = { POSTFLIGHT_ROOTS_FILE: project.write('roots', '/somewhere/else\n') }
    expect((await project.cli(['inspect'], { env })).status).toBe(0)
    expect(project.read('roots')).toBe('/somewhere/else\n')
    for (const words of [CREATE, CREATE, ['clear', '259']]) expect((await project.cli(words, { env })).status).toBe(0)
    expect(project.read('roots')).toBe(`/somewhere/else\n${project.dir}\n`)
  })

  it.each(['', 'missing', 'specs'])('may be %j, which changes nothing', async (name) => {
    const project = createSourceProject()
    const env = { POSTFLIGHT_ROOTS_FILE: name === '' ? '' : project.at(name) }
    expect(await project.cli(CREATE, { env })).toMatchObject({ status: 0, stderr: '' })
    expect(project.has('missing')).toBe(false)
  })
})

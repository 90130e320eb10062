/** A shipped example by its name, wherever a command takes a definition. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PACKAGE } from '../../support/process.ts'
import { copyPackage, createProject, createSourceProject, type Project } from '../../support/project.ts'

const NAMES = 'four-phases, generate-validate-debug, research-plan-implement, spec-kit'

const exampleAt = (name: string): string => join(PACKAGE, 'examples', name)

const flow = (phase: string): string =>
  JSON.stringify({ name: 'own', phases: [{ id: phase, prompt: 'Do it.', artifact: 'a.md' }] })

/** A package with an example of its own, whose prompt lies beside it. */
function packageWithPrompt(project: Project): string {
  const folder = copyPackage(join(project.base, 'package'))
  mkdirSync(join(folder, 'examples', 'prompts'), { recursive: true })
  writeFileSync(join(folder, 'examples', 'prompts', 'review.md'), 'Read the package.\n')
  const phases = [{ id: 'review', prompt_file: 'prompts/review.md', artifact: 'review.md' }]
  writeFileSync(join(folder, 'examples', 'review.json'), JSON.stringify({ name: 'review', phases }))
  return folder
}

describe.concurrent('the name of a shipped example', () => {
  it.each(NAMES.split(', '))('is valid, drawn, simulated and started as a definition: %s', async (name) => {
    const project = createSourceProject()
    const validated = await project.cli(['workflow', 'validate', name, '--json'])
    const drawn = await project.cli(['workflow', 'graph', name])
    const simulated = await project.cli(['workflow', 'simulate', name, '--json'])
    const started = await project.cli(['workflow', 'start', '7', 'x', '--definition', name, '--json'])
    const file = expect.stringContaining(exampleAt(`${name}.`))
    expect(validated.json()).toMatchObject({ valid: true, faults: [], warnings: [], file })
    expect(drawn).toMatchObject({ status: 0, stdout: expect.stringMatching(/^flowchart/) })
    expect(simulated.json()).toMatchObject({ outcome: 'completed' })
    expect(started.json()).toMatchObject({ task: '007_x' })
  })

  it('is found by the built CLI', async () => {
    const run = await createProject({ specs: false }).cli(['workflow', 'validate', 'spec-kit', '--json'])
    expect(run.json()).toMatchObject({ valid: true, file: exampleAt('spec-kit.yaml') })
  })

  it('comes after a file of that name in the current folder, but not after a folder', async () => {
    const project = createSourceProject()
    const pathOf = async (): Promise<unknown> =>
      (await project.cli(['workflow', 'simulate', 'spec-kit', '--json'])).json().path
    mkdirSync(project.at('spec-kit'))
    expect(await pathOf()).toContainEqual({ phase: 'specify', visit: 1 })
    const other = createSourceProject()
    other.write('spec-kit', flow('own'))
    const own = await other.cli(['workflow', 'simulate', 'spec-kit', '--json'])
    expect(own.json().path).toEqual([{ phase: 'own', visit: 1 }])
  })

  it('comes after the run of a task of that name in a graph, but not after a folder without a run', async () => {
    const project = createSourceProject()
    const graph = async (): Promise<string> => (await project.cli(['workflow', 'graph', 'spec-kit'])).stdout
    project.write('flow.json', flow('own'))
    await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json', '--host-session', 's'])
    project.write('specs/spec-kit/notes.md', '')
    const beside = await graph()
    rmSync(project.at('specs/spec-kit'), { recursive: true })
    renameSync(project.at('specs/007_x'), project.at('specs/spec-kit'))
    const inside = await graph()
    expect(beside).toContain('specify')
    expect(inside).toContain('own')
    expect(inside).not.toContain('specify')
  })

  it('needs no project in a graph', async () => {
    const project = createSourceProject({ specs: false })
    expect(await project.cli(['workflow', 'graph', 'spec-kit'])).toMatchObject({ status: 0, stderr: '' })
    expect(await project.cli(['workflow', 'graph', 'nothing'])).toMatchObject({ status: 1, stdout: '' })
  })

  it('has its prompts in the files beside it, not beside a file in the project', async () => {
    const project = createSourceProject()
    const packageFolder = packageWithPrompt(project)
    project.write('prompts/review.md', 'Read the project.\n')
    await project.cli(['workflow', 'start', '7', 'x', '--definition', 'review'], { packageFolder })
    expect((await project.cli(['workflow', 'next', '7', '--json'])).json().prompt).toContain('Read the package.')
  })

  it.each([
    ...['spec-kti', 'missing.yaml', 'orchestrator-agent', '../examples/spec-kit', 'examples/spec-kit.yaml'],
    ...['spec-kit.yaml', 'SPEC-KIT', 'constructor'],
  ])('is taken only as it is listed: %s leads to a message with the names', async (given) => {
    const project = createSourceProject()
    for (const words of ['validate', 'simulate', 'start 7 x --definition']) {
      const run = await project.cli(['workflow', ...words.split(' '), given])
      expect(run).toMatchObject({ status: 65, stdout: '' })
      expect(run.stderr).toContain(`postflight: ${join(project.dir, given)} does not exist: `)
      expect(run.stderr).toContain(`the shipped examples: ${NAMES}.\n`)
    }
    expect(project.has('specs/007_x')).toBe(false)
  })

  it('is not offered by a package without its examples', async () => {
    const project = createSourceProject()
    const run = await project.cli(['workflow', 'validate', 'spec-kit'], { packageFolder: project.base })
    expect(run.stderr).toBe(`postflight: ${project.at('spec-kit')} does not exist: check the path.\n`)
  })

  it.each([
    ...['workflow validate ', 'workflow simulate ', 'workflow graph '],
    ...['workflow start 7 --definition ', 'workflow start 7 --definition='],
  ])('is offered by completion, with the files of the folder, after %j', async (line) => {
    const project = createSourceProject({ specs: false })
    const run = await project.cli(['complete', '--json', '--', ...line.split(' ')])
    const { words, files } = run.json()
    const prefix = line.endsWith('=') ? '--definition=' : ''
    expect(words.map(({ value }: { value: string }) => value)).toEqual(NAMES.split(', ').map((name) => prefix + name))
    expect(files).toBe(true)
  })
})

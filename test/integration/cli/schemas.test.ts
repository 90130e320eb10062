/** The schemas that the package publishes, compared with the files that the hook and the CLI write. */

import { describe, expect, it } from 'vitest'
import { sessionFolder } from '../../../src/done/done-state.ts'
import { RUN_OUTCOMES, STAGES, STATE_FIELDS } from '../../../src/run/machine/state-fields.ts'
import { generatedSchemas, publishedSchemas, readSchema, schemaFaults } from '../../support/json-schemas.ts'
import { SESSION, shellRan, stop } from '../../support/payloads.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

const MAIN = { POSTFLIGHT_HOST_SESSION: SESSION, POSTFLIGHT_AGENT: 'main' }
const TASK = '007_x'

const NEXT = { pass: 'do', fail: 'plan', verdict: '/ok', reason: '/why' }
const FLOW = {
  name: 'flow',
  phases: [
    { id: 'plan', prompt: 'plan', artifact: 'plan.json', next: NEXT },
    { id: 'do', prompt: 'do', steps: { from: 'plan.json', pointer: '/steps' }, step_prompt: 'do {{step}}' },
  ],
}

const namesIn = (file: string): string[] => Object.keys(readSchema(file).properties as object)

/** Expects a file of the project to be as its schema says, with no field that the schema does not name. */
function expectValid(project: Project, schema: string, name: string): Record<string, unknown> {
  const value = JSON.parse(project.read(name)) as Record<string, unknown>
  expect(schemaFaults(schema, value), project.read(name)).toEqual([])
  expect(namesIn(schema)).toEqual(expect.arrayContaining(Object.keys(value)))
  return value
}

describe.concurrent('a published schema', () => {
  it('exists for each kind of file and for each document, and no other one is published', () => {
    const byHand = ['done', 'marker', 'state'].map((name) => `${name}.schema.json`)
    expect(publishedSchemas().sort()).toEqual([...Object.keys(generatedSchemas()), ...byHand].sort())
  })

  it('names itself, says what it is for, and compiles', () => {
    for (const file of publishedSchemas()) {
      expect(readSchema(file), file).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: expect.stringContaining('postflight'),
      })
      expect(schemaFaults(file, 'a text'), file).not.toEqual([])
    }
  })

  it('describes every marker that the CLI and the hook write', async () => {
    const project = createSourceProject()
    const seen = new Set<string>()
    const marker = (task = TASK, file = '.postflight-pending'): void => {
      const value = expectValid(project, 'marker.schema.json', `specs/${task}/${file}`)
      for (const key of Object.keys(value)) seen.add(key)
    }
    const run = async (...words: string[]): Promise<string> => {
      const ran = await project.cli(words, { env: MAIN })
      expect(ran.status, ran.stderr).toBe(0)
      marker()
      return ran.stdout
    }

    await run('create', '7', 'x', '--skill', 's', '--operation', 'o', '--reason', 'r', '--step', 'one', '--step', 'two')
    await run('create', '7', '--operation', 'o')
    await project.cli(['create', '8', 'y', '--agent-type', 'worker', '--session-id', 'mine'])
    marker('008_y')
    await run('step', '7', 'one')
    await run('step', '7', 'one', '--undo')
    for (const [prompt, question] of Object.entries({ 'prompt-1': 'an answer', 'prompt-2': 'another' })) {
      const printed = await run('wait', '7', '--for', question)
      await project.hook(shellRan('postflight wait 7', printed, { prompt_id: prompt }))
      marker()
    }
    await project.hook(stop({ prompt_id: 'prompt-3' }))
    project.write('specs/done.yaml', 'done: [{ when: "src/**", check: "true" }]')
    await project.cli(['trust', '--yes'])
    await project.hook(stop({ transcript_path: project.write('transcript', ''), prompt_id: 'prompt-3' }))
    project.write('src/b', '')
    await project.hook(stop({ transcript_path: project.at('transcript'), prompt_id: 'prompt-3' }))
    marker(`.postflight/${sessionFolder(project.dir, SESSION).task}`)
    marker()
    await run('wait', '7', '--for', 'a build')
    await project.hook(stop({ prompt_id: undefined }))
    marker()
    await project.cli(['adopt', '7'], { env: { ...MAIN, POSTFLIGHT_HOST_SESSION: 'another' } })
    marker()
    await run('bypass', '7')

    // Its session comes from the environment, and the command of another one made it.
    const inherited = ['create', '9', 'z', '--check', 'true', '--step', 'one', '--step-check', 'one=true']
    const { stdout } = await project.cli(inherited, { env: { CLAUDE_CODE_SESSION_ID: 'outer' } })
    await project.hook(shellRan(`postflight ${inherited.join(' ')}`, stdout, { duration_ms: 30_000 }))
    marker('009_z')
    await project.cli(['create', '10', 'w', '--check', 'echo no; false'], { env: MAIN })
    expect((await project.cli(['clear', '10'], { env: MAIN })).status).toBe(1)
    marker('010_w')
    await project.cli(['clear', '10', '--unchecked'], { env: MAIN })
    marker('010_w', '.postflight-abandoned')

    expect([...seen].sort()).toEqual(namesIn('marker.schema.json').sort())
  })

  it('describes every line of the journal', async () => {
    const project = createSourceProject()
    await project.cli(['create', '7', 'x', '--step', 'one'], { env: MAIN })
    for (let count = 0; count < 4; count += 1) await project.hook(stop())
    await project.cli(['adopt', '7'], { env: MAIN })
    await project.cli(['clear', '7'], { env: MAIN })
    const faults = project.journal().map((line) => schemaFaults('journal-entry.schema.json', line))
    expect(faults.length).toBeGreaterThan(5)
    expect(faults.flat()).toEqual([])
  })

  it('describes every state that the CLI and the hook write', async () => {
    const project = createSourceProject()
    const state = (): Record<string, unknown> =>
      expectValid(project, 'state.schema.json', `specs/${TASK}/workflow/state.json`)
    const run = async (...words: string[]): Promise<void> => {
      const ran = await project.cli(['workflow', ...words], { env: MAIN })
      expect([0, 1], ran.stderr).toContain(ran.status)
      state()
    }
    const answered = async (more: object = {}): Promise<void> => {
      await project.hook(stop(more as Record<string, unknown>))
      state()
    }
    project.write('flow.json', JSON.stringify(FLOW))

    await run('start', '7', 'x', '--definition', 'flow.json')
    await answered()
    await project.cli(['wait', '7', '--for', 'an answer'], { env: MAIN })
    state()
    await answered()
    await answered({ prompt_id: 'prompt-2', background_tasks: [{ id: 'b1', type: 'shell', status: 'running' }] })
    project.write(`specs/${TASK}/plan.json`, '{"ok": false, "why": "not yet"}')
    await answered({ prompt_id: 'prompt-2' })
    project.write(`specs/${TASK}/plan.json`, '{"ok": true, "steps": ["one", {"name": "two"}]}')
    await answered({ prompt_id: 'prompt-2' })
    project.write(`specs/${TASK}/step-result.json`, '{"success": true}')
    await answered({ prompt_id: 'prompt-2' })
    await run('stop', '7')
    await answered({ prompt_id: 'prompt-2' })
    await run('resume', '7')
    await run('next', '7')
    await run('abort', '7')
    const before = state()

    expect(before).toMatchObject({ outcome: 'aborted', visits: { plan: 2, do: 1 } })
    // What follows from other fields is written for people and programs, and not read.
    const following = ['current_step', 'step_attempts', 'max_step_attempts']
    expect(Object.keys(before)).toEqual(expect.arrayContaining(following))
    expect(namesIn('state.schema.json').filter((name) => !following.includes(name))).toEqual([
      'version',
      ...Object.values(STATE_FIELDS).map(({ key }) => key),
    ])
    expect(readSchema('state.schema.json').properties).toMatchObject({
      stage: { enum: [...STAGES] },
      outcome: { anyOf: [{ enum: [...RUN_OUTCOMES] }, { type: 'null' }] },
      history: { items: { properties: { outcome: { enum: [...RUN_OUTCOMES] } } } },
    })
  })
})

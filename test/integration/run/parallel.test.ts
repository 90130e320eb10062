/** Steps at once, inputs and checks of step results on a real disk: by stop hooks, and without hooks. */

import { readdirSync, readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Flow, flowProject, IN_SESSION, IN_TASK } from '../../support/flow.ts'
import { subagentStop } from '../../support/payloads.ts'

let project: Flow

async function start(definition: object, ...options: string[]) {
  project.write('flow.json', JSON.stringify({ name: 'flow', ...definition }))
  const words = ['workflow', 'start', '7', 'flow', '--definition', 'flow.json', ...options]
  return project.cli(words, { env: IN_SESSION })
}

const leave = (file: string, content = '{"success": true}') => project.put(file, content)
const filesLike = (pattern: RegExp): string[] => readdirSync(project.at(IN_TASK)).filter((name) => pattern.test(name))
const archived = (): string[] => readdirSync(project.at(IN_TASK, 'step-results/work')).sort()

const WORK = { id: 'work', steps: ['s1', 's2', 's3', 's4', 's5'], step_prompt: 'Do {{step}}.', parallel: 4 }

beforeEach(() => {
  project = flowProject([])
})

describe('steps at once, on a host with hooks', () => {
  it('are handed out in one prompt to the main conversation, and taken as their agents stop', async () => {
    await start({ phases: [WORK] })
    const first = await project.stopped()
    expect(first.reason).toContain('phase "work", steps 1, 2, 3 and 4 of 5, at the same time.')
    expect(first.reason).toContain('Start 4 sub-agents in one message')
    expect(await project.status()).toMatchObject({ prompts: 4, step: 1, in_work: [1, 2, 3, 4] })
    const { stdout } = await project.cli(['workflow', 'status', '7'])
    expect(stdout).toContain('in progress: steps 1, 2, 3 and 4 of 5: s1; s2; s3; s4')
    leave('step-result-2.json')
    leave('step-result-3.json', '{"success": false, "summary": "half done"}')
    await project.stopped(subagentStop())
    expect(archived()).toEqual(['2-1.json'])
    leave('step-result-1.json')
    leave('step-result-3.json', '{"success": false, "summary": "no luck"}')
    const second = await project.stopped()
    expect(second.reason).toContain('steps 3, 4 and 5 of 5')
    expect(second.reason).toContain('Problem with the last result: no luck')
    expect(second.reason).toContain('Problem with the last result: step-result-4.json is missing')
    // A result of a step that is done, and one without a number.
    for (const number of [3, 4, 5, 1]) leave(`step-result-${number}.json`)
    leave('step-result.json')
    expect((await project.stopped()).systemMessage).toContain('has ended (completed)')
    expect(archived()).toEqual([
      ...['1-1.json', '2-1.json', '3-1.json', '3-2.json', '4-2.json', '5-1.json'],
      ...['stray-step-result-1.json', 'stray-step-result.json'],
    ])
    expect(filesLike(/^step-result/)).toEqual(['step-results'])
  })

  it('with long prompts have each prompt in a file of its own', async () => {
    await start({ phases: [{ ...WORK, step_prompt: `Do {{step}}. ${'x'.repeat(4000)}` }] })
    const answer = await project.stopped()
    expect(answer.reason?.length).toBeLessThan(4000)
    for (const part of [1, 2, 3, 4]) {
      const file = project.at(IN_TASK, 'workflow', `prompt-${part}.md`)
      expect(answer.reason).toContain(`Read ${file} and do exactly what it says.`)
      expect(readFileSync(file, 'utf8')).toContain(`Do s${part}. xxx`)
    }
    await project.cli(['workflow', 'abort', '7'])
    await start({ phases: [WORK] }, '--fresh')
    expect(project.has(`${IN_TASK}/workflow/prompt-1.md`)).toBe(false)
  })
})

describe('steps at once, without hooks', () => {
  it('are a batch, in which each step has its own prompt and file', async () => {
    await start({ phases: [{ ...WORK, steps: [{ name: 'one', agent: 'scout' }, { name: 'two' }], agent: 'worker' }] })
    await project.cli(['workflow', 'resume', '7', '--host-session', 'other'])
    const env = { CLAUDE_CODE_SESSION_ID: 'other' }
    const peek = async () => (await project.cli(['workflow', 'next', '7', '--peek', '--json'], { env })).json()
    const peeked = await peek()
    const first = await project.next({ env })
    expect(first).toEqual(peeked)
    expect(first).toMatchObject({
      ...{ command: 'prompt', phase: 'work', step: null, attempt: null, artifact: null, agent: null },
      batch: [
        { step: 1, attempt: 1, agent: 'scout', artifact: 'step-result-1.json' },
        { step: 2, attempt: 1, agent: 'worker', artifact: 'step-result-2.json' },
      ],
    })
    leave('step-result-2.json')
    leave('step-result-9.json')
    const peekedAgain = await peek()
    const second = await project.next({ env })
    expect(second).toEqual(peekedAgain)
    expect(second).toMatchObject({ step: 1, attempt: 2, batch: null, artifact: 'step-result-1.json' })
    expect(filesLike(/^step-result-/)).toEqual([])
    leave('step-result-1.json')
    expect(await project.next({ env })).toMatchObject({ command: 'finish', outcome: 'completed' })
  })
})

it('a check of step results fails a result that says that the step succeeded without what it must have', async () => {
  const step_check = { json_schema: { required: ['files'], properties: { files: { type: 'array' } } } }
  await start({ phases: [{ id: 'work', steps: ['s1'], step_check }] })
  await project.stopped()
  leave('step-result.json')
  expect((await project.stopped()).reason).toContain('step-result.json does not match its schema')
  leave('step-result.json', '{"success": false, "summary": "no luck"}')
  expect((await project.stopped()).reason).toContain('Problem with the last result: no luck')
  leave('step-result.json', '{"success": true, "files": []}')
  expect((await project.stopped()).systemMessage).toContain('has ended (completed)')
})

describe('inputs', () => {
  const inputs = { issue: { required: true }, tone: { default: 'dry' } }
  const phases = [{ id: 'a', prompt: 'Issue {{input.issue}}, {{input.tone}}.', artifact: 'a.md' }]

  it('are given at the start, kept in the state, and shown by prompts', async () => {
    const run = await start({ inputs, phases }, '--set', 'issue=a=b')
    expect(run.status, run.stderr).toBe(0)
    expect((await project.stopped()).reason).toContain('Issue a=b, dry.')
    expect(project.state()).toMatchObject({ inputs: { issue: 'a=b', tone: 'dry' } })
  })

  it.each([
    [[], 'needs a value for its input "issue": --set \'issue=VALUE\''],
    [['--set', 'isue=1'], 'has no input "isue": its inputs are issue, tone'],
    [['--set', 'issue'], 'takes NAME=VALUE'],
  ])('%j are refused, and no folder is made', async (options, said) => {
    const run = await start({ inputs, phases }, ...options)
    expect([run.status, run.stderr]).toEqual([64, expect.stringContaining(said)])
    expect(project.has(IN_TASK)).toBe(false)
  })
})
